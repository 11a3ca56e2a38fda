//! `sluice makespan PROGRAM --scheme fused`: kernels of regions, in tiles.

use crate::makespan_of_programs::{COUNT, HALVE, UNTIL, about, home, in_project, kernel, number, sum};
use crate::support::*;
use serde_json::Value;

const ARCHS: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_100"];

/// Looks at three items.
const FIR: &str = "float->float filter Fir { work pop 1 push 1 peek 3 { push(0.25 * peek(0) + 0.5 * peek(1) + 0.25 * peek(2)); pop(); } }\n";

fn only(d: &Value) -> &Value {
    let all = d["kernels"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{d:#}");
    &all[0]
}

#[test]
fn a_tile_is_brought_fired_and_sent() {
    let Some(home) = home("a_tile_is_brought_fired_and_sent") else { return };
    for arch in ARCHS {
        let of = |more: &str| {
            let d = about(HALVE, &format!("--scheme fused --arch {arch} --method pessimistic {more}"), Some(&home));
            assert_eq!((&d["origin"], &d["sound"]), (&"sass".into(), &true.into()), "{arch}: {d:#}");
            assert_eq!((number(&d, "tile"), number(&d, "tiles"), number(&d, "steady_states")), (2048, 1, 2048));
            let k = only(&d).clone();
            assert_eq!((number(&k, "firings"), number(&k, "blocks"), number(&k, "launches")), (3 * 2048, 1, 1));
            assert!(number(&k, "barriers") == 2 && k["varies"] == false && k["nodes"][1] == "Halve", "{k:#}");
            (number(&k, "warps"), number(&k, "ls_cycles"))
        };
        // 2048 items by 128 threads, 16 each: four times 16 bytes from memory, 16 words into the tile; 16 words out, 16 in; 16 out, and four times 16 bytes to memory.
        // Newer machines bring constants by load/store units, too; the oldest has half as many of these units.
        let (words, slow) = (2 * 4 * 4 + 4 * 16, if arch == "sm_75" { 2 } else { 1 });
        let (warps, loads) = of("");
        assert!(warps == 4 && (words..words + 16).contains(&(loads / slow)), "{arch}: {loads}");
        let (warps, loads) = of("--threads 256");
        assert!(warps == 8 && (words / 2..words / 2 + 16).contains(&(loads / slow)), "{arch}: {loads}");
    }
}

#[test]
fn steady_states_are_tiles_launches_and_blocks() {
    let Some(home) = home("steady_states_are_tiles") else { return };
    let of = |states: u64, more: &str| {
        let options = format!("--scheme fused --method pessimistic --steady-states {states} {more}");
        let d = about(HALVE, &options, Some(&home));
        let k = only(&d).clone();
        assert_eq!((number(&d, "steady_states"), number(&d, "tile")), (states, 2048));
        (number(&d, "tiles"), number(&k, "launches"), number(&k, "blocks"), number(&k, "bound"))
    };
    let one = of(1, "");
    assert_eq!((one.0, one.1, one.2), (1, 1, 1), "a part of a tile is a tile");
    let two = of(2049, "");
    assert_eq!((two.0, two.1, two.2), (2, 1, 2));
    // nobody says that the second block does not begin before the first one ends: then its warps wait for one another
    assert!(two.3 > one.3 && two.3 < 3 * one.3, "{one:?} {two:?}");
    // a batch is sent in slices of a quarter of a mebibyte, each of which is a launch
    let many = of(2048 * 64, "");
    assert_eq!((many.0, many.1, many.2), (64, 4, 16));
    // what a block's number decides may differ by some cycles
    assert!(many.3 <= 33 * two.3 && many.3 > 28 * two.3, "{two:?} {many:?}");
    let wide = of(2048 * 64, "--multiprocessors 8");
    assert_eq!((wide.1, wide.2, wide.3), (4, 2, 4 * two.3));
    // what is there at once waits less
    let together = of(2048 * 64, "--resident 16");
    assert!(together.3 < many.3, "{together:?} {many:?}");
}

#[test]
fn what_tiles_have_in_common_and_what_is_kept() {
    let Some(home) = home("what_tiles_have_in_common") else { return };
    let d = about(FIR, "--scheme fused --arch sm_80 --method pessimistic", Some(&home));
    assert_eq!(d["sound"], true, "{d:#}");
    let names: Vec<&str> = d["kernels"].as_array().unwrap().iter().map(|k| k["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["load: Fir", "input and 2 more", "save: Fir"]);
    // the item that remains is saved by a block beyond the last tile
    let fires = kernel(&d, "input and 2 more");
    assert_eq!((number(&d, "tiles"), number(fires, "blocks")), (1, 2), "{fires:#}");
    let (load, save) = (kernel(&d, "load: Fir"), kernel(&d, "save: Fir"));
    assert!(number(load, "bound") > 0 && number(save, "bound") > 0 && number(load, "firings") == 0);
    let sum: u64 = [load, fires, save].map(|k| number(k, "bound")).iter().sum();
    assert_eq!(number(&d, "bound"), sum);
    // the other block does next to nothing: both are not twice the larger one
    let longest = number(fires, "core_cycles") + number(fires, "ls_cycles");
    assert!(number(fires, "least") < 2 * longest, "{fires:#}");
}

#[test]
fn what_has_state_is_one_thread_between_regions() {
    let Some(home) = home("what_has_state_is_one_thread") else { return };
    let program = format!("{HALVE}{COUNT}float->float pipeline Main {{ add Halve(); add Count(); add Halve(); }}");
    let of = |tiles: u64| {
        let states = |d: &Value| number(d, "tile");
        let one = about(&program, "--scheme fused --arch sm_80 --method pessimistic", Some(&home));
        let more = format!("--scheme fused --arch sm_80 --method pessimistic --steady-states {}", tiles * states(&one));
        let d = about(&program, &more, Some(&home));
        assert_eq!((d["kernels"].as_array().unwrap().len(), number(&d, "tiles")), (3, tiles), "{d:#}");
        let k = kernel(&d, "Main.Count").clone();
        assert!(k["serial"] == true && number(&k, "blocks") == 1 && number(&k, "launches") == 1, "{k:#}");
        (number(&k, "core_cycles"), states(&d))
    };
    let all = [1, 2, 4].map(of);
    assert_eq!(2 * (all[1].0 - all[0].0), all[2].0 - all[1].0, "{all:?}");
    // a product and a sum for each firing, at least
    assert!(all[1].0 - all[0].0 >= 2 * all[0].1, "{all:?}");
}

/// Rings between regions, tiles that overlap, index arithmetic of splitters, prefetched tables: programs as they are.
#[test]
fn fused_benchmarks_are_bounded() {
    let Some(home) = home("fused_benchmarks_are_bounded") else { return };
    for name in ["bitonicrec", "fft", "filterbank", "fmradio"] {
        let file = format!("{}/../../benchmarks/{name}/{name}.str", env!("CARGO_MANIFEST_DIR"));
        let program = std::fs::read_to_string(file).unwrap();
        for arch in ARCHS {
            let d = about(&program, &format!("--scheme fused --arch {arch} --method pessimistic"), Some(&home));
            assert!(d["sound"] == true && number(&d, "bound") > 0, "{name} {arch}: {d:#}");
            assert!(d["kernels"].as_array().unwrap().iter().all(|k| number(k, "least") <= number(k, "bound")));
        }
    }
}

#[test]
fn machine_code_ptx_and_ir_of_tiles() {
    let Some(home) = home("machine_code_ptx_and_ir_of_tiles") else { return };
    let options = "--scheme fused --arch sm_90 --method pessimistic";
    // a folder without nvdisasm has PTX only
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(home.join("nvidia/cu13/lib"), folder.path().join("lib")).unwrap();
    let all = [Some(home.as_path()), Some(folder.path()), None].map(|home| about(&sum(64), options, home));
    assert_eq!([0, 1, 2].map(|i| all[i]["origin"].as_str().unwrap()), ["sass", "ptx", "ir"]);
    assert_eq!([0, 1, 2].map(|i| all[i]["sound"].as_bool().unwrap()), [true, false, false]);
    let loads = [0, 1, 2].map(|i| number(only(&all[i]), "ls_cycles") as f64);
    // what is brought and sent, the IR does not have
    assert!((loads[1] / loads[0] - 1.0).abs() < 0.2 && (0.3..1.1).contains(&(loads[2] / loads[0])), "{loads:?}");
}

#[test]
fn tiles_run_beside_their_bounds() {
    let Some(home) = home("tiles_run_beside_their_bounds") else { return };
    let program = format!("{FIR}{COUNT}float->float pipeline Main {{ add Fir(); add Count(); add Fir(); }}");
    let options = "--scheme fused --measure --emulate --method pessimistic";
    let d = about(&program, options, Some(&home));
    assert_eq!(d["measured_on"], "emulated");
    let all = d["kernels"].as_array().unwrap();
    for k in all {
        match k["name"].as_str().unwrap().contains(": ") {
            true => assert_eq!(k["unmeasured"], "it carries what channels keep"),
            // the emulation's clock says nothing, not even that time passes
            false => assert!(k["measured"].as_f64().unwrap() >= 0.0 && number(k, "block_bound") > 0, "{k:#}"),
        }
    }
    assert_eq!(all.len(), 5, "{d:#}");
    let print = "float->void filter Print { work pop 1 { println(pop()); } }\n";
    let program = format!("{HALVE}{print}float->void pipeline Main {{ add Halve(); add Print(); }}");
    let d = about(&program, options, Some(&home));
    assert_eq!(kernel(&d, "Main.Print")["unmeasured"], "it prints");
}

#[test]
fn strings_of_tiles() {
    let Some(home) = home("strings_of_tiles") else { return };
    let d = about(HALVE, "--scheme fused --strings --time-limit 1", Some(&home));
    let string = only(&d)["string"].as_str().unwrap();
    assert_eq!(string.matches('|').count(), 2);
    let place = Place::new().with("p.str", HALVE);
    let mut command = place.command(&["makespan", "p.str", "--scheme", "fused", "--time-limit", "1"]);
    command.env("SLUICE_CUDA_HOME", &home);
    let said = finish(command, b"").ends(0);
    for part in ["1 tile of 2048 steady states", "machine code", "Tiles: whole ones", "multiples of 256 bytes"] {
        assert!(said.text().contains(part), "{}", said.text());
    }
    let mut command = place.command(&["makespan", "p.str", "--scheme", "fused", "--dump-after", "disassemble"]);
    command.env("SLUICE_CUDA_HOME", &home);
    assert!(finish(command, b"").ends(0).text().contains("\n.text.sl_region_0:\n"));
}

#[test]
fn what_data_decides_in_a_region_has_no_bound() {
    let Some(home) = home("what_data_decides_in_a_region") else { return };
    let d = about(UNTIL, "--scheme fused", Some(&home));
    assert_eq!((&d["bound"], &d["sound"]), (&Value::Null, &false.into()));
    assert_eq!(only(&d)["unbounded"], "a loop of it goes on as long as data says");
}

fn project(deadline: u64, more: &str, program: &str) -> Place {
    let manifest = format!("[program]\nname = \"p\"\n\n[makespan]\narch = \"sm_90\"\ndeadline = {deadline}\n{more}");
    Place::new().with("sluice.toml", manifest).with("p.str", program)
}

#[test]
fn deadlines_of_tiles() {
    let Some(home) = home("deadlines_of_tiles") else { return };
    let home = Some(home.as_path());
    // so long that a firing takes many cycles, on one multiprocessor
    let program = sum(512);
    let d = about(&program, "--scheme fused --arch sm_90 --method pessimistic", home);
    let (bound, tile) = (number(&d, "bound"), number(&d, "tile"));
    let least = bound.div_ceil(tile);
    let kept = project(least, "scheme = \"fused\"\n", &program);
    in_project(&kept, &["makespan", "--method", "pessimistic"], home).ends(0);
    let missed = project(least - 1, "scheme = \"fused\"\n", &program);
    in_project(&missed, &["makespan", "--method", "pessimistic"], home)
        .ends(1)
        .says("[E0993]")
        .says(&format!("{tile} steady states may take {bound} cycles"))
        .says("p.str:1:");
    // a build has to keep it with the kernels that it makes: fused, unless it says otherwise
    let build = |place: &Place, scheme: &[&str]| {
        let arguments = [&["build", "--target", "cuda", "-o", "p.cu"], scheme].concat();
        in_project(place, &arguments, home)
    };
    build(&kept, &[]).ends(0);
    assert!(kept.path("p.cu").is_file());
    let one = project(1, "", &program);
    build(&one, &[]).ends(1).says("[E0993]").says("p.str:1:");
    // one firing on a multiprocessor by itself takes longer than one of many side by side
    build(&kept, &["--scheme", "swp"]).ends(1).says("[E0993]");
    build(&kept, &["--scheme", "fused-warps"]).ends(1).says("[E0993]").says("fused-warps");
    // without machine code there is no bound
    in_project(&project(1 << 40, "scheme = \"fused\"\n", HALVE), &["makespan"], None).ends(1).says("nothing bounds");
}

#[test]
fn tiles_are_as_large_as_somebody_says() {
    let states = |text: &str| {
        let after =
            text.split(" of ").find(|t| t.contains("steady states, in blocks")).unwrap_or_else(|| panic!("{text}"));
        after.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let place = Place::new().with("p.str", HALVE);
    let run =
        |more: &[&str]| place.run(&[&["makespan", "p.str", "--scheme", "fused"], more].concat()).text().to_string();
    let (small, usual) = (states(&run(&["--tile", "1"])), states(&run(&[])));
    assert!(small < usual && states(&run(&["--tile", "32"])) == usual, "{small} {usual}");
    let kept = project(1 << 40, "scheme = \"fused\"\ntile = 1\n", HALVE);
    assert_eq!(states(in_project(&kept, &["makespan"], None).text()), small);
    // what a manifest says of regions is not about nodes; what the command line says would be in vain
    let nodes = in_project(&kept, &["makespan", "--scheme", "swp"], None);
    assert!(!nodes.text().contains("fused"), "{}", nodes.text());
    place.run(&["makespan", "p.str", "--tile", "1"]).ends(2).says("[E0991]").says("--scheme fused");
    let odd = project(5, "scheme = \"fused\"\ntile = 0\n", HALVE);
    in_project(&odd, &["makespan"], None).ends(1).says("[E0703]").says("sluice.toml:8:");
}

#[test]
fn schemes_that_have_no_bound() {
    let place = Place::new().with("p.str", HALVE);
    place.run(&["makespan", "p.str", "--scheme", "fused-warps"]).ends(2).says("[E0991]").says("--scheme fused");
    place.run(&["makespan", "p.str", "--scheme", "serial"]).ends(2).says("[E0991]").says("are those of swp");
    place.run(&["makespan", "p.str", "--scheme", "auto"]).ends(2);
    place.run(&["makespan", "--kernel", "LLC", "--scheme", "fused"]).ends(2).says("[E0991]");
    let odd = project(5, "scheme = \"fused-warps\"\n", HALVE);
    in_project(&odd, &["makespan"], None).ends(1).says("[E0703]").says("sluice.toml:7:");
    let odd = project(5, "scheme = \"fast\"\n", HALVE);
    in_project(&odd, &["makespan"], None).ends(1).says("[E0703]").says("there is no scheme fast");
}
