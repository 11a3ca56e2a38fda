//! Programs on GPUs: the emulated one, and one whose driver is false; what is missing is said.

use crate::support::*;
use sluice_driver::cache::Cache;
use sluice_driver::cc::Compiler;
use sluice_driver::cuda::{check, compile, toolkit};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Looks at other items than it takes, and has a part without state and one with.
pub const PROGRAM: &str = "\
float->float filter Smooth { work peek 3 pop 1 push 1 { push((peek(0) + peek(1) + peek(2)) / 3); pop(); } }
float->float stateful filter Sum { float s = 0; work pop 2 push 1 { s = s / 2 + pop() - pop(); push(s); } }
float->float pipeline Main { add Smooth; add Sum; }
";

/// Branches that look differently far at the same items, some behind a second splitter; a filter whose firings a thread makes several of; rates of powers of two.
const BRANCHES: &str = "\
float->float filter Fir(int taps, int by) {
    work peek taps pop by push 1 {
        float sum = 0;
        for (int i = 0; i < taps; i++) sum += (i % 5 - 1.5) * peek(i);
        push(sum);
        for (int i = 0; i < by; i++) pop();
    }
}
float->float splitjoin Inner { split duplicate; add Fir(3, 1); add Fir(20, 1); join roundrobin; }
float->float splitjoin Outer { split duplicate; add Fir(13, 1); add Inner; add Fir(9, 8); add Fir(4, 1); join roundrobin(8, 16, 1, 8); }
float->float pipeline Main { add Fir(2, 1); add Outer; add Fir(33, 1); add Fir(4, 4); add Fir(40, 1); }
";

pub fn input(items: usize) -> Vec<u8> {
    floats(&(0..items).map(|i| (i * 37 % 101) as f32).collect::<Vec<_>>())
}

/// A C compiler's product beside the test's files.
pub fn compiled(place: &Place, source: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let target = place.path(name);
    let done = Command::new("cc").args(flags).arg("-o").arg(&target).arg(source).status().unwrap();
    assert!(done.success());
    target
}

/// A folder with the false driver in it.
pub fn with_driver() -> Place {
    let place = Place::new().with("a.str", PROGRAM).with("in.f32", input(3001)).with("driver/x", "");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/false_driver.c");
    compiled(&place, &source, "driver/libcuda.so", &["-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC"]);
    place
}

/// A run on the false GPU, where this is wrong.
fn on_false_gpu(place: &Place, wrong: &str, more: &[&str]) -> Command {
    false_gpu(place, wrong, &[&["run", "a.str", "--target", "cuda", "--input", "in.f32"], more].concat())
}

/// A command that finds the false GPU, where this is wrong.
pub fn false_gpu(place: &Place, wrong: &str, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("LD_LIBRARY_PATH", place.path("driver")).env("FALSE_DRIVER", wrong);
    for name in ["SLUICE_NVRTC", "CUDA_HOME", "CUDA_PATH", "SLUICE_CUDA_HOME"] {
        command.env_remove(name);
    }
    if let Some(home) = check::home() {
        command.env("SLUICE_CUDA_HOME", home);
    }
    command
}

#[test]
fn the_emulated_gpu_gives_the_same_bytes() {
    let place = Place::new().with("a.str", PROGRAM);
    let schemes = sluice_driver::options::Scheme::NAMES;
    for items in [0, 2, 3, 700, 3001] {
        let want = place.run_with(&["run", "a.str"], &input(items)).ends(0).stdout;
        for (scheme, _) in schemes {
            let args = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", scheme, "--sms", "2"];
            let got = place.run_with(&args, &input(items)).ends(0);
            assert!(got.stdout == want, "{scheme}, {items} items");
            assert_eq!(got.stderr, "");
        }
    }
}

