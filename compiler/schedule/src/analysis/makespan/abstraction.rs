//! # abstraction
//!
//! Purpose: a finite graph that every schedule of a kernel, with any number of warps, is a walk in. Input: a [`Problem`] of few instructions.
//! Output: a [`Graph`]: classes of states, and for each the classes that one cycle can lead to, with the instructions that ran.
//!
//! A class knows, for each kind of unit: where there are at most [`Graph::few`] warps that wait for it, at which instructions they are, all of
//! them; where there are more ("many"), at which instructions there is any. What a cycle does to many is not determined: a warp that runs may have
//! been the last one at its instruction or not, and the many may be few from then on. The graph has an edge for each of these.
//!
//! And it knows the lead X of the load/store units over the cores, as far as it is small: instructions done by the former, times o_C, less those
//! done by the latter, times o_L. A cycle in which both are full does not change X; what is at an instruction tells how much it has
//! contributed to X, so an X that the warps of a class cannot add up to rules the class out.
//!
//! ```text
//! LLC, few = 1:   {many at 1; none}  →  L runs 1  →  {many at 1; C: one at 3}  or  {L: one at 1; C: one at 3}
//! ```
//!
//! Invariant: where a cycle leads from state s to state s', there is an edge from the class of s to that of s' with the instructions that ran.

use super::{Problem, Unit};
use std::collections::HashMap;

/// The most instructions of a kernel.
pub const MOST_INSTRUCTIONS: usize = 16;

/// The most warps that are counted: units that take more at once make too many classes.
const MOST_FEW: u32 = 8;
/// The most choices of warps for one kind of unit.
const MOST_RUNS: usize = 4096;

/// The most X of a class.
pub const MOST_LEADS: usize = 3;

/// By instruction, warps: all of them for a unit that has few, else 1 where there are any.
pub type Counts = [u8; MOST_INSTRUCTIONS];

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    counts: Counts,
    many: [bool; 2],
    /// Each X, at most [`Lead::most`] to either side; one more stands for all that is further.
    leads: [i8; MOST_LEADS],
}

/// X: how instructions change it, and what a warp at an instruction has contributed.
struct Lead {
    /// By instruction.
    step: Vec<i64>,
    /// By instruction, and of a warp that is done.
    at: Vec<i64>,
    most: i64,
}

impl Lead {
    fn new(problem: &Problem, of: u32, most: u32) -> Lead {
        let o = Unit::ALL.map(|u| i64::from(problem.at_once(u).min(problem.warps())));
        let g = sluice_frontend::steady_state::gcd(o[0] as u64, o[1] as u64) as i64;
        let of_unit = [o[1] / g, -o[0] / g];
        let step = |(i, u): (usize, &Unit)| if of >> i & 1 == 1 { of_unit[*u as usize] } else { 0 };
        let step: Vec<i64> = problem.units().iter().enumerate().map(step).collect();
        let mut at = vec![0];
        step.iter().for_each(|s| at.push(at[at.len() - 1] + s));
        Lead { step, at, most: (i64::from(most) * of_unit[0].max(-of_unit[1])).min(60) }
    }

    fn capped(&self, lead: i64) -> i8 {
        lead.clamp(-self.most - 1, self.most + 1) as i8
    }

    /// The X that can follow.
    fn after(&self, lead: i8, ran: &[u8]) -> Vec<i8> {
        let change: i64 = ran.iter().map(|i| self.step[*i as usize]).sum();
        let lead = i64::from(lead);
        let (beyond, next) = (lead.abs() > self.most, lead + change);
        let mut out = vec![self.capped(next)];
        if beyond && next.abs() <= lead.abs() && change != 0 {
            // It may be further away than it looks.
            let back: Vec<i64> =
                if lead > 0 { (next..=self.most + 1).collect() } else { (-self.most - 1..=next).collect() };
            out.extend(back.into_iter().map(|l| self.capped(l)));
            out.sort_unstable();
            out.dedup();
        }
        out
    }

