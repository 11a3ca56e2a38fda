//! The commands, each a few steps of the pipeline.

use crate::as_c::as_c;
use crate::as_run::as_run;
use crate::cache::Cache;
use crate::cc::{Compiler, Product};
use crate::compiled;
use crate::cslow::{self, CslowOptions};
use crate::cuda::profiling::{self, GpuProfileOptions};
use crate::cuda::{stand_alone, texts};
use crate::document;
use crate::exit::{Exit, Fault};
use crate::fix;
use crate::guard;
use crate::io::sink;
use crate::library;
use crate::makespan::programs::{self, How, OfProgram};
use crate::makespan::{self, MakespanOptions};
use crate::natives::{Natives, sources};
use crate::options::*;
use crate::pipeline::{self, Checked, Halt};
use crate::profile::take::{self, ProfileOptions};
use crate::project;
use crate::rates;
use crate::scheduling::{self, ScheduleOptions};
use crate::sdep;
use crate::session::{self, Session};
use crate::testing::{self, TestOptions};
use crate::tune;
use crate::tune::take::TuneOptions;
use sluice_codegen::Flavour;
use sluice_frontend::graph::{Endpoint, Node, NodeKind};
use std::path::Path;

/// Opens a session, does the work, says how it ended.
fn with_session(
    options: &ProgramOptions,
    json_on_stdout: bool,
    work: impl FnOnce(&mut Session) -> Result<Exit, Halt>,
) -> Exit {
    let mut session = match Session::new(options, json_on_stdout) {
        Ok(session) => session,
        Err(fault) => return report(&fault),
    };
    let exit = match work(&mut session) {
        Ok(exit) | Err(Halt::Done(exit)) => exit,
        Err(Halt::Fault(fault)) => session.fault(&fault),
    };
    session.finish();
    exit
}

/// A fault of a command without a session.
fn report(fault: &Fault) -> Exit {
    session::say(&crate::render::fault(fault, session::wants_colour()));
    fault.exit
}

/// `sluice check`
pub fn check(options: &ProgramOptions, natives: &NativeOptions, check: CheckOptions) -> Exit {
    with_session(options, true, |session| {
        let options = &project::resolve(session, options)?;
        sources::check_files(&natives.over(options))?;
        if check.fix || check.dry_run {
            return fix::fix(session, options, check);
        }
        pipeline::analyse(session, options, check.parse_only)?;
        Ok(Exit::Ok)
    })
}

/// `sluice rates`
pub fn rates(options: &ProgramOptions, format: RatesFormat) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        let report = rates::report(&checked.program, &checked.sources);
        session::print(&match format {
            RatesFormat::Table => rates::table(&report),
            RatesFormat::Json => document::json(&report),
        })?;
        Ok(Exit::Ok)
    })
}

/// `sluice sdep`
pub fn sdep(options: &ProgramOptions, names: &[String], format: RatesFormat) -> Exit {
    with_session(options, false, |session| {
        // A file where the first stream should be: the second one is missing, whatever project this may be.
        let a_file = |name: &String| name == "-" || Path::new(name).exists();
        let (Some([from, to]), false) =
            (names.first_chunk(), options.files.is_empty() && names.first().is_some_and(a_file))
        else {
            return Err(Fault::usage("the names of two streams are needed")
                .help("sluice sdep FILE... FROM TO, such as: sluice sdep radio.str LowPass Demodulate")
                .into());
        };
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        let report = sdep::report(&checked.program, from, to)?;
        session::print(&match format {
            RatesFormat::Table => sdep::table(&report),
            RatesFormat::Json => document::json(&report),
        })?;
        Ok(Exit::Ok)
    })
}

/// `sluice schedule`
pub fn schedule(options: &ProgramOptions, schedule: &ScheduleOptions) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        guard::outputs(&checked, options, &NativeOptions::default(), schedule.output.as_deref())?;
        scheduling::schedule(session, &checked, schedule)
    })
}

