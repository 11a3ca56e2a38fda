//! `sluice profile`: runs native code that counts, for a while, and writes what its firings took. What the program gives to the outside
//! goes nowhere.

use super::beside::{self, Shown};
use super::find;
use super::{Machine, Profile, SCHEMA, Stream, hash, this_machine};
use crate::cache::Cache;
use crate::cc::Product;
use crate::commands;
use crate::compiled;
use crate::document::json;
use crate::exit::{Exit, Fault};
use crate::interrupt;
use crate::io::host::{self, Bindings, End, Host};
use crate::io::sink::Out;
use crate::native::{Native, NativeEnd};
use crate::native_stats::NativeStats;
use crate::natives::Natives;
use crate::options::{CodeOptions, NativeOptions};
use crate::pipeline::{Checked, Halt};
use crate::runtime::{self, RunEnd};
use crate::scheduling::{self, target};
use crate::session::{self, Session};
use sluice_codegen::Flavour;
use sluice_frontend::graph::Endpoint;
use sluice_schedule::plan;
use sluice_schedule::wording::count;
use std::time::{Duration, Instant, SystemTime};

/// Seconds that are measured where nothing else is said.
pub const SECONDS: f64 = 1.0;

/// What `sluice profile` is asked for.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// The open input, and its format.
    pub bindings: Bindings,
    /// Steady states; without: until the time is over.
    pub iterations: Option<u64>,
    /// Seconds; without: [`SECONDS`], or until the iterations are done.
    pub seconds: Option<f64>,
    /// The file to write, if not into the cache.
    pub output: Option<String>,
    /// Shows what was measured beside what the cost model says, on standard output.
    pub shown: Option<Shown>,
}

/// Measured so far, by node.
struct Sums {
    firings: Vec<u64>,
    nanoseconds: Vec<f64>,
    total: f64,
}

impl Sums {
    fn add(&mut self, raw: &NativeStats) {
        for (v, s) in raw.streams.iter().enumerate().take(self.firings.len()) {
            self.firings[v] = self.firings[v].saturating_add(s.firings);
            // each call read the clock once more than its work needed
            self.nanoseconds[v] += (s.time - s.calls as f64 * raw.clock).max(0.0);
        }
        self.total += raw.total;
    }

    fn all(&self) -> u64 {
        self.firings.iter().fold(0, |a, b| a.saturating_add(*b))
    }
}

/// Measures, and writes the profile.
pub fn take(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    natives: &NativeOptions,
    options: &ProfileOptions,
) -> Result<Exit, Halt> {
    let program = &checked.program;
    let key = find::key(checked);
    if options.output.is_none() && key.is_none() {
        return Err(Fault::usage("a program that is in no file has no profile in the cache")
            .help("name a file for the profile with -o")
            .into());
    }
    if options.shown.is_some() && options.output.as_deref() == Some("-") {
        return Err(Fault::usage("--format and -o - both write to standard output")
            .help("name a file for the profile, or leave -o out: it goes into the cache then")
            .into());
    }
    let (readers, mut writers) = host::ends(&program.graph, &program.globals)?;
    host::check_bindings(&readers, &writers, &options.bindings)?;
    writers.iter_mut().for_each(|w| w.endpoint = Endpoint::File("/dev/null".into()));
    let code = CodeOptions { stats: true, ..*code };
    let c = compiled::emit(session, checked, &code, Flavour::Plugin, "program")?;
    let natives = Natives::prepare(session, checked, natives, &code.cc)?;
    let native = compiled::load(session, checked, &c, &code, &natives)?;
    interrupt::listen();
    let again =
        options.iterations.is_none() && natives.called.is_empty() && readers.iter().all(|r| is_file(r, options));
    let mut sums = Sums {
        firings: vec![0; program.graph.nodes.len()],
        nanoseconds: vec![0.0; program.graph.nodes.len()],
        total: 0.0,
    };
    let insistence = interrupt::insist();
    let end = session.pass("run", || runs(&native, (&readers, &writers), options, again, &mut sums));
    drop(insistence);
    if let Err(end) = end {
        let end = match end {
            NativeEnd::Fault(fault) => RunEnd::Fault(fault),
            NativeEnd::Program(error) => runtime::of_native(&error, &program.graph, &c.sites),
        };
        return match end {
            RunEnd::Fault(fault) => Err(fault.into()),
            RunEnd::Program(diagnostic) => {
                session.report(&checked.sources, &[*diagnostic])?;
                Ok(Exit::Program)
            }
        };
    }
    if sums.all() == 0 {
        return Err(Fault::input("nothing was measured: no stream fired")
            .help("give it more input, or more --iterations")
            .into());
    }
    let profile = document(checked, &sums, code.cc.flags(Product::Shared).join(" "))?;
    written(&profile, key.as_deref(), options)?;
    if let Some(how) = options.shown {
        let machine = target::machine(target::THIS)?;
        let times = plan::times(&machine, &scheduling::weights(session, checked)?.costs);
        session::print(&beside::shown(&profile, checked, (&times.firing, machine.clock_mhz), how))?;
    }
    Ok(Exit::Ok)
}

