//! Back ends that are right, some that are not, and faults planted in generated text.

use super::*;
use crate::run::{check, compile_changed, compile_on_device};
use sluice_driver::options::{CudaOptions, Scheme};
use std::collections::BTreeSet;

const SUM: &str = "int->int pipeline Main {
    add int->int filter { work pop 1 push 1 { push(pop() * 3); } };
    add int->int filter { int sum; work peek 5 pop 3 push 2 { sum += peek(4); push(sum); push(peek(1)); pop(); pop(); pop(); } };
}";

const FEW: Most = Most { firings: 4000, units: 20, bytes: 1 << 20 };

fn case(source: &str) -> Case {
    let input = (1..=9i32).flat_map(i32::to_le_bytes).collect();
    Case { source: source.into(), input: Some(input), iterations: None, hazards: false, channel_limit: None }
}

/// A small device of two multiprocessors.
fn on_two(scheme: Scheme) -> CudaOptions {
    CudaOptions {
        emulate: true,
        scheme: Some(scheme),
        processors: Some(2),
        block_threads: Some(32),
        ..CudaOptions::default()
    }
}

#[test]
fn lengths_around_a_steady_state() {
    let checked = check(SUM).unwrap();
    let bytes: Vec<usize> =
        lengths(&checked.program, &case(SUM), 5, FEW).iter().map(|c| c.input.as_ref().map_or(0, Vec::len)).collect();
    // two items before the steady state, three in each
    assert_eq!(bytes, [36, 0, 4, 16, 20, 64, 68, (2 + 33 + 1) * 4, (2 + 96 + 1) * 4, (2 + 300 + 1) * 4]);
    let made = "void->void pipeline Main {
    add void->int filter { work push 2 { push(iter()); push(7); } };
    add int->void filter { work pop 1 { println(pop()); } };
}";
    let checked = check(made).unwrap();
    let case = Case { input: None, iterations: Some(3), ..case(made) };
    let iterations: BTreeSet<u64> =
        lengths(&checked.program, &case, 5, FEW).iter().filter_map(|c| c.iterations).collect();
    assert_eq!(iterations, BTreeSet::from([0, 1, 3, 4, 5, 6, 32, 100]));
}

/// Back ends that do the right thing, and some that do not.
#[test]
fn what_is_wrong_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let checked = check(SUM).unwrap();
    let cases = lengths(&checked.program, &case(SUM), 5, FEW);
    let honest = |c: &Case| run(&checked, c, None, Feed::default(), folder.path());
    let tried = agree(&checked, &cases, folder.path(), &mut |c| honest(c)).unwrap();
    assert_eq!((tried.runs, tried.failed, tried.steady_states), (10, 0, 100));
    assert_eq!(tried.output, 7, "an input of four items is too short");
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        agree(&checked, &cases, folder.path(), &mut |c| {
            let mut outcome = honest(c);
            if let Outcome::Done { written, .. } = &mut outcome {
                written.values_mut().for_each(change);
            }
            outcome
        })
    };
    assert!(with(&|_| ()).is_ok());
    type Wrong<'a> = (&'a str, &'a dyn Fn(&mut Vec<u8>));
    let wrong: [Wrong; 3] = [
        ("an item is lost", &|w| w.truncate(w.len().saturating_sub(4))),
        ("a late item is another", &|w| w.iter_mut().skip(790).take(1).for_each(|b| *b ^= 1)),
        ("the first steady state is another", &|w| {
            if w.len() == 8 {
                w[3] = 1;
            }
        }),
    ];
    for (what, change) in wrong {
        assert!(matches!(with(change), Err(Complaint::Different(..))), "{what}");
    }
    let fails = |_: &Case| Outcome::Failed(Exit::Internal, "a barrier is missing".into(), Vec::new());
    let Err(Complaint::Different(_, why)) = agree(&checked, &cases, folder.path(), &mut fails.clone()) else {
        panic!("a back end that fails is right")
    };
    assert!(why.contains("a barrier is missing"), "{why}");
}

/// Faults in the generated text, each by all schemes.
#[test]
fn what_is_planted_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let checked = check(SUM).unwrap();
    let every = |text: &mut String, from: &str, to: &str| *text = text.replace(from, to);
    type Plant<'a> = (&'a str, &'a dyn Fn(&mut String));
    let plants: [Plant; 7] = [
        ("nothing", &|_| ()),
        ("barriers are missing", &|t| every(t, "sl_sync();", ";")),
        ("a constant is another", &|t| every(t, "* 3", "* 5")),
        ("state is not kept", &|t| every(t, "sl_item<true>(state) = st;", ";")),
        ("a peek is one too far", &|t| every(t, "in[4]", "in[5]")),
        ("a stage is an interval too early", &|t| every(t, "t - 1u", "t - 0u")),
        ("barriers of the grid are missing", &|t| every(t, "sl_grid_sync(&", "(void)(&")),
    ];
    let mut planted = BTreeSet::new();
    for (scheme, (what, plant)) in Configuration::schemes().into_iter().flat_map(|s| plants.map(|p| (s, p))) {
        let cuda = on_two(scheme);
        let mut changed = false;
        let made = compile_changed(&checked, &cuda, &mut |text| {
            // the support before it stays as it is
            let at = text.find("sl_state_0").unwrap_or(0);
            let mut own = text.split_off(at);
            let before = own.clone();
            plant(&mut own);
            changed = own != before;
            text.push_str(&own);
        });
        let (program, code) = made.unwrap_or_else(|why| panic!("{}, {what}: {why}", scheme.name()));
        let cases = lengths(&checked.program, &case(SUM), code.unit, MOST);
        let mut on_device = |c: &Case| run(&program, c, Some(&code), Feed::default(), folder.path());
        let seen = agree(&checked, &cases, folder.path(), &mut on_device);
        match (changed, seen) {
            (false, Ok(_)) => assert!(code.launches() > 0, "{}", scheme.name()),
            (true, Err(Complaint::Different(..))) => {
                planted.insert(what);
            }
            (_, other) => panic!("{}, {what}, planted {changed}: {other:?}", scheme.name()),
        }
    }
    assert_eq!(planted.len(), plants.len() - 1, "{planted:?}");
}