/// `sluice report`
pub fn report_page(options: &ProgramOptions, schedule: &ScheduleOptions) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        guard::outputs(&checked, options, &NativeOptions::default(), schedule.output.as_deref())?;
        scheduling::page(session, &checked, schedule)
    })
}

/// `sluice profile`
pub fn profile(
    options: &ProgramOptions,
    code: CodeChoices,
    natives: &NativeOptions,
    mut profile: ProfileOptions,
) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        if let Some(manifest) = &options.manifest {
            let open = checked.program.graph.nodes.iter().any(|n| n.kind == NodeKind::Reader(Endpoint::Open));
            let mut run =
                RunOptions { bindings: profile.bindings, iterations: profile.iterations, ..RunOptions::default() };
            manifest.fill_run(&mut run, open, false);
            (profile.bindings, profile.iterations) = (run.bindings, run.iterations);
        }
        code.explain(session, options);
        let natives = natives.over(options);
        guard::outputs(&checked, options, &natives, profile.output.as_deref())?;
        take::take(session, &checked, &code.options(options), &natives, &profile)
    })
}

/// `sluice tune`
pub fn tune(options: &ProgramOptions, code: CodeChoices, tune: &TuneOptions) -> Exit {
    with_session(options, tune.json, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        code.explain(session, options);
        tune::take::take(session, &checked, &code.options(options), tune)
    })
}

/// `sluice profile --target cuda`
pub fn profile_gpu(options: &ProgramOptions, code: CodeChoices, profile: &GpuProfileOptions) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        guard::outputs(&checked, options, &NativeOptions::default(), profile.output.as_deref())?;
        profiling::take(session, &checked, &code.options(options), profile)
    })
}

/// `sluice cslow`
pub fn cslow(options: &ProgramOptions, mut cslow: CslowOptions) -> Exit {
    with_session(options, false, |session| {
        if let Some(streams) = options.streams {
            if cslow.c.is_some_and(|c| c != u64::from(streams)) {
                return Err(Fault::usage("--c and --streams say how many streams there are: give one").into());
            }
            cslow.c = Some(streams.into());
        }
        if let Some(numbers) = &cslow.numbers {
            if let Some(file) = options.files.first() {
                return Err(Fault::usage(format!("--d-c and --n-rw stand in place of the program {file}"))
                    .help("leave the numbers out: they are taken from the program")
                    .into());
            }
            let model = cslow::model(numbers, &cslow);
            session::print(&if cslow.json { document::json(&model) } else { cslow::model_table(&model) })?;
            return Ok(Exit::Ok);
        }
        // C is for the model: the program is looked at as it is
        let options = &project::resolve(session, &ProgramOptions { streams: None, ..options.clone() })?;
        let checked = pipeline::check(session, options)?;
        let code = CodeChoices::default().options(options);
        let kernels = crate::kernels::kernels(session, &checked, &code)?;
        let report = cslow::report(&checked.program, &checked.sources, &kernels, &code, &cslow)?;
        session::print(&if cslow.json { document::json(&report) } else { cslow::table(&report) })?;
        Ok(Exit::Ok)
    })
}

/// `sluice makespan`
pub fn makespan(options: &MakespanOptions) -> Exit {
    match makespan::run(options) {
        Ok(()) => Exit::Ok,
        Err(fault) => report(&fault),
    }
}

/// `sluice makespan PROGRAM`
pub fn makespan_of(options: &ProgramOptions, code: CodeChoices, asked: &OfProgram, how: &How) -> Exit {
    with_session(options, how.json, |session| {
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        let manifest = options.manifest.as_deref().map(|m| &m.makespan);
        let asked = manifest.map_or_else(|| asked.clone(), |m| asked.or(&m.asked));
        let deadline = manifest.and_then(|m| m.deadline.as_ref());
        programs::run(session, &checked, &code.options(options), &asked, how, deadline)
    })
}

