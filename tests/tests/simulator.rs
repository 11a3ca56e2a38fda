//! Schedules of random programs, of the corpus and of the suite, by every method, run in the simulator: what comes out is what the interpreter
//! gives. And schedules that were made wrong do not pass.
//!
//! `SLUICE_RANDOM_PROGRAMS` says how many random programs (200); `SLUICE_FIRST_SEED` where to begin (0). `SLUICE_SEED=n` runs that one alone.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside, and programs are files

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_driver::pipeline::Checked;
use sluice_driver::source::Files;
use sluice_frontend::analyse;
use sluice_schedule::method::Method;
use sluice_schedule::problem::judge::{Violation, verify};
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};
use sluice_tests::generate::{self, Case, random::Random};
use sluice_tests::pool::number_from_environment;
use sluice_tests::run::check;
use sluice_tests::simulate::{self, Options, Passed, Planned, Ran, Schedule, Supply, enough, interpreted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Random programs of one test.
const BLOCK: u64 = 25;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a number of programs showed.
#[derive(Default)]
struct Seen {
    programs: u64,
    ran: u64,
    output: u64,
    schedules: u64,
    exact: u64,
    pipelined: u64,
    features: BTreeMap<&'static str, u64>,
    passed: BTreeMap<Passed, u64>,
    failures: Vec<String>,
}

impl Seen {
    fn add(&mut self, name: &str, result: Result<Result<Ran, Passed>, String>) {
        self.programs += 1;
        match result {
            Ok(Ok(ran)) => {
                self.ran += 1;
                self.output += u64::from(ran.output);
                self.schedules += ran.schedules;
                self.exact += ran.exact;
                self.pipelined += u64::from(ran.stages > 1 && ran.processors > 1);
                for (name, has) in ran.features {
                    *self.features.entry(name).or_default() += u64::from(has);
                }
            }
            Ok(Err(why)) => *self.passed.entry(why).or_default() += 1,
            Err(why) => self.failures.push(format!("{name}: {why}")),
        }
    }

    /// Failures, or too little that was seen to prove anything.
    fn judge(self, least: u64, least_pipelined: u64, every_feature: bool) -> Result<(), Failed> {
        if !self.failures.is_empty() {
            return Err(self.failures.join("\n----------------------------------------\n").into());
        }
        let Seen { programs, ran, output, schedules, exact, pipelined, features, passed, .. } = self;
        let text = format!(
            "of {programs} programs {ran} ran, {output} with output, {pipelined} in several stages on several processors; {schedules} schedules, {exact} by the integer program; {features:?}; passed over: {passed:?}"
        );
        if std::env::var("SLUICE_TELL").is_ok() {
            eprintln!("{text}");
        }
        let all = !every_feature || exact > 0 && features.len() == FEATURES && features.values().all(|n| *n > 0);
        if !all || ran < least || output < least || pipelined < least_pipelined {
            return Err(text.into());
        }
        Ok(())
    }
}

/// Multirate, windows, states, loops, messages.
const FEATURES: usize = 5;

/// A program with rates that are known before; of four, one has a feedback loop, and one sends messages.
fn case(seed: u64) -> Case {
    let candidates = || (0..200).map(|i| seed + 1_000_003 * i).filter(|s| !generate::flavour(*s).dynamic);
    let has = |s: u64, what: &[&str]| what.iter().all(|w| generate::case(s).source.contains(w));
    let first = candidates().find(|s| match seed % 4 {
        0 => has(*s, &["feedbackloop"]),
        1 => generate::flavour(*s).messages && has(*s, &[" to q", ".h"]),
        _ => true,
    });
    generate::case(first.or(candidates().next()).unwrap_or(seed))
}

fn random(seeds: std::ops::Range<u64>) -> Result<(), Failed> {
    let (count, usual) = (seeds.end - seeds.start, seeds.end <= 200);
    let mut seen = Seen::default();
    for seed in seeds {
        let case = case(seed);
        let Ok(checked) = check(&case.source) else {
            // what would go wrong in every firing is found by the compiler
            if !case.hazards {
                return Err(format!("seed {seed} is refused").into());
            }
            continue;
        };
        let supply = Supply::new(case.input.clone().unwrap_or_default());
        let result = simulate::trial(&checked, &supply, seed, Options::default());
        seen.add(&format!("SLUICE_SEED={seed}"), result.map_err(|why| format!("{why}\n{}", case.source)));
    }
    let least = if count == BLOCK { BLOCK / 2 } else { 0 };
    seen.judge(least, least / 4, least > 0 && usual)
}

fn checked(path: &Path) -> Result<Checked, String> {
    let mut files = Files::default();
    let inputs = files.read_all(&[path.display().to_string()]).map_err(|fault| fault.message)?;
    let analysis = analyse(inputs, &sluice_frontend::Options::default(), &mut files);
    let title = analysis.diagnostics.first().map_or_else(String::new, |d| d.title.clone());
    let program = analysis.program.ok_or(title)?;
    Ok(Checked { sources: analysis.sources, program })
}

/// Programs of the repository, with some bytes as their input.
fn programs(paths: &[PathBuf], options: Options) -> Result<Seen, Failed> {
    let mut seen = Seen::default();
    for (i, path) in paths.iter().enumerate() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // some have an entry only where it is named
        let Ok(checked) = checked(path) else { continue };
        let bytes =
            (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 & if i % 4 == 3 { 0x3f } else { 0xff });
        let supply = Supply::new(bytes.collect());
        seen.add(&name, simulate::trial(&checked, &supply, i as u64, options));
    }
    Ok(seen)
}