    /// Can warps of these classes have contributed that much?
    fn fits(&self, lead: i8, class: &Class, units: &[Unit], few: usize) -> bool {
        let (mut least, mut most) = (Some(0i64), Some(0i64));
        let mut free = |each: i64, any: bool| {
            // More warps like these may be there.
            if any && each < 0 {
                least = None;
            }
            if any && each > 0 {
                most = None;
            }
        };
        free(self.at[units.len()], true);
        let mut sure = [0i64; 2];
        for unit in Unit::ALL {
            let many = class.many[unit as usize];
            let here = (0..units.len()).filter(|i| units[*i] == unit && class.counts[*i] > 0);
            let (mut count, mut low, mut high) = (0, i64::MAX, i64::MIN);
            for i in here {
                let n = i64::from(class.counts[i]);
                count += n;
                sure[0] += n * self.at[i];
                sure[1] += n * self.at[i];
                free(self.at[i], many);
                (low, high) = (low.min(self.at[i]), high.max(self.at[i]));
            }
            if many {
                let more = (few as i64 + 1 - count).max(0);
                sure[0] += more * low;
                sure[1] += more * high;
            }
        }
        let lead = i64::from(lead);
        let (from, to) = match lead {
            l if l > self.most => (l, i64::MAX),
            l if l < -self.most => (i64::MIN, l),
            l => (l, l),
        };
        least.is_none_or(|_| sure[0] <= to) && most.is_none_or(|_| sure[1] >= from)
    }
}

/// What leads from class to class.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The class that it leads to.
    pub to: u32,
    /// What ran: a place in [`Graph::choices`].
    pub choice: u32,
}

/// The classes that can be reached, class 0 is that of the beginning.
pub struct Graph {
    /// Warps for a unit that are counted.
    pub few: u32,
    /// By choice, the instructions at which warps ran in a cycle.
    pub choices: Vec<Vec<u8>>,
    /// By class, where its edges begin; one more than classes.
    pub first: Vec<u32>,
    /// Edges by class.
    pub edges: Vec<Edge>,
    /// The class in which all warps are done, where it was reached.
    pub end: Option<u32>,
    /// By class, the first instruction at which there is a warp, or the number of instructions.
    pub phase: Vec<u8>,
    /// By class and instruction, the fewest warps that are there.
    pub least: Vec<Counts>,
    problem: Problem,
    leads: Vec<Lead>,
    ids: HashMap<Class, u32>,
}

/// Limits of a graph.
#[derive(Clone, Debug)]
pub struct Size {
    /// Warps that are counted, at least o − 1 of both units (it is raised to that) and 1.
    pub few: u32,
    /// The most that each X is known to.
    pub lead: u32,
    /// The instructions that each X counts, as sets of bits; the first [`MOST_LEADS`] of these.
    pub leads: Vec<u32>,
    /// The most edges.
    pub edges: usize,
}

impl Graph {
    /// Makes it; `None` where the kernel is too long or the graph too large, or where `stop`, asked now and then, said so.
    pub fn new(problem: &Problem, size: &Size, stop: &dyn Fn() -> bool) -> Option<Graph> {
        let n = problem.units().len();
        if n > MOST_INSTRUCTIONS {
            return None;
        }
        let used =
            Unit::ALL.into_iter().filter(|u| problem.count(*u) > 0).map(|u| problem.at_once(u).min(problem.warps()));
        let few = size.few.max(used.max().unwrap_or(1) - 1).max(1);
        if few > MOST_FEW {
            return None;
        }
        let leads: Vec<Lead> =
            size.leads.iter().take(MOST_LEADS).map(|of| Lead::new(problem, *of, size.lead)).collect();
        let mut start = vec![0; n];
        start[0] = problem.warps();
        let start = class_of(problem, few, &leads, &start);
        let mut maker =
            Maker { problem, few: few as usize, leads, choices: HashMap::new(), list: Vec::new(), most: size.edges };
        let mut ids = HashMap::from([(start, 0u32)]);
        let (mut classes, mut first, mut edges) = (vec![start], vec![0u32], Vec::new());
        let mut at = 0;
        let mut out = Vec::new();
        while at < classes.len() {
            if at % 256 == 255 && stop() {
                return None;
            }
            out.clear();
            maker.successors(&classes[at], &mut out)?;
            for (class, choice) in &out {
                let next = ids.len() as u32;
                let to = *ids.entry(*class).or_insert_with(|| {
                    classes.push(*class);
                    next
                });
                edges.push(Edge { to, choice: *choice });
            }
            if edges.len() > size.edges {
                return None;
            }
            first.push(edges.len() as u32);
            at += 1;
        }
        let end = class_of(problem, few, &maker.leads, &vec![0; n]);
        let end = ids.get(&end).copied();
        let phase = classes.iter().map(|c| c.counts.iter().position(|k| *k > 0).unwrap_or(n) as u8).collect();
        let least = classes.iter().map(|c| c.counts).collect();
        Some(Graph {
            phase,
            least,
            few,
            choices: maker.list,
            first,
            edges,
            end,
            problem: problem.clone(),
            leads: maker.leads,
            ids,
        })
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.first.len() - 1
    }

