//! # native sources
//!
//! Purpose: everything that native functions need to be compiled and linked. Input: the program (which functions it calls) and
//! [`NativeOptions`]. Output: [`Natives`]: a key that changes whenever anything that goes into the machine code does, and
//! [`Natives::build`], which makes a program, a library or a plugin of C text together with the user's files.
//!
//! A C source counts with all that it includes: its key is that of its text after preprocessing. A source is compiled apart from the
//! generated C, with the flags that fix the meaning of arithmetic, so that it computes the same in every product and at every level.
//! Nothing is done where the program calls no native functions.

use super::missing;
use crate::cache::{self, Cache};
use crate::cc::{CcOptions, Compiler, Product, first_lines};
use crate::exit::{Exit, Fault};
use crate::interrupt;
use crate::options::{CodeOptions, NativeOptions};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sha2::{Digest, Sha256};
use sluice_codegen::c::native_header::type_macros;
use sluice_frontend::analyses::natives::called;
use sluice_frontend::ids::NativeId;
use sluice_grammar::span::Span;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Lines of a C compiler's complaints that are shown.
const LINES: usize = 40;

/// Native functions of a program, ready to be linked.
pub struct Natives {
    /// Those that it calls.
    pub called: BTreeMap<NativeId, Called>,
    /// Anything that was given on the command line?
    pub given: bool,
    /// Stands for the contents of all files, and all flags. Empty where nothing is called.
    pub key: String,
    compiler: Option<Compiler>,
    /// C files.
    sources: Vec<PathBuf>,
    /// Flags for them.
    flags: Vec<String>,
    /// Objects, archives and libraries for the linker.
    link: Vec<OsString>,
}

/// A native function that is called.
#[derive(Clone, Debug)]
pub struct Called {
    /// Its name in C.
    pub name: String,
    /// A place that calls it.
    pub at: Span,
}

/// C text of ours that is to be compiled.
pub struct Job<'a> {
    /// Where unfinished files lie.
    pub cache: &'a Cache,
    /// By whom.
    pub compiler: &'a Compiler,
    /// The text.
    pub text: &'a str,
    /// An object that it is linked with.
    pub engine: Option<&'a Path>,
    /// How.
    pub code: &'a CodeOptions,
    /// To what.
    pub product: Product,
}

/// Why something with native functions was not made.
pub enum Failure {
    /// These functions are nowhere.
    Missing(Vec<NativeId>),
    /// Something else.
    Fault(Fault),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(fault)
    }
}

/// What a file is, by its extension.
enum Kind {
    Source,
    /// An object or archive.
    Object,
    /// A shared library.
    Shared,
}

fn kind(file: &str) -> Result<Kind, Fault> {
    let path = Path::new(file);
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match path.extension().and_then(|e| e.to_str()) {
        Some("c") => Ok(Kind::Source),
        Some("o" | "a" | "obj" | "lib") => Ok(Kind::Object),
        Some("so" | "dylib") => Ok(Kind::Shared),
        _ if name.contains(".so.") => Ok(Kind::Shared),
        Some("cc" | "cpp" | "cxx" | "C" | "rs") => Err(Fault::usage(format!("{file} is no C source")).help(
            "compile it to an object or a library with its own compiler (functions with C linkage: `extern \"C\"`), and give that to --native",
        )),
        Some("h") => Err(Fault::usage(format!("{file} is a header")).help("give the C sources that define the functions; they include it")),
        _ => Err(Fault::usage(format!("{file} is no native code"))
            .help("--native takes C sources (.c), objects (.o), archives (.a) and shared libraries (.so)")),
    }
}

/// Are the files there, and native code?
pub fn check_files(options: &NativeOptions) -> Result<(), Fault> {
    for file in &options.files {
        kind(file)?;
        std::fs::File::open(file).map_err(|e| Fault::file("read", file, &e))?;
    }
    Ok(())
}

impl Natives {
    /// No native functions.
    pub fn none() -> Natives {
        Natives {
            called: BTreeMap::new(),
            given: false,
            key: String::new(),
            compiler: None,
            sources: Vec::new(),
            flags: Vec::new(),
            link: Vec::new(),
        }
    }