fn corpus(part: usize, parts: usize) -> Result<(), Failed> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(root().join("tests/run"))?.flatten().map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "str"));
    all.sort();
    let paths: Vec<PathBuf> = all.into_iter().skip(part).step_by(parts).collect();
    let count = paths.len() as u64;
    programs(&paths, Options::default())?.judge(count / 2, count / 10, true)
}

/// What a changed schedule does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    /// What the interpreter does.
    Right,
    /// The simulator stops.
    Stops,
    /// Something else comes out.
    Differs,
}

fn does(checked: &Checked, supply: &Supply, what: Schedule, seed: u64) -> Does {
    let iterations = enough(what.problem, what.schedule);
    let want =
        interpreted(&checked.program, supply, iterations * what.problem.graph().batch).expect("it does not fail");
    match simulate::run(&checked.program, supply, what, iterations, seed) {
        Err(_) => Does::Stops,
        Ok(got) if got.difference(&want).is_some() => Does::Differs,
        Ok(_) => Does::Right,
    }
}

/// Rings in which nothing is ever written over.
fn endless(p: &ModuloProblem, s: &ModuloSchedule) -> Vec<u64> {
    let (g, iterations) = (p.graph(), enough(p, s));
    g.edges.iter().map(|e| e.initial + e.produce * g.tasks[e.from].instances * iterations).collect()
}

/// One processor goes through its instances in another order, one directly after the other.
fn in_order(p: &ModuloProblem, s: &mut ModuloSchedule, processor: u32, list: &[usize]) {
    let mut at = 0;
    for i in list {
        (s.start[*i], s.processor[*i]) = (at, processor);
        at += p.cost(*i);
    }
    s.ii = s.ii.max(at);
}

/// The program of the mutations written by hand: several rates, a window, a state, a print.
const PROGRAM: &str = "void->int filter Count { int n; work push 2 { push(n++); push(n * n); } }
int->int filter Window { work pop 3 peek 5 push 2 { push(peek(0) - peek(4)); push(peek(2)); pop(); pop(); pop(); } }
int->int filter Sum { int s; work pop 1 push 1 { s = 3 * s + pop(); push(s); } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Count; add Window; add Sum; add Show; }
";

