//! The system's C compiler: which one, what it is, and how it is called.

use crate::cuda::faults;
use crate::exit::Fault;
use crate::interrupt;
use crate::tune::way::{Way, Which};
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Flags that fix what the generated C means, whatever the level of optimisation.
const MEANING: [&str; 6] =
    ["-std=gnu11", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math"];

/// Flags that free the arithmetic of floats (docs/language.md). They are not called `-ffast-math`: code that is linked by that name makes numbers near zero
/// zero in the whole process that loads it, its host's own arithmetic included.
pub const FAST_MATH: [&str; 5] =
    ["-ffp-contract=fast", "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-ffinite-math-only"];

/// A flag that keeps gcc 12 on x86 from translating wrongly: it copies a constant table whose last bytes are zero, and whose others
/// repeat a value, as if they all did (a constant of 32 bytes loses its zero words before it is looked at for repetition). Only where
/// 32 or 64 bytes are stored at once, as for processors with AVX-512.
const STORE_MAX: &str = "-mstore-max=128";

/// A flag that keeps gcc on x86 (12 does it) from leaving the upper halves of vector registers in use: before it calls a function of the same text
/// that it knows to touch no vectors it does not empty them, and believes afterwards that they are empty. What then calls the mathematical library, whose
/// code may be for older registers, waits a hundred nanoseconds in each call and out of it on some processors.
const NO_IPA_RA: &str = "-fno-ipa-ra";

/// Flags besides those of [`CcOptions::flags`]: all of them, and fewer for compilers that do not know them.
const OWN: [&[&str]; 3] = [&[STORE_MAX, NO_IPA_RA], &[NO_IPA_RA], &[]];

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// A shared library.
    Shared,
    /// A program of its own.
    Executable,
    /// An object that becomes part of a shared library.
    Object,
}

/// How to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcOptions {
    /// Level of optimisation, 0 to 3.
    pub level: u8,
    /// Debug information.
    pub debug: bool,
    /// Faster arithmetic with other bytes.
    pub fast_math: bool,
    /// What was measured to be fastest.
    pub way: Way,
}

impl Default for CcOptions {
    fn default() -> CcOptions {
        CcOptions { level: 3, debug: false, fast_math: false, way: Way::default() }
    }
}

impl CcOptions {
    /// The flags, without files.
    pub fn flags(&self, product: Product) -> Vec<String> {
        let mut flags: Vec<String> = MEANING.iter().map(|f| f.to_string()).collect();
        flags.push(format!("-O{}", self.level.min(3)));
        flags.push("-march=native".into());
        flags.extend(self.way.flags().iter().map(|f| f.to_string()));
        if self.debug {
            flags.push("-g".into());
        }
        if self.fast_math {
            flags.extend(FAST_MATH.map(String::from));
        }
        match product {
            // bound when it is loaded: the first call of a host that must keep time does not look for symbols
            Product::Shared => flags.extend(["-shared", "-fPIC", "-Wl,-z,now"].map(String::from)),
            Product::Object => flags.extend(["-c", "-fPIC"].map(String::from)),
            Product::Executable => {}
        }
        flags
    }
}

/// A C compiler that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The command and its first arguments, as in `CC="ccache gcc"`.
    pub command: Vec<String>,
    /// What it says it is, which flag it is given if it knows it, and which processor it compiles for.
    pub identity: String,
}

impl Compiler {
    /// The compiler that `CC` names, else `cc`, `gcc` or `clang`.
    pub fn find() -> Result<Compiler, Fault> {
        let chosen = std::env::var("CC").ok().filter(|c| !c.trim().is_empty());
        let candidates: Vec<String> = match &chosen {
            Some(cc) => vec![cc.clone()],
            None => ["cc", "gcc", "clang"].map(String::from).to_vec(),
        };
        for candidate in &candidates {
            let command: Vec<String> = candidate.split_whitespace().map(String::from).collect();
            if let Some(version) = version(&command) {
                return Ok(Compiler { command, identity: identity(&version) });
            }
        }
        let message = match chosen {
            Some(cc) => format!("the C compiler named by CC, `{cc}`, cannot be run"),
            None => "no C compiler was found (looked for cc, gcc and clang)".to_string(),
        };
        Err(Fault::input(message).help(
            "install one (Debian, Ubuntu: `sudo apt install build-essential`; Fedora: `sudo dnf install gcc`), \
             or name one in CC; `sluice run --back-end jit` works without, and `sluice test --back-end interpret`",
        ))
    }

