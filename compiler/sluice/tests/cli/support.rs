//! A folder of its own for each test, and the command run in it.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with a cache that all tests share.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Done {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// It must have ended with this code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Done {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", String::from_utf8_lossy(&self.stdout), self.stderr);
        self
    }

    /// Standard error must contain this.
    #[track_caller]
    pub fn says(self, part: &str) -> Done {
        assert!(self.stderr.contains(part), "no `{part}` in:\n{}", self.stderr);
        self
    }
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, its folders with it, and gives back the place.
    pub fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Place {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    /// A file's text.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A cache of the place's own, in which the objects that all programs share (engine, emulator) are, as far as they have been made: each takes a second.
    pub fn own_cache(&self) -> PathBuf {
        let own = self.path("cache");
        if std::fs::create_dir(&own).is_ok() {
            let files = std::fs::read_dir(shared_cache()).into_iter().flatten().map(|f| f.unwrap().path());
            for object in files.filter(|p| p.extension().is_some_and(|e| e == "o")) {
                let name = object.file_name().unwrap();
                // one that is not whole yet, or is removed to make room, is made anew
                if !name.to_string_lossy().starts_with('.') {
                    let _ = std::fs::copy(&object, own.join(name));
                }
            }
        }
        own
    }

    /// The command, ready to start.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("CC");
        command.env("NO_COLOR", "1").env("SLUICE_CACHE", shared_cache()).env_remove("SLUICE_CACHE_LIMIT");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, arguments: &[&str]) -> Done {
        self.run_with(arguments, b"")
    }

    /// Runs the command with these bytes as standard input.
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Done {
        finish(self.command(arguments), input)
    }
}

/// Runs a command to its end.
impl Place {
    /// The program in `a.str` gives, and ends, in each of the ways as it does by the interpreter; where it fails, it says the same. That end.
    #[track_caller]
    pub fn as_interpreted(&self, input: &[u8], ways: &[&[&str]]) -> Done {
        let by =
            |arguments: &[&str]| self.run_with(&[&["run", "a.str", "--allow", "warnings"], arguments].concat(), input);
        let reference = by(&["--interpret"]);
        for way in ways {
            let done = by(way);
            let told = reference.code == 0 || done.stderr == reference.stderr;
            let same = done.code == reference.code && done.stdout == reference.stdout && told;
            assert!(same, "{way:?}, {} bytes: {} {}\n{}", input.len(), done.code, done.stderr, self.read("a.str"));
        }
        reference
    }

    /// The same bytes where clang compiles it, if there is one.
    pub fn as_interpreted_by_clang(&self, input: &[u8]) {
        if !Command::new("clang").arg("--version").output().is_ok_and(|o| o.status.success()) {
            return sluice_skipped::skipped("there is no clang: it compiles nothing here");
        }
        let reference = self.run_with(&["run", "a.str", "--interpret"], input).ends(0).stdout;
        let mut command = self.command(&["run", "a.str", "--back-end", "cc"]);
        command.env("CC", "clang");
        assert!(finish(command, input).ends(0).stdout == reference);
    }
}

pub fn finish(mut command: Command, input: &[u8]) -> Done {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Done { code: status.code().unwrap_or(-1), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// The system's C compiler with one more flag behind all others, at a path that all tests share: in the cache, what it has compiled is known by its path.
pub fn compiler_with(flag: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compilers");
    let path = folder.join(format!("cc{flag}.sh"));
    if !path.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        // whole or not at all: another test may call it at any time
        let mut script = tempfile::NamedTempFile::new_in(&folder).unwrap();
        write!(script, "#!/bin/sh\nexec cc \"$@\" {flag}\n").unwrap();
        script.as_file().set_permissions(PermissionsExt::from_mode(0o755)).unwrap();
        script.into_temp_path().persist(&path).unwrap();
    }
    path
}

/// Floats as raw items.
pub fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A filter that doubles.
pub const TWICE: &str = "float->float filter Twice {\n  work pop 1 push 1 { push(pop() * 2); }\n}\n";

/// Counts and prints.
pub const COUNT: &str = "\
void->int stateful filter Count { int n = 0; work push 1 { push(n); n++; } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Count; add Show; }
";