/// Changes of a right schedule, each of which breaks one rule.
fn by_hand() -> Result<(), Failed> {
    let checked = check(PROGRAM)?;
    let supply = Supply::default();
    let options = Options::default();
    let (mut earlier, mut swapped, mut moved, mut states) = (0, 0, 0, 0);
    for seed in 0..40 {
        let Ok(Planned { plan, .. }) = simulate::plan(&checked, seed, options) else { continue };
        let p = &plan.problem;
        for method in [Method::Sas, Method::Ims, Method::Hms] {
            let right = simulate::solve(&plan, method).ok_or("there is a schedule")?.verified.schedule().clone();
            let run = |s: &ModuloSchedule| {
                does(&checked, &supply, Schedule { problem: p, schedule: s, capacity: &endless(p, s) }, seed)
            };
            assert_eq!(run(&right), Does::Right, "seed {seed}, {method:?}");
            for d in p.dependences().iter().filter(|d| d.from != d.to) {
                let (a, b) = (d.from, d.to);
                let item = p.task_of(a) != p.task_of(b);
                let launches = u64::from(right.stage[b]) + d.distance - u64::from(right.stage[a]);
                let same = right.processor[a] == right.processor[b];
                // one II earlier than the items allow
                let needed = if same { u64::from(right.start[b] < right.start[a] + p.cost(a)) } else { 1 };
                if launches == needed && right.stage[b] > 0 {
                    let mut s = right.clone();
                    s.stage[b] -= 1;
                    let done = run(&s);
                    assert!(done != Does::Right, "seed {seed}, {method:?}: {} one II earlier", p.name_of(b));
                    assert!(!item || done == Does::Stops, "seed {seed}: items are missing, and nobody says so");
                    earlier += 1;
                }
                // on one processor, one after the other in the same kernel: the other way round
                if same && launches == 0 {
                    let q = right.processor[a];
                    let mut list: Vec<usize> = (0..p.instances()).filter(|i| right.processor[*i] == q).collect();
                    list.sort_by_key(|i| right.start[*i]);
                    let at = |i| list.iter().position(|x| *x == i).expect("it is there");
                    let (x, y) = (at(a), at(b));
                    list.swap(x, y);
                    let mut s = right.clone();
                    in_order(p, &mut s, q, &list);
                    let done = run(&s);
                    assert!(
                        done != Does::Right,
                        "seed {seed}, {method:?}: {} and {} swapped",
                        p.name_of(a),
                        p.name_of(b)
                    );
                    assert!(!item || done == Does::Stops, "seed {seed}: items are missing, and nobody says so");
                    swapped += 1;
                    states += u32::from(done == Does::Differs);
                }
                // on another processor, items made in this kernel are not visible
                if same && launches == 0 && p.processors() > 1 {
                    let mut s = right.clone();
                    s.processor[b] = (s.processor[b] + 1) % p.processors();
                    let done = run(&s);
                    // whose print comes first, and who sees which state, is then left to chance
                    assert!(!item || done == Does::Stops, "seed {seed}, {method:?}: {} elsewhere", p.name_of(b));
                    moved += 1;
                }
            }
        }
    }
    let counts = format!("{earlier} earlier, {swapped} swapped, {moved} moved, {states} with another state");
    if earlier < 20 || swapped < 200 || moved < 100 || states < 5 { Err(counts.into()) } else { Ok(()) }
}

fn change(p: &ModuloProblem, s: &mut ModuloSchedule, r: &mut Random) {
    let n = p.instances();
    let (i, other) = (r.index(n), r.index(n));
    match r.below(7) {
        0 => s.stage[i] = s.stage[i].saturating_sub(1),
        1 => s.stage[i] += 1,
        2 => s.processor[i] = r.below(p.processors()),
        3 => s.stage.swap(i, other),
        4 => s.processor.swap(i, other),
        5 => s.start.swap(i, other),
        _ => {
            let q = s.processor[i];
            let mut list: Vec<usize> = (0..n).filter(|i| s.processor[*i] == q).collect();
            list.sort_by_key(|i| s.start[*i]);
            let (x, y) = (r.index(list.len()), r.index(list.len()));
            list.swap(x, y);
            in_order(p, s, q, &list);
        }
    }
}

