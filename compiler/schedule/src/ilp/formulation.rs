//! # formulation
//!
//! Purpose: the integer program of paper 001, section III, as algorithms.md (section 2) corrects it, for one initiation interval T. Input: problem,
//! groups of instances that must share a processor, T. Output: a [`Program`], a model and the way back from its values.
//!
//! Rows carry the number of their equation:
//! ```text
//! (1)  Σ_p w[x,p] = 1                              each group x of instances runs on one processor
//! (2)  Σ_x w[x,p]·d(x) ≤ T                         for every processor p
//! (4)  o[i] + d(i) ≤ T                             "≤", the paper's "<" can never be met by a full processor
//! (7)  g[x,y] ≥ ±(w[x,p] − w[y,p])                 for every p: 1 where the processors differ
//! (8)  T·f[v] + o[v] ≥ T·(f[u] − distance) + o[u] + d(u)      same processor: ready when the producer ends
//!      f[v] ≥ f[u] − distance + g                  another one: in the next kernel, see below
//! (9)  processors are numbered as they are first used; (10) equal instances are in order
//! (11) last ≥ f[i]                                 stages, less 1
//! (12) capacity ≥ newest − oldest                  as the judge has it, see [`super::buffers`]
//! ```
//! (3) is the meaning of f and o, (5) and (6) make the dependences ([`crate::problem::dependences`]). The second part of (8) is printed
//! `T·f[v] + o[v] ≥ T·(f[u] − distance + g)`; as o is less than T and f whole, that is the same for whole numbers, and closer for fractions. w is one
//! variable for a group (its instances' w are equal), g one for two groups. All times are divided by T but for (2), which has to be exact.
//!
//! (9): two assignments that differ in the numbers of processors are one. (10): instances of a task that wait for the same and are
//! waited for by the same can change places; their processors are in order or, where bytes count, their stages, for a buffer is never larger when
//! those of its later items come later. Both keep, of solutions that are equal but for names, the one that is first by (9)'s order.

use super::buffers::Buffers;
use super::finish;
use super::model::{Model, Var};
use crate::analysis::glue::Groups;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::BTreeMap;

/// Coefficients of (2) stay below this: beyond, cycles are taken together.
const FINEST: f64 = 1e6;
/// Rows of (9) are made for this many groups: more of them cost more than they save.
const ORDERED: usize = 64;

/// What is to be as small as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Nothing: any schedule with this II.
    Feasible,
    /// The number of stages.
    Stages,
    /// Bytes of all buffers.
    Bytes,
}

/// The model of a problem at one II.
pub struct Program<'a> {
    /// The model.
    pub model: Model,
    problem: &'a ModuloProblem,
    groups: &'a Groups,
    ii: u64,
    aim: Aim,
    processors: usize,
    /// By group and processor.
    w: Vec<Vec<Var>>,
    /// By instance.
    o: Vec<Var>,
    f: Vec<Var>,
    g: BTreeMap<(u32, u32), Var>,
    last: Var,
    buffers: Option<Buffers>,
    classes: Vec<Vec<usize>>,
}

/// How many w a program has.
pub fn binaries(problem: &ModuloProblem, groups: &Groups) -> usize {
    groups.members.len() * groups.members.len().min(problem.processors() as usize)
}

