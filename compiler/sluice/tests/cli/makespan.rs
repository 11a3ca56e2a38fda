//! `sluice makespan`: methods, formats, configurations, and what is refused.

use crate::support::*;
use serde_json::Value;

fn run(arguments: &str) -> Done {
    Place::new().run(&["makespan"].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>())
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(run(&format!("{arguments} --format json")).ends(0).text()).unwrap()
}

#[test]
fn each_method_says_what_its_number_is_worth() {
    for (method, bound, exact, sound) in [
        ("auto", 9, true, true),
        ("exact", 9, true, true),
        ("ilp-short", 9, true, true),
        ("ilp-long", 9, true, true),
        ("pessimistic", 12, false, true),
        ("estimate --x 2", 10, false, false),
    ] {
        let d = json(&format!("--kernel LLC --warps 4 --time-limit 300 --method {method}"));
        let name = method.split(' ').next().unwrap();
        assert_eq!(d["schema"], "sluice-makespan-1");
        assert_eq!((&d["method"], &d["bound"]), (&name.into(), &bound.into()), "{method}");
        assert_eq!((&d["exact"], &d["sound"]), (&exact.into(), &sound.into()), "{method}");
        assert!(d["seconds"].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn units_and_warp_size_make_o() {
    let d = json("--kernel LCLCL --warps 420 --ls-units 16 --cores 32 --method pessimistic");
    assert_eq!((&d["o_l"], &d["o_c"], &d["instructions"]), (&"1/2".into(), &"1".into(), &8.into()));
    assert_eq!((&d["bound"], &d["paper_bound_sound"]), (&3360.into(), &true.into()));
    let d = json("--kernel LL --warps 4 --ls-units 64");
    assert_eq!((&d["bound"], &d["paper_bound"], &d["paper_bound_sound"]), (&5.into(), &4.into(), &false.into()));
    let d = json("--kernel LCC --warps 8 --cores 48 --method pessimistic");
    assert_eq!((&d["o_c"], &d["rounded"]), (&"3/2".into(), &true.into()));
}

#[test]
fn the_estimate_is_marked() {
    let done = run("--kernel LCLCL --warps 4 --method estimate --x 2").ends(0);
    assert!(
        done.text().contains("12  an estimate, NOT a bound: schedules may take longer (estimate)"),
        "{}",
        done.text()
    );
    assert!(done.text().contains("2     6        12"), "{}", done.text());
    assert_eq!(json("--kernel LCLCL --warps 4")["bound"], 14);
}

#[test]
fn a_schedule_is_shown_and_drawn() {
    let place = Place::new();
    let arguments = "makespan --kernel LLC --warps 4 --schedule --svg out.svg --format json";
    let d: Value = serde_json::from_str(place.run(&arguments.split(' ').collect::<Vec<_>>()).ends(0).text()).unwrap();
    assert_eq!(d["schedule"].as_array().unwrap().len(), 9);
    let svg = place.read("out.svg");
    assert!(svg.starts_with("<svg") && svg.matches("class=\"w\"").count() == 12, "{svg}");
    assert!(svg.contains("LLC with 4 warps: 9 cycles, the longest there is"));
    let done = run("--kernel LLC --warps 2 --schedule").ends(0);
    assert!(done.text().contains("cycle  warps that run\n    0  0\n"), "{}", done.text());
}

#[test]
fn configurations() {
    let paper = "kernel = \"lcl\"\nwarp_number = 8\nls_unit_number = 16\ncuda_core_number = 32\nwarp_size = 32\n";
    let place = Place::new().with("paper.toml", paper).with("bad.toml", "kernel = \"L\"\nwarps = \"3\"\n");
    let run = |arguments: &str| place.run(&["makespan"].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>());
    let d: Value = serde_json::from_str(run("--config paper.toml --format json").ends(0).text()).unwrap();
    assert_eq!((&d["kernel"], &d["instructions"], &d["o_l"]), (&"LCL".into(), &5.into(), &"1/2".into()));
    let with = run("--config paper.toml --warps 3 --format json").ends(0);
    let d: Value = serde_json::from_str(with.text()).unwrap();
    assert_eq!(d["warps"], 3);
    run("--config bad.toml").ends(2).says("bad.toml, line 2: `warps` is a whole number").says("E0991");
    run("--config none.toml").ends(3).says("none.toml").says("E0991");
}

#[test]
fn what_is_refused() {
    for (arguments, code, said) in [
        ("--warps 4", "E0991", "--kernel STRING"),
        ("--kernel LLC", "E0991", "--warps W"),
        ("--kernel LLC --warps 1000001", "E0991", "not between 1 and 1000000"),
        ("--kernel LLC --warps 4 --cores 0", "E0991", "cores 0"),
        ("--kernel LLC --warps 4 --ls-units 1 --warp-size 1000000", "E0991", "2000001 instructions"),
        ("--kernel L-C --warps 4", "E0990", "'-' (letter 2)"),
        ("--kernel LLC --warps 4 --x 2", "E0991", "--method estimate"),
        ("--kernel LLC --warps 4 --x 5 --method estimate", "E0992", "more than the 4 warps"),
        ("--kernel LLCLCLCCLC --warps 64 --method exact", "E0992", "states"),
        ("--kernel LLCLCLCCLC --warps 640 --method ilp-long", "E0992", "variables"),
        ("--kernel LLCLL --warps 100 --method exact --time-limit 0.001", "E0992", "seconds were not enough"),
        ("--kernel LLC --warps 400000 --svg x.svg", "E0992", "no schedule"),
    ] {
        run(arguments).ends(2).says(code).says(said);
    }
    for (arguments, said) in [
        ("--kernel LLC --warps -4", "unexpected argument"),
        ("--kernel LLC --warps 4 --time-limit nan", "not a number of seconds"),
        ("--kernel LLC --warps 4 --method fast", "possible values"),
        ("--kernel LLC --warps 4 --x 0 --method estimate", "not a whole number from 1"),
    ] {
        run(arguments).ends(2).says(said);
    }
}

#[test]
fn nothing_is_too_large_for_a_bracket() {
    let long = "LLCLCCLC".repeat(200);
    for (kernel, warps) in [
        ("LLCLCLCCLCLL", "64"),
        ("LCLCC", "5000"),
        (long.as_str(), "1000"),
        ("LLCLCLCC", "64 --cores 1000 --ls-units 500"),
        ("LCLCLCLCLCLCLCLC", "1000000 --cores 1000000"),
    ] {
        let d = json(&format!("--kernel {kernel} --warps {warps} --time-limit 1"));
        let number = |name: &str| d[name].as_u64().unwrap();
        assert!(d["sound"] == true && number("least") <= number("bound"), "{d}");
        assert!((number("bound") <= number("paper_bound") || d["paper_bound_sound"] == false), "{d}");
        // the limit is kept, with some patience for a busy computer
        assert!(d["seconds"].as_f64().unwrap() < 20.0, "{d}");
    }
}

#[test]
fn no_field_is_left_out() {
    let d = json("--kernel LLC --warps 4 --method pessimistic");
    for field in ["schedule", "estimates"] {
        assert_eq!(d.get(field), Some(&Value::Null), "{field}");
    }
}

#[test]
fn a_method_without_a_schedule_says_so() {
    for method in ["pessimistic", "estimate --x 2"] {
        let done = run(&format!("--kernel LLC --warps 4 --schedule --method {method}")).ends(0);
        assert!(done.text().contains("has no schedule to show"), "{}", done.text());
    }
}

#[test]
fn of_blocks_in_turn_the_papers_formula_is_for_one() {
    let text = "--kernel LLC --warps 4 --blocks 3 --resident 1 --method pessimistic";
    let done = run(text).ends(0);
    assert!(done.text().contains("12  the paper's formula for one block"), "{}", done.text());
}