/// Random changes of schedules of random programs: the judge and the simulator agree.
///
/// What the judge passes runs right in the judged rings. What it refuses for the sake of items stops, and what it refuses for the sake of states or
/// messages stops or gives something else where the program shows it.
fn by_chance(seeds: std::ops::Range<u64>) -> Result<(), Failed> {
    let options = Options { firings: 3000, cycles: 300_000, ..Options::default() };
    let (mut passed, mut items, mut others, mut shown, mut programs) = (0, 0, 0, 0, 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let case = case(seed);
        let Some(checked) = check(&case.source).ok().filter(|_| !case.hazards) else { continue };
        let Ok(Planned { plan, firings }) = simulate::plan(&checked, seed, options) else { continue };
        let (p, supply) = (&plan.problem, Supply::new(case.input.clone().unwrap_or_default()));
        let mut r = Random::new(seed ^ 0xC4A9);
        let method = *r.pick(&[Method::Sas, Method::MinLatency, Method::Flat, Method::Ims, Method::Slack, Method::Hms]);
        let right = simulate::solve(&plan, method).ok_or("there is a schedule")?.verified.schedule().clone();
        programs += 1;
        for _ in 0..4 {
            let mut s = right.clone();
            (0..1 + r.below(2)).for_each(|_| change(p, &mut s, &mut r));
            if enough(p, &s) * firings > 10_000 {
                continue;
            }
            let run = |capacity: &[u64]| does(&checked, &supply, Schedule { problem: p, schedule: &s, capacity }, seed);
            let text = || format!("SLUICE_SEED={seed}\n{:?}\n{s:?}\n{}", p.graph(), case.source);
            match verify(p, s.clone()) {
                Ok(v) => {
                    assert_eq!(run(v.capacity()), Does::Right, "the judge passes it\n{}", text());
                    passed += 1;
                }
                Err(faults) if faults == [Violation::EmptyFirstStage] => {}
                Err(faults) => {
                    let state = |v: &Violation| {
                        matches!(
                            v,
                            Violation::TooEarly { edge: None, .. }
                                | Violation::NotVisible { edge: None, .. }
                                | Violation::EmptyFirstStage
                        )
                    };
                    let done = run(&endless(p, &s));
                    if faults.iter().all(state) {
                        others += 1;
                        shown += u32::from(done != Does::Right);
                    } else {
                        assert_eq!(done, Does::Stops, "the judge refuses it: {faults:?}\n{}", text());
                        items += 1;
                    }
                }
            }
        }
    }
    let text = format!(
        "{programs} programs; {passed} passed, {items} refused for items, {others} for states, of which {shown} show"
    );
    if std::env::var("SLUICE_TELL").is_ok() {
        eprintln!("{text}");
    }
    if count >= BLOCK && (passed < 10 || items < 10) { Err(text.into()) } else { Ok(()) }
}

/// The program of the suite whose steady state has more firings than are simulated here.
const TOO_LONG: &str = "radar.str";

/// All programs of the suite, a few iterations of each: every so many-th, from one on.
fn suite(part: usize, parts: usize) -> Result<(), Failed> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(root().join("benchmarks"))?
        .flatten()
        .map(|e| e.path().join(e.file_name()).with_extension("str"))
        .filter(|p| p.exists())
        .collect();
    all.sort();
    if all.len() < 21 {
        return Err(format!("{} programs: where are the others?", all.len()).into());
    }
    let own: Vec<PathBuf> = all.into_iter().skip(part).step_by(parts).collect();
    let seen = programs(&own, Options { firings: 60_000, cycles: 30_000_000, exact: 0 })?;
    seen.judge(own.iter().filter(|p| !p.ends_with(TOO_LONG)).count() as u64, 2, false)
}

fn main() {
    let arguments = Arguments::from_args();
    let (first, count) = match std::env::var("SLUICE_SEED") {
        Ok(seed) => (seed.parse().expect("SLUICE_SEED is a number"), 1),
        Err(_) => {
            (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment("SLUICE_RANDOM_PROGRAMS", 200))
        }
    };
    let end = first + count;
    let mut trials: Vec<Trial> = (first..end)
        .step_by(BLOCK as usize)
        .map(|at| {
            let seeds = at..(at + BLOCK).min(end);
            Trial::test(format!("random_{}_to_{}", seeds.start, seeds.end - 1), move || random(seeds))
        })
        .collect();
    trials.extend((first..end).step_by(2 * BLOCK as usize).map(|at| {
        let seeds = at..(at + BLOCK).min(end);
        Trial::test(format!("changed_{}_to_{}", seeds.start, seeds.end - 1), move || by_chance(seeds))
    }));
    trials.push(Trial::test("changed_by_hand", by_hand));
    const PARTS: usize = 4;
    trials.extend((0..PARTS).map(|part| Trial::test(format!("suite_{part}"), move || suite(part, PARTS))));
    trials.extend((0..PARTS).map(|part| Trial::test(format!("corpus_{part}"), move || corpus(part, PARTS))));
    libtest_mimic::run(&arguments, trials).exit();
}