    /// Looks at the files. The C compiler is needed only where the program calls native functions.
    pub fn prepare(
        session: &mut Session,
        checked: &Checked,
        options: &NativeOptions,
        cc: &CcOptions,
    ) -> Result<Natives, Fault> {
        check_files(options)?;
        let program = &checked.program;
        let globals = &program.globals;
        let called: BTreeMap<NativeId, Called> = (called(&program.codes, &program.graph, globals).into_iter())
            .filter_map(|(id, at)| Some((id, Called { name: globals.natives.get(id.index())?.name.to_string(), at })))
            .collect();
        if called.is_empty() {
            return Ok(Natives::none());
        }
        let compiler = Compiler::find().map_err(|fault| match &fault.help {
            Some(help) => {
                let help = help.split("; ").next().unwrap_or("").to_string();
                Fault::input(format!("the program calls native functions, but {}", fault.message)).help(help)
            }
            None => fault,
        })?;
        let given = !(options.files.is_empty() && options.libraries.is_empty());
        // C as the compiler has it by default, but for what arithmetic means
        let mut flags: Vec<String> = cc
            .flags(Product::Shared)
            .into_iter()
            .filter(|f| !f.starts_with("-Wl,") && f != "-shared" && !f.starts_with("-std="))
            .collect();
        let macros = type_macros(&program.globals);
        flags.extend(
            called.keys().filter_map(|id| macros.get(id.index())).map(|(name, value)| format!("-D{name}={value}")),
        );
        flags.extend(options.paths.iter().map(|p| format!("-I{p}")));
        flags.extend(options.flags.iter().cloned());
        let mut natives = Natives {
            called,
            given,
            key: String::new(),
            compiler: Some(compiler),
            sources: Vec::new(),
            flags,
            link: Vec::new(),
        };
        natives.gather(options)?;
        natives.key = session.pass("native-key", || natives.hash(options))?;
        Ok(natives)
    }

    /// Sorts the files, and says what the linker gets.
    fn gather(&mut self, options: &NativeOptions) -> Result<(), Fault> {
        let whole = |path: &str| std::fs::canonicalize(path).map_err(|e| Fault::file("read", path, &e));
        let mut folders: Vec<PathBuf> = Vec::new();
        for file in &options.files {
            match kind(file)? {
                Kind::Source => self.sources.push(PathBuf::from(file)),
                Kind::Object => self.link.push(whole(file)?.into_os_string()),
                Kind::Shared => {
                    let file = whole(file)?;
                    folders.extend(file.parent().map(Path::to_path_buf));
                    self.link.push(file.into_os_string());
                }
            }
        }
        for path in &options.paths {
            let folder = whole(path)?;
            let mut option = OsString::from("-L");
            option.push(&folder);
            self.link.push(option);
            folders.push(folder);
        }
        self.link.extend(options.libraries.iter().map(|l| OsString::from(format!("-l{l}"))));
        folders.dedup();
        for folder in folders {
            let mut option = OsString::from("-Wl,-rpath,");
            option.push(folder);
            self.link.push(option);
        }
        Ok(())
    }