    /// The class of a state: by instruction, the warps at it. `None` for states that cannot be reached.
    pub fn class(&self, counts: &[u32]) -> Option<u32> {
        self.ids.get(&class_of(&self.problem, self.few, &self.leads, counts)).copied()
    }

    /// The edges of a class.
    pub fn of(&self, class: usize) -> &[Edge] {
        &self.edges[self.first[class] as usize..self.first[class + 1] as usize]
    }
}

fn class_of(problem: &Problem, few: u32, leads: &[Lead], counts: &[u32]) -> Class {
    let units = problem.units();
    let done = i64::from(problem.warps()) - counts.iter().map(|n| i64::from(*n)).sum::<i64>();
    let mut class = Class { counts: Counts::default(), many: [false; 2], leads: [0; MOST_LEADS] };
    for (to, lead) in class.leads.iter_mut().zip(leads) {
        let sum: i64 = counts.iter().zip(&lead.at).map(|(n, x)| i64::from(*n) * x).sum();
        *to = lead.capped(sum + done * lead.at[units.len()]);
    }
    for unit in Unit::ALL {
        let of = || units.iter().zip(counts).enumerate().filter(move |(_, (u, _))| **u == unit);
        let sum: u64 = of().map(|(_, (_, n))| u64::from(*n)).sum();
        let many = sum > u64::from(few);
        class.many[unit as usize] = many;
        of().for_each(|(i, (_, n))| class.counts[i] = if many { u8::from(*n > 0) } else { *n as u8 });
    }
    class
}

struct Maker<'a> {
    problem: &'a Problem,
    few: usize,
    leads: Vec<Lead>,
    choices: HashMap<Vec<u8>, u32>,
    list: Vec<Vec<u8>>,
    /// The most edges of a graph.
    most: usize,
}