/// `sluice graph`
pub fn graph(options: &ProgramOptions, output: &str, format: Option<GraphFormat>, folded: bool) -> Exit {
    with_session(options, false, |session| {
        let format = match (format, Path::new(output).extension().and_then(|e| e.to_str())) {
            (Some(format), _) => format,
            (None, Some("dot" | "gv")) => GraphFormat::Dot,
            (None, _) => GraphFormat::Svg,
        };
        let options = &project::resolve(session, options)?;
        let checked = pipeline::check(session, options)?;
        guard::outputs(&checked, options, &NativeOptions::default(), [output])?;
        let take_apart = if folded { TakeApart::Auto } else { TakeApart::Never };
        let native =
            CodeOptions { fold: folded, privatise: folded, delay_lines: folded, take_apart, ..CodeOptions::default() };
        let folded = as_run(session, &checked, &native)?;
        let program = &folded.as_ref().unwrap_or(&checked).program;
        let (graph, steady) = (&program.graph, &program.steady);
        let text = session.pass("draw", || match format {
            GraphFormat::Svg => sluice_picture::graph_svg::svg(graph, steady),
            GraphFormat::Dot => sluice_picture::graph_dot::dot(graph, steady),
        });
        write(output, &text)?;
        Ok(Exit::Ok)
    })
}

/// `sluice build`
pub fn build(
    options: &ProgramOptions,
    code: CodeChoices,
    natives: &NativeOptions,
    (product, cuda): (BuildProduct, &CudaBuildOptions),
    output: Option<&str>,
) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        if product == BuildProduct::Cuda {
            output.map_or(Ok(()), stand_alone::check_name)?;
        }
        let (said, code, natives) = (code, &code.options(options), &natives.over(options));
        sources::check_files(natives)?;
        let checked = pipeline::check(session, options)?;
        let output = output.map_or_else(|| default_output(options, product), str::to_string);
        if output == "-" && !matches!(product, BuildProduct::C | BuildProduct::NativeHeader | BuildProduct::Cuda) {
            return Err(Fault::usage("only C and CUDA can be written to standard output")
                .help("name a file with -o")
                .into());
        }
        let header = if product == BuildProduct::Library { library::header(&output)? } else { None };
        guard::outputs(&checked, options, natives, [output.as_str()].into_iter().chain(header.as_deref()))?;
        if product == BuildProduct::NativeHeader {
            write(&output, &native_header(&checked, &output, options)?)?;
            return Ok(Exit::Ok);
        }
        let code = &if product == BuildProduct::Cuda { *code } else { tune::find::tuned(&checked, code) };
        let folded = as_run(session, &checked, code)?;
        let mut checked = folded.unwrap_or(checked);
        if product != BuildProduct::Cuda {
            checked = as_c(session, &checked, code)?.unwrap_or(checked);
        }
        said.explain(session, options);
        let name = library::name(&output);
        let makespan = options.manifest.as_deref().map(|m| &m.makespan);
        if let Some((makespan, deadline)) = makespan.and_then(|m| Some((m, m.deadline.as_ref()?))) {
            if product == BuildProduct::Cuda {
                let asked = makespan.asked.of_build(cuda)?;
                let kept = programs::guarantee(session, &checked, code, &asked, deadline)?;
                if kept != Exit::Ok {
                    return Ok(kept);
                }
            } else {
                session.remark("the deadline of [makespan] is for kernels of a GPU: it says nothing of this build");
            }
        }
        match product {
            BuildProduct::C | BuildProduct::NativeHeader => {
                let c = compiled::emit_whole(session, &checked, code, &name)?;
                write(&output, &c.source)?;
            }
            BuildProduct::Cuda => {
                // what the build lines call it
                let file = if output == "-" { default_output(options, product) } else { output.clone() };
                let name = Path::new(&file).file_stem().and_then(|s| s.to_str()).unwrap_or("program");
                let text = texts::stand_alone(session, &checked, code, cuda, name)?;
                write(&output, &text)?;
            }
            BuildProduct::Executable => {
                let c = compiled::emit(session, &checked, code, Flavour::Executable, &name)?;
                let natives = Natives::prepare(session, &checked, natives, &code.cc)?;
                compiled::product(session, &checked, &c, code, &natives, Product::Executable, &output)?;
            }
            BuildProduct::Library => {
                let c = compiled::emit(session, &checked, code, Flavour::Library, &name)?;
                let compiler = Compiler::of(code.cc.way.compiler)?;
                let text = c.header.as_deref().unwrap_or_default();
                session.pass("name", || library::check_name(&compiler, &name, text))?;
                let natives = Natives::prepare(session, &checked, natives, &code.cc)?;
                compiled::product(session, &checked, &c, code, &natives, Product::Shared, &output)?;
                if let Some(header) = header {
                    write(&header, &c.header.unwrap_or_default())?;
                }
            }
        }
        Ok(Exit::Ok)
    })
}