    /// The key of everything.
    fn hash(&self, options: &NativeOptions) -> Result<String, Fault> {
        let mut parts: Vec<String> = self.flags.clone();
        parts.extend(self.link.iter().map(|l| l.to_string_lossy().into_owned()));
        for file in &options.files {
            parts.push(match kind(file)? {
                Kind::Source => cache::key(&[&self.preprocessed(Path::new(file))?]),
                Kind::Object | Kind::Shared => digest(Path::new(file))?,
            });
        }
        // a library in one of the user's own folders may change; those of the system do not
        for path in &options.paths {
            for library in &options.libraries {
                for name in [format!("lib{library}.so"), format!("lib{library}.a"), format!("lib{library}.dylib")] {
                    let file = Path::new(path).join(name);
                    if file.exists() {
                        parts.push(digest(&file)?);
                    }
                }
            }
        }
        Ok(cache::key(&parts.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    /// Flags for `dlopen`: functions of the user's libraries come before those of the same name that this process has.
    pub fn load_flags(&self) -> i32 {
        const RTLD_DEEPBIND: i32 = 8;
        if !self.link.is_empty() && cfg!(all(target_os = "linux", target_env = "gnu")) { RTLD_DEEPBIND } else { 0 }
    }

    /// The files and libraries as they stand in a command, for people.
    pub fn shown(&self) -> String {
        let sources = self.sources.iter().map(|s| s.display().to_string());
        let link = self.link.iter().map(|l| l.to_string_lossy().into_owned());
        sources.chain(link).map(|part| part + " ").collect()
    }

    fn compiler(&self) -> Result<&Compiler, Fault> {
        self.compiler.as_ref().ok_or_else(|| Fault::internal("native functions without a compiler"))
    }

    /// The text of a C source with everything that it includes.
    fn preprocessed(&self, source: &Path) -> Result<String, Fault> {
        let compiler = self.compiler()?;
        let mut arguments: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        arguments.extend([OsString::from("-E"), source.as_os_str().to_os_string()]);
        let result = compiler.call(&arguments)?;
        match result.status.success() {
            true => Ok(String::from_utf8_lossy(&result.stdout).into_owned()),
            false => Err(compiler.blame(does_not_compile(source, &String::from_utf8_lossy(&result.stderr)))),
        }
    }

    /// Makes `target` of C text and of the native functions. `remarks` takes what the compiler has to say about the user's sources.
    pub fn build(&self, job: &Job<'_>, target: &Path, remarks: &mut Vec<String>) -> Result<(), Failure> {
        let Job { cache, compiler, code, product, engine, .. } = *job;
        let mut files = Temporaries(Vec::new());
        let source = files.add(cache.temporary(&cache::key(&[job.text]), "c"));
        std::fs::write(&source, job.text).map_err(|e| Fault::file("write", source.display(), &e))?;
        let mut more: Vec<OsString> = engine.iter().map(|o| o.as_os_str().to_os_string()).collect();
        if self.called.is_empty() {
            let made = compiler.translate(&source, target, &code.cc, product, &more)?;
            return Ok(made.map_err(|said| compiler.refused(&said))?);
        }
        for (i, native) in self.sources.iter().enumerate() {
            let object = files.add(cache.temporary(&cache::key(&[&self.key, &i.to_string()]), "o"));
            remarks.extend(self.compile(native, &object)?);
            more.push(object.into_os_string());
        }
        more.extend(self.link.iter().cloned());
        // elsewhere linkers do so by themselves
        if product == Product::Shared && cfg!(target_os = "linux") {
            // calls go to these functions, whatever the process has of the same names; what is missing is missed now
            more.extend(["-Wl,-Bsymbolic", "-Wl,-z,defs"].map(OsString::from));
        }
        let Err(said) = compiler.translate(&source, target, &code.cc, product, &more)? else { return Ok(()) };
        let undefined = missing::undefined(&said);
        let missing: Vec<NativeId> =
            self.called.iter().filter(|(_, c)| undefined.contains(&c.name)).map(|(id, _)| *id).collect();
        if !missing.is_empty() {
            return Err(Failure::Missing(missing));
        }
        // what the C compiler says of our own text names our own file
        let ours = format!("{}:", source.display());
        if undefined.is_empty() && said.lines().any(|l| l.starts_with(&ours) && l.contains("error:")) {
            return Err(compiler.refused(&said).into());
        }
        let mut fault =
            Fault::program(format!("the native functions cannot be linked:\n{}", first_lines(&said, LINES)));
        if said.contains("-fPIC") {
            fault = fault.help("objects and archives must be compiled with -fPIC");
        } else if let Some(name) = undefined.first() {
            fault = fault.help(format!(
                "`{name}` is in none of the files: name its library with --native-lib, or its file with --native"
            ));
        }
        Err(compiler.blame(fault).into())
    }

    /// Compiles one of the user's sources; gives the compiler's warnings.
    fn compile(&self, source: &Path, object: &Path) -> Result<Option<String>, Fault> {
        let mut arguments: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        arguments.extend(["-c", "-o"].map(OsString::from));
        arguments.extend([object.as_os_str().to_os_string(), source.as_os_str().to_os_string()]);
        let result = self.compiler()?.call(&arguments)?;
        let said = String::from_utf8_lossy(&result.stderr);
        if !result.status.success() {
            return Err(self.compiler()?.blame(does_not_compile(source, &said)));
        }
        let warns = !said.trim().is_empty();
        Ok(warns.then(|| format!("the C compiler says of {}:\n{}", source.display(), first_lines(&said, LINES))))
    }
}

impl Failure {
    /// As a fault, to be passed through what knows only those; what is missing stays in `parked`.
    pub fn park(self, parked: &mut Option<Failure>) -> Fault {
        match self {
            Failure::Fault(fault) => fault,
            missing @ Failure::Missing(_) => {
                *parked = Some(missing);
                Fault::program("a native function is missing")
            }
        }
    }

    /// Tells the user; the command ends.
    pub fn report(self, session: &Session, checked: &Checked, natives: &Natives) -> Halt {
        match self {
            Failure::Fault(fault) => fault.into(),
            Failure::Missing(ids) => {
                let diagnostics = missing::diagnostics(&ids, natives, &checked.program.globals);
                match session.report(&checked.sources, &diagnostics) {
                    Ok(_) => Halt::Done(Exit::Program),
                    Err(fault) => fault.into(),
                }
            }
        }
    }
}

/// What was made cannot be loaded: with native functions that is mostly a library that the system does not find.
pub fn cannot_load(path: &Path, why: &str) -> Fault {
    Fault::input(format!("cannot load {}: {why}", path.display()))
        .help("is a library missing that the native functions need? --native-path names the folder where it is")
}

fn does_not_compile(source: &Path, said: &str) -> Fault {
    Fault::program(format!("{} does not compile:\n{}", source.display(), first_lines(said, LINES)))
}

/// The hash of a file's bytes.
fn digest(path: &Path) -> Result<String, Fault> {
    let fault = |e: &std::io::Error| Fault::file("read", path.display(), e);
    let mut file = std::fs::File::open(path).map_err(|e| fault(&e))?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block).map_err(|e| fault(&e))? {
            0 => return Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect()),
            n => hash.update(&block[..n]),
        }
    }
}

/// Files that go when this goes.
struct Temporaries(Vec<PathBuf>);

impl Temporaries {
    fn add(&mut self, path: PathBuf) -> PathBuf {
        interrupt::add_temporary(&path);
        self.0.push(path.clone());
        path
    }
}

impl Drop for Temporaries {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
            interrupt::forget_temporary(path);
        }
    }
}
