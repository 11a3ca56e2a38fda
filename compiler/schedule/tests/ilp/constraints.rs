//! Each rule of the model is needed: without it there are values that the model takes for right, and that mean no schedule, or one that is better
//! than any.

use crate::brute;
use crate::graphs::{self, pipeline};
use sluice_schedule::analysis::bounds::bounds;
use sluice_schedule::ilp::cbc::{self, Limits, Status};
use sluice_schedule::ilp::formulation::{Aim, Program};
use sluice_schedule::ilp::model::{Broken, Model};
use sluice_schedule::problem::judge::verify;
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};

const ALL: Limits = Limits { seconds: None, nodes: None, gap: 0.0 };

fn objective(model: &Model) -> f64 {
    let out = cbc::solve(model, &ALL, None);
    assert_eq!(out.status, Status::Optimal);
    model.value(&out.values.unwrap())
}

/// Without the rule the optimum is wrong: no schedule, one that the judge refuses, or an objective that is too good.
fn wrong_without(problem: &ModuloProblem, ii: u64, aim: Aim, rule: &str) {
    let b = bounds(problem);
    let program = Program::new(problem, &b.groups, ii, 4, aim);
    let right = cbc::solve(&program.model, &ALL, None).values.expect("a schedule");
    let schedule = program.schedule(&right).unwrap();
    assert!(verify(problem, schedule).is_ok());
    let less = program.model.clone().without(rule);
    assert!(less.rows.len() < program.model.rows.len(), "no row of {rule}");
    let values = cbc::solve(&less, &ALL, None).values.expect("values");
    assert!(matches!(program.model.check(&values), Err(Broken::Row(r, ..)) if r == rule), "{rule}: {values:?}");
    let refused = program.schedule(&values).is_none_or(|s| verify(problem, s).is_err());
    assert!(refused || less.value(&values) < program.model.value(&right) - 1e-6, "{rule}");
}

fn two_by_two() -> ModuloProblem {
    ModuloProblem::new(pipeline(&[(2, 3), (2, 3)]), 2).unwrap()
}

/// Something has to cross on two processors with an interval of 6.
fn figure_4() -> ModuloProblem {
    ModuloProblem::new(pipeline(&[(3, 2), (2, 3)]), 2).unwrap()
}

#[test]
fn rule_1_each_instance_runs_somewhere() {
    wrong_without(&two_by_two(), 6, Aim::Stages, "(1)");
}

#[test]
fn rule_2_a_processor_is_not_overfull() {
    let problem = ModuloProblem::new(pipeline(&[(1, 3), (1, 3)]), 2).unwrap();
    wrong_without(&problem, 3, Aim::Stages, "(2)");
}

/// Two tasks in a loop share a processor; with a start beyond the kernel's end the second could be a kernel before the first.
#[test]
fn rule_4_an_instance_ends_with_the_kernel() {
    let tasks = vec![graphs::task("A", 1, 3, false), graphs::task("B", 1, 3, false)];
    let edges = vec![graphs::edge(&tasks, [0, 1], 4, 0, 0), graphs::edge(&tasks, [1, 0], 1, 0, 1)];
    let problem = ModuloProblem::new(graphs::graph(tasks, edges), 2).unwrap();
    wrong_without(&problem, 6, Aim::Bytes, "(4)");
}

#[test]
fn rule_7_g_says_whether_processors_differ() {
    wrong_without(&figure_4(), 6, Aim::Stages, "(7)");
}

#[test]
fn rule_8_same_processor() {
    let tasks = vec![graphs::task("A", 1, 3, false), graphs::task("B", 1, 3, false)];
    let edges = vec![graphs::edge(&tasks, [0, 1], 4, 0, 0), graphs::edge(&tasks, [1, 0], 1, 0, 1)];
    let problem = ModuloProblem::new(graphs::graph(tasks, edges), 2).unwrap();
    wrong_without(&problem, 6, Aim::Bytes, "(8a)");
}

#[test]
fn rule_8_other_processor() {
    wrong_without(&figure_4(), 6, Aim::Stages, "(8b)");
}