/// The header of a program's native functions, named after its file (on standard output: after the program's).
fn native_header(checked: &Checked, output: &str, options: &ProgramOptions) -> Result<String, Fault> {
    let globals = &checked.program.globals;
    if globals.natives.is_empty() {
        return Err(Fault::program("the program declares no native functions")
            .help("a group such as `native Filters { float smooth(float x); }` declares them"));
    }
    let named = if output == "-" { default_output(options, BuildProduct::NativeHeader) } else { output.to_string() };
    let stem = Path::new(&named).file_stem().and_then(|s| s.to_str()).unwrap_or("program").to_string();
    Ok(sluice_codegen::c::native_header::native_header(globals, &stem))
}

/// Writes text to a file (complete or not at all), or to standard output.
pub fn write(path: &str, text: &str) -> Result<(), Fault> {
    if path == "-" {
        return session::print(text);
    }
    sink::write_file(Path::new(path), text.as_bytes()).map_err(|e| Fault::file("write", path, &e))
}

/// What `build` writes where nobody says: the project's name in its folder, or the first source's name in the current one.
fn default_output(options: &ProgramOptions, product: BuildProduct) -> String {
    let name = default_name(options, product);
    options.manifest.as_ref().map_or(name.clone(), |m| m.root.join(&name).display().to_string())
}

fn default_name(options: &ProgramOptions, product: BuildProduct) -> String {
    let first = options.files.first().filter(|f| *f != "-").map_or("program.str", |f| f.as_str());
    let stem = match &options.manifest {
        Some(manifest) => &manifest.name,
        None => Path::new(first).file_stem().and_then(|s| s.to_str()).unwrap_or("program"),
    };
    match product {
        BuildProduct::Executable if stem == first => format!("{stem}.out"),
        BuildProduct::Executable => stem.to_string(),
        BuildProduct::C => format!("{stem}.c"),
        BuildProduct::Library => format!("lib{stem}.so"),
        BuildProduct::NativeHeader => format!("{stem}-native.h"),
        BuildProduct::Cuda => format!("{stem}.cu"),
    }
}