    /// The compiler of a way.
    pub fn of(which: Which) -> Result<Compiler, Fault> {
        let Some(name) = which.command() else { return Compiler::find() };
        let command = vec![name.to_string()];
        let Some(version) = version(&command) else {
            return Err(Fault::input(format!("the C compiler {name} was not found"))
                .help("`sluice tune` looks which ones are there"));
        };
        Ok(Compiler { command, identity: identity(&version) })
    }

    /// What it says it is, whatever its command is called: the same for `cc` and `gcc` where they are one.
    pub fn kind(&self) -> &str {
        let line = self.identity.lines().nth(1).unwrap_or("");
        line.split_once(' ').map_or(line, |(_, rest)| rest)
    }

    /// The C++ compiler that `CXX` names, else `c++`, `g++` or `clang++`.
    pub fn find_cxx() -> Result<Compiler, Fault> {
        let chosen = std::env::var("CXX").ok().filter(|c| !c.trim().is_empty());
        let candidates = match &chosen {
            Some(cxx) => vec![cxx.clone()],
            None => ["c++", "g++", "clang++"].map(String::from).to_vec(),
        };
        let found = candidates.iter().find_map(|candidate| {
            let command: Vec<String> = candidate.split_whitespace().map(String::from).collect();
            version(&command).map(|identity| Compiler { command, identity })
        });
        found.ok_or_else(|| faults::no_cxx(chosen.as_deref()))
    }

    /// The compiler's name.
    pub fn program(&self) -> &str {
        self.command.first().map_or("cc", |c| c)
    }