#[test]
fn faults_are_compared_too() {
    let source = "int->int filter Main { work pop 1 push 1 { push(8 / (5 - pop())); } }";
    let folder = tempfile::tempdir().unwrap();
    let checked = check(source).unwrap();
    let case = Case { hazards: true, ..case(source) };
    let cases = lengths(&checked.program, &case, 5, FEW);
    let tried = agree(&checked, &cases, folder.path(), &mut |c| run(&checked, c, None, Feed::default(), folder.path()));
    assert!(tried.is_ok_and(|t| t.failed >= 2 && t.runs >= 2));
    let safe = Case { hazards: false, ..case };
    let refused = agree(&checked, &[safe], folder.path(), &mut |_| unreachable!("the interpreter is first"));
    assert!(matches!(refused, Err(Complaint::Refused(_))));
}

/// A firing that fails among others leaves things unwritten; what is told is the fault of the program.
#[test]
fn faults_are_those_of_the_program() {
    let source = "int->int pipeline Main {
    add int->int filter { int[6] t = {1, 2, 3, 4, 5, 6}; work peek 4 pop 3 push 2 { push(t[peek(3)]); push(t[pop()]); pop(); pop(); } };
    add int->int filter { int sum; work pop 2 push 1 { sum += pop() / (7 - pop()); push(sum); } };
}";
    let folder = tempfile::tempdir().unwrap();
    let checked = check(source).unwrap();
    for scheme in Configuration::schemes() {
        let cuda = on_two(scheme);
        let (program, code) = compile_on_device(&checked, &cuda).unwrap_or_else(|why| panic!("{why}"));
        // three times as many items as go into what runs at once
        let each = 3 * code.unit;
        let input = |wrong: Option<u64>| {
            let item = |i: u64| if Some(i) == wrong { 6 } else { i as i32 % 6 };
            (0..3 * each + 5).flat_map(|i| item(i).to_le_bytes()).collect()
        };
        let cases = [None, Some(0), Some(each / 2), Some(each + each / 2)];
        let cases = cases.map(|wrong| Case { input: Some(input(wrong)), hazards: true, ..case(source) });
        let mut on_device = |c: &Case| run(&program, c, Some(&code), Feed::default(), folder.path());
        let tried = agree(&checked, &cases, folder.path(), &mut on_device);
        let tried = tried.unwrap_or_else(|why| panic!("{}: {why:?}", scheme.name()));
        assert!(tried.failed >= 2 && tried.runs >= 1 && code.launches() > 0, "{}: {tried:?}", scheme.name());
    }
}

/// Streams in turn, and equal branches, have a thread each; also where a field is called what the code for all of them calls its own.
#[test]
fn turns_are_threads() {
    let source = "int->int pipeline Main {
    add int->int filter {
        int gathered; int popped;
        work pop 1 push 1 {
            int x = pop();
            gathered = gathered * 3 + x; popped++;
            if (x > 100000) push(1);
            for (int i = 0; i < (x > 100000 ? 0 : 1); i++) push(gathered ^ popped);
        }
    };
    add splitjoin {
        split roundrobin(2);
        for (int i = 0; i < 3; i++)
            add int->int filter { int[3] last; int n; work peek 5 pop 4 push 2 { last[n % 3] += peek(4); n++; push(last[0]); push(last[n % 3] - peek(1)); for (int i = 0; i < 4; i++) pop(); } };
        join roundrobin;
    };
}";
    let folder = tempfile::tempdir().unwrap();
    let mut checked = check(source).unwrap();
    checked.program = slow::streams(&checked.program, 6).unwrap();
    let most = Most { firings: 500_000, units: 3, bytes: 8 << 20 };
    for scheme in Configuration::schemes() {
        let cuda = on_two(scheme);
        let mut text = String::new();
        let (program, code) = compile_changed(&checked, &cuda, &mut |t| text = t.clone()).unwrap();
        // each reads and writes in its turn
        let turns = text.matches("sl_turn<").count();
        assert!(turns >= 4, "{}: {turns}", scheme.name());
        let cases = lengths(&checked.program, &case(source), code.unit, most);
        let mut on_device = |c: &Case| run(&program, c, Some(&code), Feed::default(), folder.path());
        let tried = agree(&checked, &cases, folder.path(), &mut on_device);
        let tried = tried.unwrap_or_else(|why| panic!("{}: {why:?}", scheme.name()));
        assert!(tried.output > 0 && code.launches() > 0, "{}: {tried:?}", scheme.name());
    }
}