/// `sluice run`
pub fn run(options: &ProgramOptions, code: CodeChoices, natives: &NativeOptions, mut run: RunOptions) -> Exit {
    with_session(options, false, |session| {
        let options = &project::resolve(session, options)?;
        let natives = natives.over(options);
        sources::check_files(&natives)?;
        let checked = pipeline::check(session, options)?;
        let about_wav = run.bindings.rate.map(|_| "--rate").or(run.bindings.channels.map(|_| "--channels"));
        if let Some(manifest) = &options.manifest {
            let graph = &checked.program.graph;
            let open = |is: fn(&NodeKind) -> bool| graph.nodes.iter().any(|n| is(&n.kind));
            let input = open(|k| matches!(k, NodeKind::Reader(Endpoint::Open)));
            let output = open(|k| matches!(k, NodeKind::Writer(Endpoint::Open)));
            manifest.fill_run(&mut run, input, output);
        }
        let open = |n: &Node| n.kind == NodeKind::Writer(Endpoint::Open);
        if let Some(option) = about_wav
            && checked.program.graph.nodes.iter().any(open)
            && !run.bindings.writes_wav()
        {
            return Err(Fault::usage(format!("{option} has a meaning only for a WAV output"))
                .help("name the output FILE.wav, or give --output-format wav")
                .into());
        }
        code.explain(session, options);
        let trace = run.trace.as_ref().and_then(|t| t.output.as_deref());
        let stats = run.stats.as_ref().and_then(|s| s.output.as_deref());
        let asked = [run.bindings.output.as_deref(), trace, stats];
        guard::outputs(&checked, options, &natives, asked.into_iter().flatten())?;
        let named = checked.program.graph.nodes.iter().filter_map(|n| match &n.kind {
            NodeKind::Writer(Endpoint::File(path)) => Some(path.as_str()),
            _ => None,
        });
        // those the program names are its own fault
        guard::outputs(&checked, options, &natives, named).map_err(|fault| Fault { exit: Exit::Program, ..fault })?;
        pipeline::run(session, &checked, &code.options(options), &run, &natives)
    })
}

/// `sluice test`
pub fn test(options: &TestOptions) -> Exit {
    let program = ProgramOptions { messages: options.messages, ..ProgramOptions::default() };
    with_session(&program, true, |session| testing::test(session, options))
}

/// `sluice run-test`, which `sluice test` starts.
pub fn run_test() -> Exit {
    let program = ProgramOptions { messages: MessageFormat::Json, ..ProgramOptions::default() };
    with_session(&program, false, |session| {
        let request = testing::child::request()?;
        testing::child::run(session, &request)
    })
}

/// `sluice new`
pub fn new(path: &str, name: Option<&str>) -> Exit {
    let made = project::new::make(path, name).and_then(|made| {
        let way = if made.folder == "." { String::new() } else { format!("cd {}, then ", made.folder) };
        session::print(&format!(
            "made the project {}: {way}`sluice run` runs it, `sluice test` tests it; sluice.toml says what it is made of\n",
            made.name
        ))
    });
    match made {
        Ok(()) => Exit::Ok,
        Err(fault) => report(&fault),
    }
}

/// A command line that cannot be what was meant.
pub fn wrong(options: &ProgramOptions, fault: Fault) -> Exit {
    with_session(options, false, |_| Err(fault.into()))
}

/// `sluice explain`
pub fn explain(code: &str) -> Exit {
    match crate::explain::explain(code).and_then(|text| session::print(&text)) {
        Ok(()) => Exit::Ok,
        Err(fault) => report(&fault),
    }
}

/// `sluice clean`
pub fn clean() -> Exit {
    let cleaned = Cache::open().and_then(|cache| {
        let (files, bytes) = cache.clean();
        let s = if files == 1 { "" } else { "s" };
        session::print(&format!("removed {files} file{s}, {bytes} bytes, from {}\n", cache.folder().display()))
    });
    match cleaned {
        Ok(()) => Exit::Ok,
        Err(fault) => report(&fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_products() {
        let output = |file: &str, product| {
            default_output(&ProgramOptions { files: vec![file.to_string()], ..ProgramOptions::default() }, product)
        };
        assert_eq!(output("a/radio.str", BuildProduct::Executable), "radio");
        assert_eq!(output("a/radio.str", BuildProduct::C), "radio.c");
        assert_eq!(output("a/radio.str", BuildProduct::Library), "libradio.so");
        assert_eq!(output("radio", BuildProduct::Executable), "radio.out");
        assert_eq!(output("-", BuildProduct::Executable), "program");
    }
}
