//! The worst case of a kernel on one multiprocessor: four ways to compute it, of which one is brute force over warps that have names, agree;
//! and no legal schedule takes longer.
//!
//! `SLUICE_SWEEP=SECONDS` tries all strings up to six instructions with up to four warps, each integer program for so many seconds, small ones first, and
//! none after `SLUICE_SWEEP_TOTAL` seconds; those that are stopped must still bracket the worst case. With `SLUICE_SWEEP_FILE=FILE` each answer is a line of that file, and
//! what is there already is not asked again: so the sweep goes on where it was stopped.
#![allow(clippy::disallowed_methods)]

mod dice;

use dice::Dice;
use sluice_schedule::analysis::makespan::exact::{Limits, exact};
use sluice_schedule::analysis::makespan::program::{self, Form};
use sluice_schedule::analysis::makespan::schedule::{judge, name_warps, simulate};
use sluice_schedule::analysis::makespan::{Capacity, Kernel, Machine, Problem, Unit, bounds};
use std::collections::HashMap;
use std::io::Write;

const ALL: Limits = Limits { states: 1 << 26, stop: &|| false };

/// The longest way from a state in which each warp has its own place: every set of warps that the rules let run is tried.
fn brute_force(problem: &Problem, done: Vec<u8>, known: &mut HashMap<Vec<u8>, u64>) -> u64 {
    if let Some(worst) = known.get(&done) {
        return *worst;
    }
    let units = problem.units();
    let ready = |unit| (0..done.len()).filter(|w| units.get(done[*w] as usize) == Some(&unit)).collect::<Vec<usize>>();
    let mut worst = 0;
    let [l, c] = Unit::ALL.map(|u| subsets(&ready(u), problem.at_once(u) as usize));
    for (l, c) in l.iter().flat_map(|l| c.iter().map(move |c| (l, c))) {
        let mut next = done.clone();
        l.iter().chain(c).for_each(|w| next[*w] += 1);
        if next != done {
            worst = worst.max(1 + brute_force(problem, next, known));
        }
    }
    known.insert(done, worst);
    worst
}

/// All sets of `size` of them, or of all where there are fewer.
fn subsets(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    let size = size.min(of.len());
    let all = 0u32..1 << of.len();
    let chosen = |set: u32| of.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, w)| *w).collect();
    all.filter(|set| set.count_ones() as usize == size).map(chosen).collect()
}

/// Half a warp, one and two per cycle.
fn machines() -> Vec<Machine> {
    let o = [(1, 2), (1, 1), (2, 1)].map(|(units, size)| Capacity::new(units, size).unwrap());
    o.iter().flat_map(|load_store| o.iter().map(|cores| Machine { load_store: *load_store, cores: *cores })).collect()
}

fn strings(longest: usize) -> Vec<Kernel> {
    let of = |length: usize, bits: u32| {
        Kernel::new((0..length).map(|i| if bits >> i & 1 == 0 { Unit::LoadStore } else { Unit::Core }).collect())
    };
    (1..=longest).flat_map(|length| (0..1 << length).map(move |bits| of(length, bits))).collect()
}

/// The worst case, checked against brute force, its own witness and the bounds.
fn checked(p: &Problem) -> u64 {
    let table = exact(p, ALL).unwrap();
    let worst = table.worst(p.warps());
    let brute = brute_force(p, vec![0; p.warps() as usize], &mut HashMap::new());
    assert_eq!(worst, brute, "{} {p:?}", p.kernel());
    assert_eq!(judge(p, &name_warps(p, &table.witness(p.warps())).unwrap()), Ok(worst), "{p:?}");
    assert!(bounds::shortest(p) <= worst && worst <= bounds::sound(p), "{p:?}");
    assert!(!bounds::paper_is_sound(p) || worst <= bounds::paper(p), "{p:?}");
    worst
}

fn sweep() -> bool {
    seconds().is_some()
}

fn seconds() -> Option<f64> {
    std::env::var("SLUICE_SWEEP").ok()?.parse().ok()
}

#[test]
fn the_dynamic_programme_agrees_with_brute_force() {
    let mut not_bounded = 0;
    for kernel in strings(6) {
        for machine in machines() {
            for warps in 1..=4 {
                let p = Problem::new(&kernel, &machine, warps).unwrap();
                // Brute force on twelve instructions of four warps is for the sweep.
                if p.units().len() as u64 * warps <= 26 || sweep() {
                    not_bounded += usize::from(checked(&p) > bounds::paper(&p));
                }
            }
        }
    }
    assert!(not_bounded > 0, "the paper's bound is none for o = 2");
}

/// What came of the cases of one number of warps with one form.
#[derive(Clone, Copy, Default)]
struct Swept {
    agreed: u32,
    stopped: u32,
}

/// A problem with a form, as a line of the sweep's file begins.
fn name(p: &Problem, form: Form) -> String {
    let o = Unit::ALL.map(|u| p.at_once(u));
    format!("{form:?} {} W {} o {} {}", p.kernel(), p.warps(), o[0], o[1])
}

/// By form and warps. Those of `of` that are in neither number were not tried.
fn table(swept: &[[Swept; 4]; 2], of: &[u32; 4]) -> String {
    let mut text =
        "| W | form | problems | agreed | CBC did not end | not tried |\n|--:|---|--:|--:|--:|--:|\n".to_string();
    for (form, by_warps) in ["short", "long"].iter().zip(swept) {
        for ((w, s), all) in (1..).zip(by_warps).zip(of) {
            let open = all - s.agreed - s.stopped;
            text += &format!("| {w} | {form} | {all} | {} | {} | {open} |\n", s.agreed, s.stopped);
        }
    }
    text
}