#[test]
fn branches_that_look_at_the_same_items_share_them() {
    let place = Place::new().with("a.str", BRANCHES);
    for items in [0, 7, 41, 90, 1000, 5003] {
        let want = place.run_with(&["run", "a.str"], &input(items)).ends(0).stdout;
        for (scheme, threads, sms) in [("fused", "128", "2"), ("fused", "32", "3"), ("fused-warps", "64", "1")] {
            let args = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", scheme, "--sms", sms];
            let got = place.run_with(&[&args[..], &["--block-threads", threads]].concat(), &input(items)).ends(0);
            assert!(got.stdout == want, "{scheme}, {threads} threads, {items} items");
        }
    }
    // a smaller tile has fewer steady states, but so many that what is done twice stays little
    let states = |kib: &str| {
        let said = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", "fused", "--tile", kib];
        let said = place.run_with(&[&said[..], &["--dump-after", "emit-cuda"]].concat(), &input(90)).ends(0);
        let text = said.text().split("A block makes a tile of ").nth(1).unwrap();
        text.split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(["1", "8", "16", "32", "48"].map(states), [4, 8, 16, 32, 64]);
    let text =
        ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", "fused", "--dump-after", "emit-cuda"];
    let text = place.run(&text).ends(0);
    let text = text.text().split("---- the program ----").nth(1).unwrap();
    assert!(text.contains("sl_each_few<") && text.contains("sl_rows<"), "{text}");
}

#[test]
fn every_scheduler_serves() {
    let place = Place::new().with("a.str", PROGRAM);
    let want = place.run_with(&["run", "a.str"], &input(900)).ends(0).stdout;
    for method in ["flat", "ims", "slack", "hms", "ilp"] {
        let args = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", "swp", "--method", method];
        assert!(place.run_with(&args, &input(900)).ends(0).stdout == want, "{method}");
    }
    // what each makes of a larger program is not the same
    let place = place.with("b.str", BRANCHES);
    let texts = ["flat", "ilp"].map(|method| {
        let args = [
            "run",
            "b.str",
            "--target",
            "cuda",
            "--emulate",
            "--scheme",
            "swp",
            "--method",
            method,
            "--dump-after",
            "emit-cuda",
        ];
        place.run(&args).ends(0).text().to_string()
    });
    assert!(texts[0] != texts[1]);
    place.run(&["run", "a.str", "--target", "cuda", "--method", "sas"]).ends(2).says("invalid value 'sas'");
}

#[test]
fn the_order_of_the_emulation_has_a_seed() {
    let place = Place::new().with("a.str", PROGRAM);
    let want = place.run_with(&["run", "a.str"], &input(3001)).ends(0).stdout;
    let run = |seed: &str| {
        let mut command = place.command(&["run", "a.str", "-O0", "--target", "cuda", "--emulate"]);
        command.env("SLUICE_EMULATE_SEED", seed);
        finish(command, &input(3001))
    };
    for seed in ["0", "2", "77"] {
        assert!(run(seed).ends(0).stdout == want, "{seed}");
    }
    run("many").ends(2).says("SLUICE_EMULATE_SEED is `many`, which is no seed");
}

#[test]
fn options_that_clash() {
    let place = Place::new().with("a.str", PROGRAM);
    let run = |more: &[&str]| place.run(&[&["run", "a.str"], more].concat()).ends(2);
    let cuda =
        ["--scheme=swp", "--coarsen=2", "--sms=2", "--block-threads=64", "--tile=8", "--method=ilp", "--time-limit=2"];
    for option in cuda.into_iter().chain(["--emulate", "--gpu=1"]) {
        let name = option.split('=').next().unwrap();
        run(&[option]).says(&format!("{name} has a meaning only with --target cuda"));
    }
    for option in ["--interpret", "--trace", "--stats", "--threads=2"] {
        let name = option.split('=').next().unwrap();
        run(&["--target", "cuda", option]).says(&format!("{name} and --target cuda cannot be used together"));
    }
    run(&["--target", "cuda", "--scheme", "seriel"]).says("a similar value exists: 'serial'");
    run(&["--target", "cuda", "--block-threads", "100"]).says("a multiple of 32 threads");
    run(&["--target", "cuda", "--tile", "0"]).says("not a whole number from 1 to 1024");
    run(&["--target", "cuda", "--emulate", "--gpu", "1"]).says("cannot be used with");
    let build = |more: &[&str]| place.run(&[&["build", "a.str"], more].concat()).ends(2);
    build(&["--target", "cuda", "--lib"]).says("--lib and --target cuda cannot be used together");
    build(&["--target", "cuda", "-o", "a"]).says("a does not end in .cu").says("-o a.cu");
    build(&["--arch", "sm_90"]).says("--arch has a meaning only with --target cuda");
    build(&["--target", "cuda", "--arch", "sm_61"]).says("sm_61 is too old");
    assert_eq!(place.files(), ["a.str"]);
}

#[test]
fn what_a_computer_lacks_is_said() {
    // no driver: what is called so is none
    let place = Place::new().with("a.str", PROGRAM).with("in.f32", input(9));
    let place = place.with("driver/libcuda.so", "no library").with("driver/libcuda.so.1", "no library");
    finish(on_false_gpu(&place, "", &[]), b"").ends(3).says("error[E0981]: there is no CUDA driver").says("--emulate");
    let mut command = place.command(&["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--input", "in.f32"]);
    command.env("CXX", "/nowhere/c++");
    finish(command, b"").ends(3).says("error[E0989]: the C++ compiler named by CXX, `/nowhere/c++`, cannot be run");
    // another library of this name
    let place = place.with("other.c", "int cuInit(void) { return 0; }");
    compiled(&place, &place.path("other.c"), "driver/libcuda.so", &["-shared", "-fPIC"]);
    finish(on_false_gpu(&place, "", &[]), b"")
        .ends(3)
        .says("error[E0981]: the CUDA driver cannot be used: it lacks functions");

    let place = with_driver();
    let run = |wrong: &str, more: &[&str]| finish(on_false_gpu(&place, wrong, more), b"");
    run("init=34", &[])
        .ends(3)
        .says("error[E0981]: the CUDA driver cannot be used: something is wrong (CUDA_ERROR_34)");
    run("init=100", &[]).ends(3).says("error[E0982]: the CUDA driver finds no GPU\n");
    run("init=999", &[]).ends(3).says("error[E0982]: the CUDA driver finds no GPU: something is wrong");
    run("count=0", &[]).ends(3).says("error[E0982]: the CUDA driver finds no GPU\n");
    run("", &["--gpu", "1"]).ends(2).says("error[E0982]: there is no GPU 1").says("0 is False GPU 0");
    run("arch=70", &[]).ends(3).says("error[E0983]: False GPU 0 is too old: its architecture is sm_70");
    let mut command = on_false_gpu(&place, "", &[]);
    command.env("SLUICE_NVRTC", "/nowhere/libnvrtc.so");
    finish(command, b"")
        .ends(3)
        .says("error[E0984]: there is no NVRTC")
        .says("/nowhere/libnvrtc.so (SLUICE_NVRTC): there is no such file");
}

#[test]
fn a_driver_that_fails_is_told() {
    if check::nvrtc("a_driver_that_fails_is_told").is_none() {
        return;
    }
    let place = with_driver();
    let run = |wrong: &str| finish(on_false_gpu(&place, wrong, &["--output", "out.f32"]), b"");
    run("version=11040").ends(3).says("error[E0985]: the driver is too old for this NVRTC: it is for CUDA 11.4");
    run("load=209").ends(3).says("error[E0985]").says("CUDA_ERROR_209");
    run("load=222").ends(3).says("error[E0985]");
    run("allocate=2").ends(3).says("error[E0987]: False GPU 0 has no memory for").says("1000 are free");
    run("local=4096")
        .ends(3)
        .says("error[E0987]: False GPU 0 has no memory for")
        .says("has 4096 bytes for each of the");
    run("finish=214")
        .ends(3)
        .says("error[E0986]: the GPU failed to finish its work: something is wrong (CUDA_ERROR_214)");
    run("finish=700").ends(4).says("internal error[E0988]: a kernel has crashed").says("an illegal memory access");
    // without kernels its launches fail as those of a kernel that crashed
    run("").ends(4).says("internal error[E0988]");
    assert!(!place.files().contains(&"out.f32".to_string()), "outputs are whole or not at all");
}

#[test]
fn a_gpu_gives_the_same_bytes() {
    if check::nvrtc("a_gpu_gives_the_same_bytes").is_none() {
        return;
    }
    let place = with_driver();
    let want = place.run(&["run", "a.str", "--input", "in.f32"]).ends(0).stdout;
    let cache = Cache::at(&place.own_cache(), 64 << 20);
    for (scheme, _) in sluice_driver::options::Scheme::NAMES {
        // the very text that NVRTC gets, for the false driver
        let text = finish(on_false_gpu(&place, "", &["--scheme", scheme, "--dump-after", "emit-cuda"]), b"").ends(0);
        let kernels = compile::emulation_by(&Compiler::find_cxx().unwrap(), &cache, text.text()).unwrap();
        let mut command = on_false_gpu(&place, "", &["--scheme", scheme]);
        command.env("FALSE_KERNELS", &kernels);
        let got = finish(command, b"").ends(0);
        assert!(got.stdout == want, "{scheme}");
        assert_eq!(got.stderr, "", "{scheme}");
    }
}

/// A short run takes as much of the GPU's memory as its items need, whatever longer batches would have.
#[test]
fn memory_is_for_the_items_there_are() {
    if check::nvrtc("memory_is_for_the_items_there_are").is_none() {
        return;
    }
    let program = "float->float filter Add { work pop 2 push 1 { push(pop() + pop()); } }\nfloat->float pipeline Main { add Add; }\n";
    let place = with_driver().with("a.str", program);
    let want = place.run(&["run", "a.str", "--input", "in.f32"]).ends(0).stdout;
    let text = finish(on_false_gpu(&place, "", &["--scheme", "fused", "--dump-after", "emit-cuda"]), b"").ends(0);
    let cache = Cache::at(&place.own_cache(), 64 << 20);
    let kernels = compile::emulation_by(&Compiler::find_cxx().unwrap(), &cache, text.text()).unwrap();
    let mut command = on_false_gpu(&place, "room=300000", &["--scheme", "fused"]);
    command.env("FALSE_KERNELS", &kernels);
    let got = finish(command, b"").ends(0);
    assert!(got.stdout == want);
}

/// Memory of the host is pinned in whole pages, which have nothing else in them; and only where much goes there and back.
#[test]
fn what_goes_there_often_is_pinned() {
    if check::nvrtc("what_goes_there_often_is_pinned").is_none() {
        return;
    }
    let program = "float->float filter Twice { work pop 1 push 1 { push(pop() * 2); } }\nfloat->float pipeline Main { add Twice; }\n";
    let place = with_driver().with("a.str", program).with("in.f32", input(1_300_000));
    let want = place.run(&["run", "a.str", "--input", "in.f32"]).ends(0).stdout;
    let text = finish(on_false_gpu(&place, "", &["--scheme", "fused", "--dump-after", "emit-cuda"]), b"").ends(0);
    let cache = Cache::at(&place.own_cache(), 64 << 20);
    let kernels = compile::emulation_by(&Compiler::find_cxx().unwrap(), &cache, text.text()).unwrap();
    let run = |more: &[&str]| {
        let mut command = on_false_gpu(&place, "tell=1", &[&["--scheme", "fused"], more].concat());
        command.env("FALSE_KERNELS", &kernels);
        finish(command, b"").ends(0)
    };
    let long = run(&[]).says("pinned\n");
    assert!(long.stdout == want);
    assert_eq!(run(&["--iterations", "3000"]).stderr, "");
}

#[test]
fn the_fastest_scheme_is_measured_once() {
    if check::nvrtc("the_fastest_scheme_is_measured_once").is_none() {
        return;
    }
    let place = with_driver();
    let want = place.run(&["run", "a.str", "--input", "in.f32"]).ends(0).stdout;
    let own = place.own_cache();
    let run = |wrong: &str, kernels: Option<&Path>, more: &[&str]| {
        let mut command = on_false_gpu(&place, wrong, more);
        command.env("SLUICE_CACHE", &own);
        if let Some(kernels) = kernels {
            command.env("FALSE_KERNELS", kernels);
        }
        finish(command, b"").ends(0)
    };
    let kept = || {
        let all = std::fs::read_dir(&own).unwrap().map(|e| e.unwrap().path());
        let schemes = all.filter(|p| p.extension().is_some_and(|e| e == "scheme"));
        schemes.map(|p| std::fs::read_to_string(p).unwrap()).collect::<Vec<_>>()
    };
    // launches that do nothing are as good as others for measuring
    run("idle=1", None, &[]);
    let [choice] = &kept()[..] else { panic!("{:?}", kept()) };
    let lines: Vec<&str> = choice.lines().collect();
    // `fused 1, 256 threads, 32 KiB`, or no more than `swp 8`
    let numbers: Vec<&str> = lines[0].split([' ', ',']).filter(|w| !w.is_empty()).collect();
    let (scheme, coarsen) = (numbers[0], numbers[1]);
    let all = &lines[1..];
    assert!(all.len() > 3 && all.iter().all(|l| l.ends_with(" s")), "each candidate has a time: {choice}");
    let mine = format!("{}: ", lines[0]);
    let time = |line: &str| line.rsplit(' ').nth(1).unwrap().parse::<f64>().unwrap();
    let best = time(all.iter().find(|l| l.starts_with(&mine)).unwrap());
    assert!(all.iter().all(|l| time(l) >= best), "{choice}");
    // from now on that is what runs, and nothing is measured: launches would fail
    let text = run("", None, &["--dump-after", "emit-cuda"]);
    let mut named = vec!["--scheme", scheme, "--coarsen", coarsen, "--dump-after", "emit-cuda"];
    if let [_, _, threads, "threads", tile, "KiB"] = numbers[..] {
        named.extend(["--block-threads", threads, "--tile", tile]);
    }
    assert_eq!(text.text(), run("", None, &named).text());
    let cache = Cache::at(&place.own_cache(), 64 << 20);
    let kernels = compile::emulation_by(&Compiler::find_cxx().unwrap(), &cache, text.text()).unwrap();
    assert!(run("", Some(&kernels), &[]).stdout == want);
    assert_eq!(&kept(), std::slice::from_ref(choice));
}

#[test]
fn a_program_of_its_own() {
    let place = Place::new().with("a.str", PROGRAM).with("in.f32", input(3001));
    place.run(&["build", "a.str", "--target", "cuda", "-o", "own.cu", "--arch", "sm_90,sm_80"]).ends(0);
    let text = place.read("own.cu");
    assert!(text.starts_with("/* own: a stream program that runs on an NVIDIA GPU"));
    let lines: Vec<Vec<String>> = text
        .lines()
        .take_while(|l| !l.contains("*/"))
        .filter_map(|l| l.strip_prefix(" *     "))
        .map(|l| l.split_whitespace().map(String::from).collect())
        .collect();
    assert_eq!(lines.iter().map(|l| l[0].as_str()).collect::<Vec<_>>(), ["nvcc", "cc", "nvcc"]);
    let Some(nvcc) = check::nvcc("a_program_of_its_own") else { return };
    for line in &lines {
        let program = if line[0] == "nvcc" { nvcc.clone() } else { PathBuf::from(&line[0]) };
        let done = Command::new(&program).args(&line[1..]).current_dir(place.path("")).output().unwrap();
        assert!(done.status.success(), "{line:?}\n{}", String::from_utf8_lossy(&done.stderr));
    }
    let run = |more: &[&str]| {
        let mut command = Command::new(place.path("own"));
        command.args(["--input", "in.f32", "--output", "out.f32"]).args(more).current_dir(place.path(""));
        // where there is a GPU, it is hidden
        command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap()
    };
    let without = run(&[]);
    let said = String::from_utf8_lossy(&without.stderr).into_owned();
    assert_eq!(without.status.code(), Some(3), "{said}");
    assert!(said.contains("there is no CUDA driver") || said.contains("finds no GPU"), "{said}");
    assert!(said.contains("--cpu runs the program without a GPU") && said.lines().count() == 1, "{said}");
    assert!(!place.files().contains(&"out.f32".to_string()));
    assert!(run(&["--cpu"]).status.success());
    let want = place.run(&["run", "a.str", "--input", "in.f32"]).ends(0).stdout;
    assert!(std::fs::read(place.path("out.f32")).unwrap() == want);
    let help = Command::new(place.path("own")).arg("--help").output().unwrap();
    assert!(String::from_utf8_lossy(&help.stdout).contains("--cpu "));
}

#[test]
fn nvrtc_is_found_where_it_is_named() {
    let Some(home) = check::home() else {
        return check::skipped(
            "nvrtc_is_found_where_it_is_named",
            "there is no NVRTC (scripts/install-cuda installs one)",
        );
    };
    let place = with_driver();
    let library = &toolkit::nvrtc_places_in(&home)[0].file;
    let mut command = on_false_gpu(&place, "finish=214", &[]);
    command.env_remove("SLUICE_CUDA_HOME").env("SLUICE_NVRTC", library);
    // it has come as far as the device
    finish(command, b"").ends(3).says("error[E0986]");
}