#[test]
fn rule_11_stages_are_counted() {
    let problem = ModuloProblem::new(pipeline(&[(1, 3), (1, 3)]), 2).unwrap();
    wrong_without(&problem, 3, Aim::Stages, "(11)");
}

#[test]
fn rule_12_buffers_hold_what_is_between() {
    wrong_without(&two_by_two(), 6, Aim::Bytes, "(12)");
}

/// Rules 5 and 6 are the dependences: a peek is one, too.
#[test]
fn rule_5_what_is_peeked_has_been_made() {
    let tasks = vec![graphs::task("A", 2, 3, false), graphs::task("B", 2, 3, false)];
    let beyond = |items| {
        let mut e = graphs::edge(&tasks, [0, 1], 1, 0, 0);
        (e.peek, e.initial) = (e.consume + items, items);
        ModuloProblem::new(graphs::graph(tasks.clone(), vec![e]), 2).unwrap()
    };
    let pairs = |p: &ModuloProblem| p.dependences().iter().map(|d| (d.from, d.to, d.distance)).collect::<Vec<_>>();
    assert_eq!(pairs(&beyond(0)), [(0, 2, 0), (1, 3, 0)]);
    // One item is there already; what is seen last is made where it was before.
    assert_eq!(pairs(&beyond(1)), [(0, 2, 0), (1, 2, 1), (0, 3, 0), (1, 3, 0)]);
}

/// Rules 9 and 10 take nothing away but names: the optimum stays, and of the assignments that are equal but for names, one is left.
#[test]
fn rules_9_and_10_only_take_names_away() {
    let problem = ModuloProblem::new(pipeline(&[(1, 4), (3, 3), (1, 2)]), 3).unwrap();
    let b = bounds(&problem);
    let (ii, ..) = brute::everything(&problem, 3);
    for aim in [Aim::Stages, Aim::Bytes] {
        let program = Program::new(&problem, &b.groups, ii, 4, aim);
        let model = &program.model;
        let all = objective(model);
        for rule in ["(9)", "(10)"] {
            assert!((objective(&model.clone().without(rule)) - all).abs() < 1e-6, "{rule}");
        }
    }
    // A on 0, the first B on 2: processor 1 is skipped. And the B in the wrong order.
    let program = Program::new(&problem, &b.groups, 15, 4, Aim::Stages);
    let free = program.model.clone().without("(9)").without("(10)");
    let mut left = 0;
    for (processor, valid) in all_assignments(5, 3).into_iter().filter_map(|a| Some((a.clone(), stages(&problem, &a)?)))
    {
        let s = ModuloSchedule { ii: 15, processor: processor.clone(), start: valid.start, stage: valid.stage };
        let mut values = program.values(&s);
        assert_eq!(program.model.check(&values), Ok(()), "{processor:?}");
        // The same without the renaming.
        rename(&program, &problem, &s, &mut values);
        assert_eq!(free.columns.len(), values.len());
        left += usize::from(program.model.check(&values).is_ok());
    }
    // Of 3^5 assignments: A on 0; and for the three B and C what is not the same after renaming.
    assert!((10..60).contains(&left), "{left}");
}

fn all_assignments(instances: usize, processors: u32) -> Vec<Vec<u32>> {
    (0..processors.pow(instances as u32))
        .map(|code| (0..instances as u32).map(|i| code / processors.pow(i) % processors).collect())
        .collect()
}

fn stages(problem: &ModuloProblem, processor: &[u32]) -> Option<ModuloSchedule> {
    let stage = sluice_schedule::ilp::finish::least_stages(problem, processor)?;
    sluice_schedule::ilp::finish::arrange(problem, processor, &stage, &[0.0; 5])
}

/// Writes an assignment into values as it is: columns of w come first, group by group.
fn rename(program: &Program, problem: &ModuloProblem, s: &ModuloSchedule, values: &mut [f64]) {
    let fresh = program.values(s);
    values.copy_from_slice(&fresh);
    let groups = bounds(problem).groups;
    let processors = 3;
    for i in 0..problem.instances() {
        let x = groups.of[i] as usize;
        for p in 0..processors {
            values[x * processors + p] = f64::from(u8::from(s.processor[i] as usize == p));
        }
    }
}