    /// Runs the compiler.
    pub fn call<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Output, Fault> {
        let (program, first) =
            self.command.split_first().ok_or_else(|| Fault::internal("an empty compiler command"))?;
        // linkers are asked what is missing: in words that can be understood
        let child = Command::new(program)
            .args(first)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| Fault::file("run", program, &e))?;
        // one that is waited for when the process has to end ends with it
        let id = child.id();
        interrupt::add_child(id);
        let done = child.wait_with_output();
        interrupt::forget_child(id);
        done.map_err(|e| Fault::file("run", program, &e))
    }

    /// Flags besides those of [`CcOptions::flags`], as many as this compiler knows.
    pub fn own_flags(&self) -> Result<&'static [&'static str], Fault> {
        let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
        for flags in OWN {
            let asked = ["-Werror", "-E", "-x", "c", null, "-o", null];
            if self.call(flags.iter().chain(&asked))?.status.success() {
                return Ok(flags);
            }
        }
        Ok(&[])
    }

    /// Runs the compiler with these arguments behind flags of our own, as many as it does not complain of. It is not asked beforehand: to start it takes as long as a small program does.
    fn call_with_own(&self, arguments: &[OsString]) -> Result<Output, Fault> {
        let mut left = OWN.into_iter();
        loop {
            let flags = left.next().unwrap_or_default();
            let result = self.call(flags.iter().map(OsStr::new).chain(arguments.iter().map(OsString::as_os_str)))?;
            let said = String::from_utf8_lossy(&result.stderr);
            if result.status.success() || !flags.iter().any(|f| said.contains(f)) {
                return Ok(result);
            }
        }
    }

    /// Translates C text in `source` to `target`, together with `more` (objects, libraries, options). What the compiler says where it refuses.
    ///
    /// A compiler that breaks down while it optimises is asked for less: the code is slower then, and does the same.
    pub fn translate(
        &self,
        source: &Path,
        target: &Path,
        options: &CcOptions,
        product: Product,
        more: &[OsString],
    ) -> Result<Result<(), String>, Fault> {
        let mut flags = options.flags(product);
        if self.command.iter().any(|a| ["-march=", "-mcpu="].iter().any(|f| a.starts_with(f))) {
            // the processor that CC names, not this one
            flags.retain(|f| f != "-march=native");
        }
        let mut arguments: Vec<OsString> = flags.into_iter().map(OsString::from).collect();
        arguments.extend(["-w", "-o"].map(OsString::from));
        arguments.extend([target.as_os_str().to_os_string(), source.as_os_str().to_os_string()]);
        if product != Product::Object {
            arguments.extend(more.iter().cloned());
            arguments.extend(["-lm", "-lpthread"].map(OsString::from));
        }
        let mut result = self.call_with_own(&arguments)?;
        for level in (0..options.level.min(2)).rev() {
            if !broke_down(&result) {
                break;
            }
            // of several the last one counts
            arguments.push(format!("-O{level}").into());
            result = self.call_with_own(&arguments)?;
        }
        if result.status.success() {
            return Ok(made(target, product));
        }
        let said = String::from_utf8_lossy(&result.stderr).into_owned();
        // the compiler itself, or what it has begun
        if result.status.signal().is_some() || said.contains("signal terminated program") {
            let program = self.program();
            return Err(Fault::input(format!("{program} was ended before it was done: {}", last_line(&said, &result)))
                .help("where memory is short, the system ends what takes the most: `-O1` takes less"));
        }
        if said.contains("No space left on device") {
            return Err(Fault::input(format!("{}: no space left on device", self.program())));
        }
        Ok(Err(said))
    }

    /// Translates C text of our own in `source` to `target`.
    pub fn compile(&self, source: &Path, target: &Path, options: &CcOptions, product: Product) -> Result<(), Fault> {
        self.translate(source, target, options, product, &[])?.map_err(|said| self.refused(&said))
    }

    /// The compiler does not take C text of our own: that is our fault, if it takes any.
    pub fn refused(&self, said: &str) -> Fault {
        let ours = format!("{} refused the generated C:\n{}", self.program(), first_lines(said, 20));
        self.blame(Fault::internal(ours))
    }

    /// Why something was not compiled: `fault`, unless this compiler makes nothing at all.
    pub fn blame(&self, fault: Fault) -> Fault {
        match self.tried() {
            Ok(Ok(())) => fault,
            Ok(Err(said)) => {
                let said = if said.trim().is_empty() { "it says nothing".into() } else { first_lines(&said, 20) };
                let command = self.command.join(" ");
                let named = if std::env::var("CC").is_ok_and(|cc| cc.split_whitespace().eq(&self.command)) {
                    format!("named by CC, `{command}`,")
                } else {
                    format!("`{command}`")
                };
                Fault::input(format!("the C compiler {named} cannot compile a trivial program:\n{said}"))
                    .help("name one that works in CC; `sluice run --back-end jit` works without")
            }
            Err(other) => other,
        }
    }

    /// Compiles and links next to nothing. What the compiler says where it cannot.
    fn tried(&self) -> Result<Result<(), String>, Fault> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("sluice-trivial-{}-{n}", std::process::id()));
        let (source, target) = (folder.join("trivial.c"), folder.join("trivial.so"));
        let result = std::fs::create_dir(&folder)
            .and_then(|()| std::fs::write(&source, "int sluice_trivial(void) { return 0; }\n"))
            .map_err(|e| Fault::file("write", source.display(), &e))
            .and_then(|()| {
                let flags = ["-shared", "-fPIC", "-o"].map(OsStr::new);
                self.call(flags.into_iter().chain([target.as_os_str(), source.as_os_str()]))
            })
            .map(|result| match result.status.success() {
                true => made(&target, Product::Shared),
                false => Err(String::from_utf8_lossy(&result.stderr).into_owned()),
            });
        let _ = std::fs::remove_dir_all(&folder);
        result
    }
}