/// Is it a file, which can be read again?
fn is_file(reader: &End, options: &ProfileOptions) -> bool {
    let path = match &reader.endpoint {
        Endpoint::File(path) => path.as_str(),
        Endpoint::Open => options.bindings.input.as_deref().unwrap_or("-"),
    };
    path != "-" && std::fs::metadata(path).is_ok_and(|m| m.is_file())
}

/// Runs the program, again and again where that can be done and there is time.
fn runs(
    native: &Native,
    (readers, writers): (&[End], &[End]),
    options: &ProfileOptions,
    again: bool,
    sums: &mut Sums,
) -> Result<(), NativeEnd> {
    let seconds = options.seconds.or(options.iterations.is_none().then_some(SECONDS));
    let deadline = seconds.map(|s| Instant::now() + Duration::from_secs_f64(s));
    let bindings = Bindings { output: None, output_format: None, ..options.bindings.clone() };
    loop {
        let out = Out::to(Box::new(std::io::sink()));
        let mut host = Host::open_to(readers, writers, &bindings, out).map_err(NativeEnd::Fault)?;
        host.quiet();
        if let Some(deadline) = deadline {
            host.stop_at(deadline);
        }
        let mut raw = None;
        let before = sums.all();
        native.run_counting(readers, writers, options.iterations, &mut host, &mut raw)?;
        if let Some(raw) = &raw {
            sums.add(raw);
        }
        let stopped = host.wants_stop();
        host.abandon();
        if stopped || !again || sums.all() == before {
            return Ok(());
        }
    }
}

fn document(checked: &Checked, sums: &Sums, flags: String) -> Result<Profile, Fault> {
    let program = &checked.program;
    let stream = |(v, node): (usize, &sluice_frontend::graph::Node)| {
        let each = sums.nanoseconds[v] / sums.firings[v].max(1) as f64;
        Stream {
            stream: node.path.clone(),
            firings: sums.firings[v],
            nanoseconds: (sums.firings[v] > 0).then_some((each * 1e4).round() / 1e4),
            gpu: None,
        }
    };
    Ok(Profile {
        schema: SCHEMA.into(),
        program: program.graph.hierarchy.first().map_or(String::new(), |h| h.display.clone()),
        hash: hash(program).ok_or_else(|| Fault::internal("a program that runs has no kernels"))?,
        sluice: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        machine: Machine { kind: "cpu".into(), name: this_machine() },
        flags,
        seconds: (sums.total / 1e3).round() / 1e6,
        firings: sums.all(),
        gpu: None,
        streams: program.graph.nodes.iter().enumerate().map(stream).collect(),
    })
}

/// Writes it, and says so.
fn written(profile: &Profile, key: Option<&str>, options: &ProfileOptions) -> Result<(), Fault> {
    let text = json(profile);
    let (place, then) = match (&options.output, key) {
        (Some(file), _) => {
            commands::write(file, &text)?;
            if file == "-" {
                return Ok(());
            }
            (file.clone(), format!("sluice schedule --machine cpu --profile {file}"))
        }
        (None, Some(key)) => {
            let path = Cache::open()?.put(key, "json", text.as_bytes())?;
            (path.display().to_string(), "sluice schedule --machine cpu".into())
        }
        (None, None) => return Err(Fault::internal("a profile for nobody")),
    };
    session::say(&format!(
        "{} firings of {} measured in {:.2} s, profile written to {place}; `{then}` uses it\n",
        profile.firings,
        count(profile.streams.len() as u64, "stream", "streams"),
        profile.seconds
    ));
    Ok(())
}
