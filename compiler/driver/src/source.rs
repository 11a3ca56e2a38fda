//! Source files: read, decoded, and found for `import`.

use crate::exit::Fault;
use sluice_frontend::analyse::beside;
use sluice_frontend::{Loader, SourceInput};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger files are not programs.
const LARGEST: u64 = 64 << 20;

/// The files of one compilation, by where they really are, so that each is taken once however it is reached.
#[derive(Default)]
pub struct Files {
    names: BTreeMap<PathBuf, String>,
}

impl Files {
    /// Reads the files of the command line; `-` is standard input.
    pub fn read_all(&mut self, paths: &[String]) -> Result<Vec<SourceInput>, Fault> {
        let mut inputs = Vec::new();
        for path in paths {
            if path == "-" {
                if inputs.iter().any(|i: &SourceInput| i.name == "<stdin>") {
                    continue;
                }
                let text = limited(std::io::stdin().lock()).map_err(|e| Fault::file("read", "standard input", &e))?;
                inputs.push(SourceInput { name: "<stdin>".into(), text });
                continue;
            }
            let input = self.read(Path::new(path)).map_err(|e| Fault::file("read", path, &e))?;
            inputs.push(input);
        }
        Ok(inputs)
    }

    /// Reads a file; its name is the first one it was reached by.
    fn read(&mut self, path: &Path) -> std::io::Result<SourceInput> {
        if std::fs::metadata(path)?.is_dir() {
            return Err(std::io::Error::other("it is a folder"));
        }
        let real = std::fs::canonicalize(path)?;
        let text = limited(std::fs::File::open(path)?)?;
        let name = self.names.entry(real).or_insert_with(|| path.display().to_string()).clone();
        Ok(SourceInput { name, text })
    }
}

impl Loader for Files {
    fn load(&mut self, from: &str, path: &str) -> Result<SourceInput, String> {
        let from = if from == "<stdin>" { "" } else { from };
        let path = beside(from, path, Path::is_symlink);
        self.read(&path).map_err(|e| format!("{}: {}", path.display(), crate::exit::plain_io_error(&e)))
    }
}

/// All of a source, decoded.
fn limited(source: impl Read) -> std::io::Result<String> {
    Ok(sluice_grammar::decode(&limited_bytes(source)?).0)
}

/// The bytes of a source.
pub(crate) fn limited_bytes(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(std::io::Error::other("it is larger than 64 MiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_beside_the_importing_file_once() {
        let folder = tempfile::tempdir().unwrap();
        let sub = folder.path().join("sub");
        std::fs::create_dir(&sub).unwrap();
        std::fs::write(folder.path().join("a.str"), "a").unwrap();
        std::fs::write(sub.join("b.str"), b"b\xff").unwrap();
        let a = folder.path().join("a.str").display().to_string();
        let mut files = Files::default();
        assert_eq!(files.read_all(std::slice::from_ref(&a)).unwrap()[0].name, a);
        let b = files.load(&a, "sub/b.str").unwrap();
        assert!(b.name.ends_with("sub/b.str") && b.text.starts_with('b'));
        assert_eq!(files.load(&b.name, "../a.str").unwrap().name, a);
        assert_eq!(files.load(&b.name, "./../sub/../a.str").unwrap().name, a);
        assert!(files.load(&a, "none.str").unwrap_err().contains("no such file"));
        assert!(files.load(&a, "sub").unwrap_err().contains("folder"));
        assert!(files.read_all(&["/none/x.str".into()]).is_err());
    }
}
