//! # makespan
//!
//! Purpose: what `sluice makespan` does: the longest that a kernel may take on one multiprocessor. Input: a kernel, a machine, a method, from options
//! or a TOML file. Output: a table, or the JSON document of docs/makespan.md, and a picture of the schedule where one is asked for.
//!
//! The methods are [`sluice_schedule::analysis::makespan`]; clocks and files are here.

mod config;
pub mod programs;
mod report;

pub use config::Config;
pub use sluice_schedule::analysis::makespan::method::Method;

use crate::commands;
use crate::document;
use crate::exit::Fault;
use crate::session;
use crate::solver;
use sluice_picture::makespan_svg;
use sluice_schedule::analysis::makespan::blocks::{self, Block, Work};
use sluice_schedule::analysis::makespan::kernel::BadKernel;
use sluice_schedule::analysis::makespan::method::{Answer, NoAnswer, Settings, solve};
use sluice_schedule::analysis::makespan::{Capacity, Kernel, Machine, Problem, Unit, program};
use sluice_schedule::ilp::cbc;
use std::time::Instant;

/// States of the dynamic programme: a gibibyte.
pub const STATES: u64 = 1 << 29;
/// Seconds where nobody says.
pub const SECONDS: f64 = 10.0;

/// Options of `makespan`.
#[derive(Clone, Debug)]
pub struct MakespanOptions {
    /// A file with what the options do not say.
    pub config: Option<String>,
    /// Kernel, warps and machine, as far as the options say.
    pub given: Config,
    /// Blocks of so many warps, where there are several.
    pub blocks: Blocks,
    /// How it is computed; of an estimate with x.
    pub method: Method,
    /// Seconds.
    pub seconds: f64,
    /// Show the schedule, too.
    pub schedule: bool,
    /// A file for its picture.
    pub svg: Option<String>,
    /// JSON instead of text.
    pub json: bool,
}

/// Blocks on multiprocessors, to which they are dealt out one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// How many, at least 1.
    pub count: u64,
    /// Multiprocessors, at least 1.
    pub multiprocessors: u64,
    /// How many a multiprocessor has at a time; where nobody says, all of its own.
    pub resident: Option<u64>,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { count: 1, multiprocessors: 1, resident: None }
    }
}

impl Blocks {
    /// On the multiprocessor with the most of them; and how many it has at a time.
    pub(crate) fn on_one(&self) -> (u64, u64) {
        let all = blocks::round_robin(self.count, self.multiprocessors);
        (all, self.resident.unwrap_or(all).clamp(1, all))
    }
}

/// A problem, and what it was made of.
pub(crate) struct Asked {
    pub(crate) kernel: Kernel,
    pub(crate) problem: Problem,
    pub(crate) machine: Machine,
    pub(crate) units: (u32, u32),
    pub(crate) warp_size: u32,
}

/// Fails for methods that cannot do without CBC, where there is none.
fn at_hand(method: Method) -> Result<(), Fault> {
    let asked = matches!(method, Method::IlpShort | Method::IlpLong);
    match asked.then(cbc::missing).flatten() {
        Some(why) => Err(solver::no_cbc(format!("{}: {why}", method.name()))),
        None => Ok(()),
    }
}

/// Why bounds by `auto` may be wider than they need be: there is no CBC, whose linear programs give potentials.
fn lacking(method: Method) -> Option<String> {
    let why = (method == Method::Auto).then(cbc::missing).flatten()?;
    Some(format!("{why}; bounds that are not exact may be wider than with it"))
}

/// Does it all.
pub fn run(options: &MakespanOptions) -> Result<(), Fault> {
    at_hand(options.method)?;
    let config = match &options.config {
        Some(file) => options.given.clone().or(Config::read(file)?),
        None => options.given.clone(),
    };
    let (on_one, resident) = options.blocks.on_one();
    let at_once = on_one == resident;
    let asked = asked(&config, if at_once { on_one } else { 1 })?;
    let begun = Instant::now();
    let clock = || begun.elapsed().as_secs_f64();
    let settings = Settings { seconds: options.seconds, states: STATES, clock: &clock };
    let answer = if at_once {
        solve(&asked.problem, options.method, &settings).map_err(no_answer)?
    } else {
        in_turn(&asked, options.method, (on_one, resident))?
    };
    let seconds = clock();
    if let Some(why) = (at_once && !answer.exact).then(|| lacking(options.method)).flatten() {
        session::say(&format!("warning: {why}\n"));
    }
    if let Some(file) = &options.svg {
        commands::write(file, &picture(&asked, &answer)?)?;
    }
    let report = report::Report::new(&asked, options, &answer, seconds);
    session::print(&if options.json { document::json(&report) } else { report.table() })
}

