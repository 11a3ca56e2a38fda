//! # compiled
//!
//! Purpose: from an elaborated program to C text, and from there to an object in the cache that can be loaded.

use crate::cache::{self, Cache};
use crate::cc::{Compiler, Product};
use crate::exit::Fault;
use crate::io::sink;
use crate::options::{CodeOptions, ScheduleKind};
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_codegen::{CProgram, CodegenError, Flavour, ProgramInput, emit_program};
use std::path::{Path, PathBuf};

/// Schedules, lowers and prints a program as C.
pub fn emit(session: &mut Session, checked: &Checked, code: &CodeOptions, flavour: Flavour, name: &str) -> Result<CProgram, Halt> {
    let program = &checked.program;
    let schedule = session.pass("schedule", || schedule(checked, code.schedule))?;
    dump(session, "schedule", || print_schedule(&schedule, checked))?;
    let kernels = session.pass("lower", || lower(checked, code))?;
    dump(session, "lower", || print_kernels(&kernels))?;
    let options = sluice_codegen::ProgramOptions { flavour, ..sluice_codegen::ProgramOptions::default() };
    let input = ProgramInput {
        name,
        globals: &program.globals,
        codes: &program.codes,
        graph: &program.graph,
        steady: &program.steady,
        kernels: &kernels,
        schedule: &schedule,
        sources: &checked.sources,
        options: &options,
    };
    let c = session.pass("emit-c", || emit_program(&input)).map_err(|e| match e {
        CodegenError::BuffersTooLarge { .. } => Fault::program(e.to_string())
            .help("`sluice rates` shows where the items gather; --schedule minimum-latency needs the smallest buffers"),
        CodegenError::Name(_) => Fault::usage(e.to_string()).help("give the library another name with -o"),
        CodegenError::Malformed(_) => Fault::internal(e.to_string()),
    })?;
    dump(session, "emit-c", || c.source.clone())?;
    Ok(c)
}

/// The shared object of a program: from the cache, or compiled now.
pub fn object(session: &mut Session, c: &CProgram, code: &CodeOptions) -> Result<PathBuf, Halt> {
    let compiler = Compiler::find()?;
    let flags = code.cc.flags(Product::Shared).join(" ");
    dump(session, "compile-c", || format!("{} {flags} program.c -o program.so -lm\n", compiler.command.join(" ")))?;
    let cache = Cache::open()?;
    let key = cache::key(&[&c.source, &compiler.identity, &flags, env!("CARGO_PKG_VERSION")]);
    let make = |target: &Path| translate(&compiler, &cache.temporary(&key, "c"), &c.source, target, code, Product::Shared);
    Ok(session.pass("compile-c", || cache.get(&key, "so", make))?)
}

/// Compiles C text to a file of the user's: complete, or absent.
pub fn product(session: &mut Session, c: &CProgram, code: &CodeOptions, product: Product, path: &str) -> Result<(), Halt> {
    let compiler = Compiler::find()?;
    let flags = code.cc.flags(product).join(" ");
    dump(session, "compile-c", || format!("{} {flags} program.c -o {path} -lm\n", compiler.command.join(" ")))?;
    let cache = Cache::open()?;
    let target = PathBuf::from(path);
    if target.is_dir() {
        return Err(Fault::input(format!("cannot write {path}: it is a folder")).into());
    }
    let (_, temporary) = sink::create_beside(&target).map_err(|e| Fault::file("write", path, &e))?;
    crate::interrupt::add_temporary(&temporary);
    let source = cache.temporary(&cache::key(&[&c.source]), "c");
    let made = session.pass("compile-c", || {
        translate(&compiler, &source, &c.source, &temporary, code, product)?;
        std::fs::rename(&temporary, &target).map_err(|e| Fault::file("write", path, &e))
    });
    if made.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    crate::interrupt::forget_temporary(&temporary);
    Ok(made?)
}

/// Writes C text beside other files on their way, has it compiled, and removes it.
fn translate(compiler: &Compiler, source: &Path, text: &str, target: &Path, code: &CodeOptions, product: Product) -> Result<(), Fault> {
    crate::interrupt::add_temporary(source);
    let done = std::fs::write(source, text)
        .map_err(|e| Fault::file("write", source.display(), &e))
        .and_then(|()| compiler.compile(source, target, &code.cc, product));
    let _ = std::fs::remove_file(source);
    crate::interrupt::forget_temporary(source);
    done
}
