//! Where an output's path leads: through links, to a file that is there or not yet. Two paths that lead to one place are the same output,
//! however they are written.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Links that are followed one after another, as systems do it.
const LINKS: usize = 40;

/// The file that a path leads to. A link to a file that is not there leads to where that file would be; the folder must be there.
pub fn target(path: &Path) -> io::Result<PathBuf> {
    // what is there may have no path of its own: a pipe that is /dev/stdout
    if std::fs::metadata(path).is_ok() {
        return Ok(std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()));
    }
    let mut at = path.to_path_buf();
    for _ in 0..LINKS {
        if let Ok(real) = std::fs::canonicalize(&at) {
            return Ok(real);
        }
        match std::fs::read_link(&at) {
            Ok(next) => at = folder(&at).join(next),
            Err(_) => {
                let name = at.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                return Ok(std::fs::canonicalize(folder(&at))?.join(name));
            }
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What two paths share where they lead to one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// Something that is there: its device and its number there.
    There(u64, u64),
    /// A file that is not there yet.
    Absent(PathBuf),
}

/// What a path leads to; `None` where two outputs may lead to it: standard output, devices.
pub fn identity(path: &str) -> Option<Identity> {
    if path == "-" || path.starts_with("/dev/") {
        return None;
    }
    match std::fs::metadata(path) {
        Ok(m) if m.file_type().is_char_device() => None,
        Ok(m) => Some(Identity::There(m.dev(), m.ino())),
        Err(_) => Some(Identity::Absent(target(Path::new(path)).unwrap_or_else(|_| path.into()))),
    }
}

/// Of some outputs, the first that leads to the place of an earlier one, and that one.
pub fn clash<'a>(outputs: impl IntoIterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut taken: BTreeMap<Identity, &str> = BTreeMap::new();
    outputs.into_iter().find_map(|output| {
        // several can write to standard output, but not items of several ends
        let found = if output == "-" { Some(Identity::Absent("-".into())) } else { identity(output) };
        taken.insert(found?, output).map(|earlier| (output, earlier))
    })
}

/// Who may do what with a file that is there.
pub fn mode(there: &Metadata) -> u32 {
    there.mode() & 0o777
}

/// Lets a new file be used by those who may use the one that it will replace.
pub fn keep_mode(new: &File, target: &Path) {
    if let Ok(there) = std::fs::metadata(target) {
        let _ = new.set_permissions(std::fs::Permissions::from_mode(mode(&there)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_lead_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        std::fs::write(root.join("there"), "").unwrap();
        symlink("sub/later", root.join("one")).unwrap();
        symlink("../one", root.join("sub/two")).unwrap();
        symlink("round", root.join("round")).unwrap();
        assert_eq!(target(&root.join("sub/two")).unwrap(), root.join("sub/later"));
        assert_eq!(target(&root.join("sub/../there")).unwrap(), root.join("there"));
        assert_eq!(target(&root.join("sub/../new")).unwrap(), root.join("new"));
        assert!(target(&root.join("none/new")).is_err());
        assert!(target(&root.join("round")).is_err());
        let of = |path: &str| identity(root.join(path).to_str().unwrap());
        assert_eq!(of("sub/two"), of("sub/later"));
        assert_eq!(of("sub/../there"), of("there"));
        assert_ne!(of("there"), of("new"));
        assert_eq!(identity("-"), None);
        std::fs::hard_link(root.join("there"), root.join("also")).unwrap();
        assert_eq!(of("also"), of("there"));
        assert_eq!(clash(["-", "x", "/dev/null", "/dev/null", "./y"]), None);
        assert_eq!(clash(["x", "y", "./y", "./x"]), Some(("./y", "y")));
        assert_eq!(clash(["-", "none/x", "-"]), Some(("-", "-")));
    }
}