impl<'a> Program<'a> {
    /// Makes the model; no stage is beyond `most_stage`.
    pub fn new(problem: &'a ModuloProblem, groups: &'a Groups, ii: u64, most_stage: u32, aim: Aim) -> Program<'a> {
        let mut model = Model::default();
        let n = problem.instances();
        let count = groups.members.len();
        let processors = count.min(problem.processors() as usize);
        let w: Vec<Vec<Var>> = (0..count).map(|_| (0..processors).map(|_| model.binary()).collect()).collect();
        let f: Vec<Var> = (0..n).map(|_| model.var(0.0, most_stage.into(), true)).collect();
        let o: Vec<Var> = (0..n).map(|_| model.var(0.0, f64::INFINITY, false)).collect();
        let last = model.var(0.0, most_stage.into(), true);
        let classes = equal_instances(problem, groups);
        let mut p = Program {
            model,
            problem,
            groups,
            ii,
            aim,
            processors,
            w,
            o,
            f,
            g: BTreeMap::new(),
            last,
            buffers: None,
            classes,
        };
        p.resources();
        p.dependences();
        p.symmetry();
        match aim {
            Aim::Feasible => {}
            Aim::Stages => {
                for f in &p.f {
                    p.model.at_least("(11)", [(last, 1.0), (*f, -1.0)], 0.0);
                }
                p.model.objective[last.0] = 1.0;
            }
            Aim::Bytes => p.buffers = Some(Buffers::new(&mut p.model, problem, &p.f)),
        }
        p
    }

    fn in_intervals(&self, cycles: u64) -> f64 {
        cycles as f64 / self.ii as f64
    }

    fn resources(&mut self) {
        for w in &self.w {
            self.model.equal("(1)", w.iter().map(|w| (*w, 1.0)), 1.0);
        }
        let scale = (self.ii as f64 / FINEST).max(1.0);
        for p in 0..self.processors {
            let terms = self.w.iter().zip(&self.groups.cost).map(|(w, cost)| (w[p], *cost as f64 / scale));
            self.model.at_most("(2)", terms, self.ii as f64 / scale);
        }
        for i in 0..self.o.len() {
            let most = 1.0 - self.in_intervals(self.problem.cost(i));
            self.model.at_most("(4)", [(self.o[i], 1.0)], most);
        }
    }

    fn dependences(&mut self) {
        let problem = self.problem;
        for d in problem.dependences().iter().filter(|d| d.from != d.to) {
            let [fu, fv, ou, ov] = [self.f[d.from], self.f[d.to], self.o[d.from], self.o[d.to]];
            let distance = d.distance as f64;
            let ready = self.in_intervals(problem.cost(d.from)) - distance;
            self.model.at_least("(8a)", [(fv, 1.0), (ov, 1.0), (fu, -1.0), (ou, -1.0)], ready);
            if let Some(g) = self.crosses(self.groups.of[d.from], self.groups.of[d.to]) {
                self.model.at_least("(8b)", [(fv, 1.0), (fu, -1.0), (g, -1.0)], -distance);
            }
        }
    }

    /// g of two groups; none where they are one.
    fn crosses(&mut self, x: u32, y: u32) -> Option<Var> {
        if x == y {
            return None;
        }
        let pair = (x.min(y), x.max(y));
        if let Some(g) = self.g.get(&pair) {
            return Some(*g);
        }
        // With whole w, g is whole at its least; it need not be declared so.
        let g = self.model.var(0.0, 1.0, false);
        for p in 0..self.processors {
            let (a, b) = (self.w[pair.0 as usize][p], self.w[pair.1 as usize][p]);
            self.model.at_least("(7)", [(g, 1.0), (a, -1.0), (b, 1.0)], 0.0);
            self.model.at_least("(7)", [(g, 1.0), (a, 1.0), (b, -1.0)], 0.0);
        }
        self.g.insert(pair, g);
        Some(g)
    }

    fn symmetry(&mut self) {
        for x in 0..self.w.len().min(ORDERED) {
            for p in x + 1..self.processors {
                self.model.columns[self.w[x][p].0].upper = 0.0;
            }
            for p in 1..self.processors.min(x + 1) {
                let before = (0..x).map(|y| (self.w[y][p - 1], 1.0));
                let row: Vec<_> = before.chain([(self.w[x][p], -1.0)]).collect();
                self.model.at_least("(9)", row, 0.0);
            }
        }
        for class in &self.classes {
            for pair in class.windows(2) {
                let (a, b) = (pair[0], pair[1]);
                if self.aim == Aim::Bytes {
                    self.model.at_least("(10)", [(self.f[b], 1.0), (self.f[a], -1.0)], 0.0);
                    continue;
                }
                let at = |i: usize, sign: f64| {
                    let w = &self.w[self.groups.of[i] as usize];
                    w.iter().enumerate().map(move |(p, w)| (*w, sign * p as f64))
                };
                let row: Vec<_> = at(b, 1.0).chain(at(a, -1.0)).collect();
                self.model.at_least("(10)", row, 0.0);
            }
        }
    }

    /// Bytes of all buffers for an objective, where that is bytes.
    pub fn bytes(&self, objective: f64) -> f64 {
        self.buffers.as_ref().map_or(0.0, |b| b.bytes(objective))
    }

    /// By how much the objectives of two schedules differ at least, if they do.
    pub fn step(&self) -> f64 {
        self.buffers.as_ref().map_or(1.0, Buffers::step)
    }

    /// The schedule that values stand for; its II is what its processors need, at most T. `None` where the values, computed again in whole
    /// numbers, break a rule after all.
    pub fn schedule(&self, values: &[f64]) -> Option<ModuloSchedule> {
        let n = self.problem.instances();
        let on = |x: usize| self.w[x].iter().position(|w| values[w.0] > 0.5);
        let by_group: Vec<u32> = (0..self.w.len()).map(|x| on(x).map(|p| p as u32)).collect::<Option<_>>()?;
        let processor: Vec<u32> = (0..n).map(|i| by_group[self.groups.of[i] as usize]).collect();
        let stage: Vec<u32> = self.f.iter().map(|f| values[f.0].round() as u32).collect();
        let wish: Vec<f64> = self.o.iter().map(|o| values[o.0]).collect();
        let s = finish::arrange(self.problem, &processor, &stage, &wish)?;
        (s.ii <= self.ii).then_some(s)
    }

    /// The values that stand for a schedule whose II is at most T, names put in order as (9) and (10) want it.
    pub fn values(&self, s: &ModuloSchedule) -> Vec<f64> {
        let mut values = vec![0.0; self.model.columns.len()];
        let (body, name) = self.ordered(s);
        let mut on = vec![0; self.w.len()];
        for i in 0..self.problem.instances() {
            let b = body[i];
            values[self.f[i].0] = s.stage[b].into();
            values[self.o[i].0] = self.in_intervals(s.start[b]);
            let x = self.groups.of[i] as usize;
            on[x] = name[s.processor[b] as usize];
            values[self.w[x][on[x]].0] = 1.0;
        }
        for ((x, y), g) in &self.g {
            values[g.0] = f64::from(u8::from(on[*x as usize] != on[*y as usize]));
        }
        if self.aim == Aim::Stages {
            values[self.last.0] = s.stage.iter().max().copied().unwrap_or(0).into();
        }
        if let Some(b) = &self.buffers {
            b.fill(self.problem, &self.f, &mut values);
        }
        values
    }

    /// By instance, the one whose place it takes; by processor, its name.
    fn ordered(&self, s: &ModuloSchedule) -> (Vec<usize>, Vec<usize>) {
        let mut body: Vec<usize> = (0..self.problem.instances()).collect();
        let mut name = vec![usize::MAX; self.problem.processors() as usize];
        let mut class_of = BTreeMap::new();
        for (c, class) in self.classes.iter().enumerate() {
            class_of.extend(class.iter().map(|i| (*i, c)));
        }
        let mut left = self.classes.clone();
        if self.aim == Aim::Bytes {
            for (class, left) in self.classes.iter().zip(&mut left) {
                left.sort_by_key(|i| s.stage[*i]);
                class.iter().zip(left.iter()).for_each(|(i, b)| body[*i] = *b);
            }
        }
        let mut used = 0;
        for members in &self.groups.members {
            let first = members[0];
            if let Some(c) = class_of.get(&first).filter(|_| self.aim != Aim::Bytes) {
                let next = (0..left[*c].len()).min_by_key(|at| name[s.processor[left[*c][*at]] as usize]);
                body[first] = next.map_or(first, |at| left[*c].remove(at));
            }
            let at = &mut name[s.processor[body[first]] as usize];
            if *at == usize::MAX {
                *at = used;
                used += 1;
            }
        }
        (body, name)
    }
}

/// Classes of instances, each alone in its group, that the same instances wait for and that wait for the same; in order of
/// their groups, which is also that of their numbers.
fn equal_instances(problem: &ModuloProblem, groups: &Groups) -> Vec<Vec<usize>> {
    let n = problem.instances();
    let (mut inputs, mut outputs) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for d in problem.dependences() {
        inputs[d.to].push((d.from, d.distance));
        outputs[d.from].push((d.to, d.distance));
    }
    inputs.iter_mut().chain(&mut outputs).for_each(|list| list.sort_unstable());
    let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for i in (0..n).filter(|i| groups.members[groups.of[*i] as usize].len() == 1) {
        classes.entry((problem.task_of(i), &inputs[i], &outputs[i])).or_default().push(i);
    }
    let mut classes: Vec<Vec<usize>> = classes.into_values().filter(|c| c.len() > 1).collect();
    classes.iter_mut().for_each(|c| c.sort_by_key(|i| groups.of[*i]));
    classes
}