impl Maker<'_> {
    /// Every class that a cycle can lead to; `None` where they are too many.
    fn successors(&mut self, class: &Class, out: &mut Vec<(Class, u32)>) -> Option<()> {
        let [l, c] = Unit::ALL.map(|u| self.runs(class, u));
        let (l, c) = (l?, c?);
        for l in &l {
            for c in &c {
                let ran: Vec<u8> = l.iter().chain(c).copied().collect();
                if !ran.is_empty() {
                    self.after(class, ran, out);
                }
                if out.len() > self.most {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The lists of instructions at which warps of a unit can run.
    fn runs(&self, class: &Class, unit: Unit) -> Option<Vec<Vec<u8>>> {
        let o = self.problem.at_once(unit).min(self.problem.warps()) as usize;
        let at: Vec<usize> = (0..self.problem.units().len())
            .filter(|i| self.problem.units()[*i] == unit && class.counts[*i] > 0)
            .collect();
        let many = class.many[unit as usize];
        let ready: usize = at.iter().map(|i| class.counts[*i] as usize).sum();
        // Many are more than few, which is at least o − 1.
        let run = if many { o } else { o.min(ready) };
        let mut lists = vec![Vec::new()];
        for (k, i) in at.iter().enumerate() {
            let most = if many { o } else { class.counts[*i] as usize };
            let mut longer = Vec::new();
            for list in &lists {
                for more in 0..=most.min(run - list.len()) {
                    let mut list: Vec<u8> = list.clone();
                    list.extend(std::iter::repeat_n(*i as u8, more));
                    if k + 1 < at.len() || list.len() == run {
                        longer.push(list);
                    }
                }
            }
            lists = longer;
            if lists.len() > MOST_RUNS {
                return None;
            }
        }
        Some(lists)
    }

    /// What can be after a cycle in which warps at these instructions ran.
    fn after(&mut self, class: &Class, ran: Vec<u8>, out: &mut Vec<(Class, u32)>) {
        let units = self.problem.units();
        let mut moved = [0usize; MOST_INSTRUCTIONS];
        let mut came = [0usize; MOST_INSTRUCTIONS + 1];
        for i in &ran {
            moved[*i as usize] += 1;
            came[*i as usize + 1] += 1;
        }
        let sides = Unit::ALL.map(|unit| {
            let at: Vec<usize> = (0..units.len()).filter(|i| units[*i] == unit).collect();
            let gone: usize = at.iter().map(|i| moved[*i]).sum();
            let new: usize = at.iter().map(|i| came[*i]).sum();
            if !class.many[unit as usize] {
                let of = |i: &usize| class.counts[*i] as usize + came[*i] - moved[*i];
                let counts: Vec<usize> = at.iter().map(of).collect();
                return vec![side(self.few, &at, &counts)];
            }
            // Instructions that may be left by all.
            let open: Vec<usize> = at.iter().copied().filter(|i| moved[*i] > 0 && came[*i] == 0).collect();
            let mut all = Vec::new();
            for left in 0..1u32 << open.len() {
                let gone_from = |i: usize| open.iter().position(|o| *o == i).is_some_and(|k| left >> k & 1 == 1);
                let here: Vec<usize> =
                    at.iter().copied().filter(|i| (class.counts[*i] > 0 || came[*i] > 0) && !gone_from(*i)).collect();
                let mut counts = Counts::default();
                here.iter().for_each(|i| counts[*i] = 1);
                if !here.is_empty() {
                    all.push((counts, true));
                }
                // Or few from now on: there were more than few before, and where warps came there are as many at least.
                let least = (self.few + 1 + new - gone).max(here.len());
                for total in least..=self.few {
                    spread(&here, &came, total, &mut counts, &mut |c| all.push((*c, false)));
                }
            }
            all
        });
        let mut leads = vec![[0i8; MOST_LEADS]];
        for (k, lead) in self.leads.iter().enumerate() {
            let next = lead.after(class.leads[k], &ran);
            let with = |l: &[i8; MOST_LEADS], x: &i8| {
                let mut l = *l;
                l[k] = *x;
                l
            };
            leads = leads.iter().flat_map(|l| next.iter().map(move |x| with(l, x))).collect();
        }
        let next = self.list.len() as u32;
        let choice = *self.choices.entry(ran).or_insert_with_key(|ran| {
            self.list.push(ran.clone());
            next
        });
        for (l, l_many) in &sides[0] {
            for (c, c_many) in &sides[1] {
                let mut counts = *l;
                counts.iter_mut().zip(c).for_each(|(to, c)| *to += c);
                for leads in &leads {
                    let class = Class { counts, many: [*l_many, *c_many], leads: *leads };
                    let mut each = self.leads.iter().zip(leads);
                    if each.all(|(lead, x)| lead.fits(*x, &class, units, self.few)) {
                        out.push((class, choice));
                    }
                }
            }
        }
    }
}

/// One kind of unit, with these warps waiting for it.
fn side(few: usize, at: &[usize], now: &[usize]) -> (Counts, bool) {
    let many = now.iter().sum::<usize>() > few;
    let mut counts = Counts::default();
    at.iter().zip(now).for_each(|(i, n)| counts[*i] = if many { u8::from(*n > 0) } else { *n as u8 });
    (counts, many)
}

/// All ways for `total` warps to be at all of these instructions, at each at least as many as came and one.
fn spread(at: &[usize], came: &[usize], total: usize, counts: &mut Counts, found: &mut dyn FnMut(&Counts)) {
    let Some((i, rest)) = at.split_first() else {
        if total == 0 {
            found(counts);
        }
        return;
    };
    let before = counts[*i];
    for n in came[*i].max(1)..=total {
        counts[*i] = n as u8;
        spread(rest, came, total - n, counts, found);
    }
    counts[*i] = before;
}