/// CBC's answer, if it ended in time: checked against the worst case, whether it ended or not.
fn asked(p: &Problem, form: Form, worst: u64, limit: f64) -> bool {
    let start = std::time::Instant::now();
    let answer = program::solve(p, form, &|| Some(limit - start.elapsed().as_secs_f64()));
    assert!(answer.bound >= worst, "{form:?} {p:?}");
    if let Some(s) = &answer.witness {
        assert!(judge(p, s).unwrap() <= worst, "{form:?} {p:?}");
    }
    assert!(!answer.exact || answer.bound == worst, "{form:?} {p:?}");
    answer.exact
}

#[test]
fn the_integer_programs_agree() {
    let limit = seconds().unwrap_or(60.0);
    let total = std::env::var("SLUICE_SWEEP_TOTAL").ok().and_then(|t| t.parse().ok()).unwrap_or(f64::INFINITY);
    let file = std::env::var("SLUICE_SWEEP_FILE").ok();
    let begun = std::time::Instant::now();
    let of = |kernel: &Kernel| -> Vec<Problem> {
        let of = |m: &Machine| (1..=4).map(|w| Problem::new(kernel, m, w).unwrap()).collect::<Vec<_>>();
        machines().iter().flat_map(of).collect()
    };
    let mut cases: Vec<Problem> = strings(6).iter().flat_map(of).collect();
    // What CBC can do first.
    cases.sort_by_key(program::variables);
    cases.retain(|p| sweep() || program::variables(p) <= 45);
    let before = file.as_ref().and_then(|f| std::fs::read_to_string(f).ok()).unwrap_or_default();
    // Half kernels, LL for an L, are among the problems under their own name, too: each is asked as often as it is there.
    let mut before: HashMap<&str, Vec<bool>> =
        before.lines().filter_map(|l| l.split_once(": ")).fold(HashMap::new(), |mut all, (name, said)| {
            all.entry(name).or_default().push(said.starts_with("agreed"));
            all
        });
    let mut keep = file.as_ref().map(|f| std::fs::File::options().append(true).create(true).open(f).unwrap());
    let mut swept = [[Swept::default(); 4]; 2];
    let problems = [1, 2, 3, 4].map(|w| cases.iter().filter(|p| p.warps() == w).count() as u32);
    for (k, p) in cases.iter().enumerate() {
        if k % 200 == 199 && sweep() {
            println!("{k} of {}:\n{}", cases.len(), table(&swept, &problems));
        }
        for form in [Form::Short, Form::Long] {
            let name = name(p, form);
            let known = before.get_mut(name.as_str()).and_then(Vec::pop);
            if known.is_none() && begun.elapsed().as_secs_f64() > total {
                continue;
            }
            let start = std::time::Instant::now();
            let agreed = known.unwrap_or_else(|| asked(p, form, exact(p, ALL).unwrap().worst(p.warps()), limit));
            if let (None, Some(file)) = (known, &mut keep) {
                let said = if agreed { "agreed" } else { "not in time" };
                writeln!(file, "{name}: {said}, {:.2} s", start.elapsed().as_secs_f64()).unwrap();
            }
            let to = &mut swept[form as usize][p.warps() as usize - 1];
            if agreed {
                to.agreed += 1;
            } else {
                println!("not in time: {name}");
                to.stopped += 1;
            }
        }
    }
    println!("{}", table(&swept, &problems));
    let all: Vec<Swept> = swept.concat();
    assert!(sweep() || all.iter().all(|s| s.stopped == 0));
    let agreed = |form: usize| swept[form].iter().map(|s| s.agreed).sum::<u32>();
    assert!(agreed(0) > 100 && agreed(1) > 100, "{} {}", agreed(0), agreed(1));
}

#[test]
fn no_legal_schedule_takes_longer() {
    let mut dice = Dice::new(6);
    let machines = machines();
    for _ in 0..if sweep() { 20_000 } else { 400 } {
        let length = 1 + dice.roll(8);
        let units = (0..length).map(|_| if dice.roll(2) == 0 { Unit::LoadStore } else { Unit::Core }).collect();
        let machine = &machines[dice.roll(9) as usize];
        let p = Problem::new(&Kernel::new(units), machine, 1 + dice.roll(6)).unwrap();
        let Ok(table) = exact(&p, Limits { states: 1 << 18, ..ALL }) else { continue };
        let worst = table.worst(p.warps());
        for _ in 0..20 {
            let s = simulate(&p, |_, ready, run| {
                for i in 0..run {
                    ready.swap(i, i + dice.roll((ready.len() - i) as u64) as usize);
                }
            });
            let length = judge(&p, &s).unwrap();
            assert!(bounds::shortest(&p) <= length && length <= worst, "{length} > {worst}: {} {p:?}", p.kernel());
        }
    }
}

#[test]
fn more_warps_take_longer_and_every_number_is_in_one_table() {
    let p = Problem::new(&"LCCLC".parse().unwrap(), &Machine::ONE, 12).unwrap();
    let table = exact(&p, ALL).unwrap();
    for warps in 1..=12 {
        assert_eq!(table.worst(warps), exact(&p.with_warps(warps), ALL).unwrap().worst(warps));
    }
}