/// Blocks that begin when others end: what is known of them is a bound by formula.
fn in_turn(asked: &Asked, method: Method, (on_one, resident): (u64, u64)) -> Result<Answer, Fault> {
    if !matches!(method, Method::Auto | Method::Pessimistic) {
        let title = format!("--method {} is for blocks that are all there from the beginning", method.name());
        return Err(Fault::usage(title).help("leave --resident out, or take --method pessimistic").coded("E0991"));
    }
    let problem = &asked.problem;
    let warps = u64::from(problem.warps());
    let of = |unit: Unit| problem.count(unit);
    let longest = Work { loads: of(Unit::LoadStore), cores: of(Unit::Core) };
    let all = Work { loads: longest.loads * warps, cores: longest.cores * warps };
    let block = Block { warps, all, longest, steps: longest.sum() };
    let bound = blocks::bound(&block, on_one, resident, &asked.machine);
    let least = blocks::shortest(&block, on_one, resident, &asked.machine);
    let exact = bound == least;
    Ok(Answer { bound, exact, sound: true, least, witness: None, by: "pessimistic", estimates: Vec::new() })
}

/// The problem of a configuration, of so many blocks; what is not said is o = 1.
fn asked(config: &Config, blocks: u64) -> Result<Asked, Fault> {
    let missing = |what: &str, key: &str, option: &str| {
        Fault::usage(format!("there is no {what}"))
            .help(format!("give {option}, or `{key}` in the file of --config"))
            .coded("E0991")
    };
    let text = config.kernel.as_ref().ok_or_else(|| missing("kernel", "kernel", "--kernel STRING"))?;
    let kernel: Kernel = text.parse().map_err(|e| bad_kernel(text, e))?;
    let warps = config.warps.ok_or_else(|| missing("number of warps", "warps", "--warps W"))?;
    let warps = warps.saturating_mul(blocks);
    let number = |what: &str, n: Option<u64>, usual: u32| match n {
        None => Ok(usual),
        Some(n) => u32::try_from(n)
            .ok()
            .filter(|n| (1..=1 << 20).contains(n))
            .ok_or_else(|| Fault::usage(format!("{what} {n} is not between 1 and {}", 1 << 20)).coded("E0991")),
    };
    let warp_size = number("warp size", config.warp_size, 32)?;
    let l = number("load/store units", config.ls_units, warp_size)?;
    let c = number("cores", config.cores, warp_size)?;
    let of = |units| Capacity::new(units, warp_size).unwrap_or(Capacity::ONE);
    let machine = Machine { load_store: of(l), cores: of(c) };
    let problem = Problem::new(&kernel, &machine, warps).map_err(|e| Fault::usage(e.to_string()).coded("E0991"))?;
    Ok(Asked { kernel, problem, machine, units: (l, c), warp_size })
}

/// Says where a kernel's text is wrong.
fn bad_kernel(text: &str, wrong: BadKernel) -> Fault {
    const SHOWN: usize = 40;
    let mut message = wrong.to_string();
    if let BadKernel::Letter(_, at) = wrong {
        let from = at.saturating_sub(SHOWN / 2);
        let part: String = text.chars().skip(from).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
        message += &format!("\n    {part}\n    {}^", " ".repeat(at - from));
    }
    Fault::usage(message)
        .help("a kernel is a string of instructions: L for a load/store unit, C for a core, such as LLC")
        .coded("E0990")
}

fn no_answer(why: NoAnswer) -> Fault {
    let fault = match why {
        NoAnswer::States(n, limit) => {
            let n = n.map_or("more than 2^64".to_string(), |n| n.to_string());
            Fault::usage(format!("the exact method has {n} states here, and room for {limit}"))
                .help("--method auto finds a proven bracket; fewer warps, or a shorter kernel, have fewer states")
        }
        NoAnswer::Moves(n) => {
            Fault::usage(format!("units take so many warps at once that there are {n} ways on from a state"))
                .help("--method auto finds a proven bracket")
        }
        NoAnswer::Variables(n) => {
            let limit = program::MOST_VARIABLES;
            Fault::usage(format!("the integer program has {n} variables here, the limit is {limit}"))
                .help("--method exact goes much further, and --method auto beyond that")
        }
        NoAnswer::Time(seconds) => Fault::usage(format!("{seconds} seconds were not enough"))
            .help("--time-limit gives more; --method auto finds a proven bracket in any time"),
        NoAnswer::MoreThanAll(warps) => {
            Fault::usage(format!("--x is more than the {warps} warps that there are")).help("give fewer")
        }
    };
    fault.coded("E0992")
}

fn picture(asked: &Asked, answer: &Answer) -> Result<String, Fault> {
    let Some(schedule) = &answer.witness else {
        return Err(Fault::usage("this method has no schedule to draw here")
            .help("--method auto and --method exact have one, where the problem is small enough to write it down")
            .coded("E0992"));
    };
    let what = if answer.exact { "the longest there is" } else { "the longest found" };
    let title = format!("{} with {} warps: {} cycles, {what}", asked.kernel, asked.problem.warps(), answer.least);
    makespan_svg::svg(&asked.problem, schedule, &title).ok_or_else(|| {
        Fault::usage(format!("a picture shows at most {} instructions", makespan_svg::MOST))
            .help("draw fewer warps, or a shorter kernel")
            .coded("E0992")
    })
}