/// Has a compiler failed for a fault of its own? (gcc's words, and clang's.)
fn broke_down(result: &Output) -> bool {
    let says = |words: &str| String::from_utf8_lossy(&result.stderr).contains(words);
    !result.status.success() && (says("internal compiler error") || says("error in backend"))
}

/// Is what a compiler says that it has made there, and what was asked for? What is missing, where not.
fn made(target: &Path, product: Product) -> Result<(), String> {
    let mut head = Vec::new();
    let read = std::fs::File::open(target).and_then(|f| f.take(18).read_to_end(&mut head));
    let what = match product {
        Product::Shared => "no shared library",
        Product::Executable => "no program",
        Product::Object => "no object file",
    };
    // the types of files of the System V ABI, chapter 4: relocatable, executable, shared
    let is = |types: &[u8]| head.get(16).is_some_and(|t| types.contains(t) || types.contains(&head[17]));
    let right = match product {
        _ if read.is_err() || head.is_empty() => false,
        _ if !cfg!(target_os = "linux") => true,
        _ if !head.starts_with(b"\x7fELF") || head.len() < 18 => false,
        Product::Object => is(&[1]),
        Product::Shared => is(&[3]),
        Product::Executable => is(&[2, 3]),
    };
    if right { Ok(()) } else { Err(format!("it says that it is done, but {what} is there")) }
}

/// What a compiler said last, or how it ended.
fn last_line(said: &str, result: &Output) -> String {
    said.lines().last().map_or_else(|| result.status.to_string(), |l| l.trim().to_string())
}

/// The first lines of what a compiler says.
pub fn first_lines(said: &str, count: usize) -> String {
    said.lines().take(count).collect::<Vec<_>>().join("\n")
}

/// What compiled code depends on, besides its text and the flags of [`CcOptions::flags`].
fn identity(version: &str) -> String {
    format!("{version}\n{STORE_MAX} {NO_IPA_RA}\n{}", processor())
}

/// What a compiler says it is; `None` where it cannot be run.
fn version(command: &[String]) -> Option<String> {
    let (program, first) = command.split_first()?;
    let result = Command::new(program).args(first).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    match result {
        Ok(out) if out.status.success() => Some(format!(
            "{}\n{}",
            command.join(" "),
            String::from_utf8_lossy(&out.stdout).lines().next().unwrap_or("")
        )),
        // One that does not know --version may still compile.
        Ok(_) => Some(command.join(" ")),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(_) => None,
    }
}

/// The processor that `-march=native` stands for, as far as the system tells.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let wanted = ["model name", "flags", "Features", "CPU part"];
    let mut lines: Vec<&str> = info.lines().filter(|l| wanted.iter().any(|w| l.starts_with(w))).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.insert(0, std::env::consts::ARCH);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_fix_the_meaning() {
        let flags = CcOptions::default().flags(Product::Shared);
        for flag in
            ["-std=gnu11", "-O3", "-march=native", "-ffp-contract=off", "-fwrapv", "-shared", "-fPIC", "-Wl,-z,now"]
        {
            assert!(flags.iter().any(|f| f == flag), "{flag}");
        }
        assert!(!flags.iter().any(|f| FAST_MATH.contains(&f.as_str()) || f == "-g"));
        let fast = CcOptions { fast_math: true, ..CcOptions::default() }.flags(Product::Shared);
        let at = |flag: &str| fast.iter().position(|f| f == flag);
        assert!(at("-ffp-contract=fast") > at("-ffp-contract=off"), "the last one counts");
        assert_eq!(at("-ffast-math"), None, "it changes the arithmetic of who loads the library");
        assert!(!CcOptions::default().flags(Product::Executable).iter().any(|f| f == "-shared"));
    }
}
