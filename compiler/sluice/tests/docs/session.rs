//! Pages that show a session: blocks `console` are typed one after the other in a folder of their own, blocks `text PATH` are files
//! there, and blocks that name a file of the repository show that file.

use crate::markdown::blocks;
use crate::{Tested, read, root, same, sluice};

/// The session of a page goes as the page says; it has so many commands and files of the repository at least.
pub fn session(page: &str, least_commands: usize, least_files: usize) -> Tested {
    let place = tempfile::tempdir()?;
    let mut folder = place.path().to_path_buf();
    let (mut commands, mut files) = (0, 0);
    for block in blocks(&read(page)) {
        let path = block.info.split_once(' ').map(|(_, path)| path).filter(|p| p.contains('/'));
        match path {
            Some(path) if root().join(path).is_file() => {
                files += 1;
                if read(path) != block.text {
                    return Err(format!("{page}:{}: {path} is something else", block.line).into());
                }
            }
            Some(path) => std::fs::write(place.path().join(path), &block.text)?,
            None if block.info == "console" => {
                for part in format!("\n{}", block.text).split("\n$ ").skip(1) {
                    let (command, want) = part.split_once('\n').unwrap_or((part, ""));
                    match command.split_once(' ') {
                        Some(("cd", to)) => folder.push(to),
                        Some(("sluice", arguments)) => {
                            let out = sluice(&folder, &arguments.split(' ').collect::<Vec<_>>())?;
                            let got = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
                            same(&format!("{page}:{}: {command}", block.line), &got, want)?;
                            commands += 1;
                        }
                        _ => return Err(format!("{page}:{}: `{command}`?", block.line).into()),
                    }
                }
            }
            None => {}
        }
    }
    if commands < least_commands || files < least_files {
        return Err(format!("{page} shows only {commands} commands and {files} files").into());
    }
    Ok(())
}
