//! `sluice profile --target cuda`: modelled, on the emulated GPU, on one whose driver is false; and what uses such profiles.

use crate::cuda::{PROGRAM, false_gpu, input, with_driver};
use crate::support::*;
use serde_json::Value;
use sluice_driver::cache::Cache;
use sluice_driver::cc::Compiler;
use sluice_driver::cuda::{check, compile};
use std::path::Path;
use std::process::Command;

/// A command with a cache of its own; the CUDA compiler is the tests'.
fn own(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("SLUICE_CACHE", place.own_cache());
    if let Some(home) = check::home() {
        command.env("SLUICE_CUDA_HOME", home);
    }
    command
}

fn run(place: &Place, arguments: &[&str]) -> Done {
    finish(own(place, arguments), b"")
}

fn document(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(name)).unwrap()
}

const MODEL: [&str; 6] = ["profile", "a.str", "--target", "cuda", "--arch", "sm_90"];

/// What a stream takes for one choice.
fn cell(stream: &Value, limit: u64, threads: u64) -> &Value {
    let table = stream["gpu"]["table"].as_array().unwrap();
    table.iter().find(|c| c["limit"] == limit && c["threads"] == threads).unwrap()
}

#[test]
fn a_gpu_that_is_not_there_is_modelled() {
    if check::nvrtc("a_gpu_that_is_not_there_is_modelled").is_none() {
        return;
    }
    let place = Place::new().with("a.str", PROGRAM);
    let done = run(&place, &MODEL).ends(0).says("profile written to ");
    let head = "Main on NVIDIA H200 (sm_90, 132 multiprocessors): modelled, not measured\nblocks of 512 threads, at most 255 registers each; ";
    assert!(done.text().starts_with(head), "{}", done.text());
    assert!(done.text().contains("Main.Smooth") && done.text().contains("firing after firing"), "{}", done.text());
    // the same as a document, and it reads back
    run(&place, &[&MODEL[..], &["-o", "p.json"]].concat()).ends(0).says("--profile p.json");
    let profile = document(&place, "p.json");
    assert_eq!((&profile["schema"], &profile["machine"]["kind"]), (&"sluice-profile-1".into(), &"gpu".into()));
    assert_eq!((&profile["gpu"]["costs"], &profile["gpu"]["arch"]), (&"modelled".into(), &"sm_90".into()));
    let streams = profile["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 4, "filters and ends");
    for s in streams {
        assert_eq!(s["gpu"]["table"].as_array().unwrap().len(), 7 * 6, "{s}");
        let registers = cell(s, 255, 128)["registers"].as_u64().unwrap();
        assert!((16..=255).contains(&registers), "{s}");
        // limits that code keeps by itself make the same code
        assert_eq!(cell(s, 128, 128)["registers"], registers);
        assert!(cell(s, 24, 128)["registers"].as_u64().unwrap() <= 24);
        assert_eq!(s["gpu"]["unmeasured"], Value::Null);
        assert!(s["nanoseconds"].as_f64().unwrap() > 0.0);
    }
    assert_eq!((&streams[1]["gpu"]["serial"], &streams[2]["gpu"]["serial"]), (&false.into(), &true.into()));
    let shown = run(&place, &[&MODEL[..], &["--format", "json"]].concat()).ends(0);
    let shown: Value = serde_json::from_str(shown.text()).unwrap();
    assert_eq!(shown["streams"], profile["streams"]);
    let printed = run(&place, &[&MODEL[..], &["-o", "-"]].concat()).ends(0);
    assert_eq!(serde_json::from_str::<Value>(printed.text()).unwrap()["streams"], profile["streams"]);
    // schedules and builds find it in the cache
    let text = run(&place, &["schedule", "a.str"]).ends(0);
    let says = "costs: modelled, not measured: registers and spills of code for sm_90, profile of ";
    assert!(text.text().contains(says), "{}", text.text());
    let json = run(&place, &["schedule", "a.str", "--machine", "h200", "--format", "json"]).ends(0);
    let json: Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!((&json["costs"], &json["profile"]["machine"]), (&"modelled".into(), &"NVIDIA H200".into()));
    let none = run(&place, &["schedule", "a.str", "--profile", "none"]).ends(0);
    assert!(none.text().contains("costs: from the kernel IR\n"), "{}", none.text());
    assert!(run(&place, &["schedule", "a.str", "--machine", "a100"]).ends(0).text().contains("from the kernel IR"));
    let build = |more: &[&str]| {
        let all = ["build", "a.str", "--target", "cuda", "--scheme", "swp", "--method", "hms", "-o", "own.cu"];
        run(&place, &[&all, more].concat()).ends(0);
        place.read("own.cu")
    };
    for (more, profiled) in
        [(&["--arch", "sm_90"][..], true), (&[], true), (&["--arch", "sm_80"], false), (&["--profile", "none"], false)]
    {
        let text = build(more);
        let line = text.lines().find(|l| l.contains(" -c own.cu -o own.gpu.o")).unwrap();
        // 65536 registers for 512 threads
        assert_eq!(line.contains(" -maxrregcount=128 "), profiled, "{more:?}: {line}");
        assert_eq!(text.contains("#define SL_REGISTERS 128"), profiled);
        assert_eq!(text.contains("; costs: modelled, not measured"), profiled);
    }
}

#[test]
fn without_a_cuda_compiler_nothing_is_modelled() {
    let place = Place::new().with("a.str", PROGRAM);
    let mut command = own(&place, &MODEL);
    command.env("SLUICE_NVRTC", "/nowhere/libnvrtc.so");
    finish(command, b"").ends(3).says("error[E0984]: there is no NVRTC").says("there is no such file");
}

#[test]
fn programs_of_the_paper_are_modelled() {
    if check::nvrtc("programs_of_the_paper_are_modelled").is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
    for program in ["filterbank", "bitonic", "reverb"] {
        let place = Place::new();
        std::fs::copy(root.join(program).join(format!("{program}.str")), place.path("a.str")).unwrap();
        run(&place, &[&MODEL[..], &["-o", "p.json"]].concat()).ends(0);
        let profile = document(&place, "p.json");
        let streams = profile["streams"].as_array().unwrap();
        assert!(streams.iter().any(|s| cell(s, 24, 128)["spill_bytes"].as_u64().unwrap() > 0), "{program}");
        // more registers spill no more, and what spills costs more
        for s in streams {
            let bytes = |limit| cell(s, limit, 128)["spill_bytes"].as_u64().unwrap();
            let time = |limit| cell(s, limit, 128)["nanoseconds"].as_f64().unwrap();
            assert!(bytes(24) >= bytes(64) && bytes(64) >= bytes(255), "{program}: {s}");
            assert!(bytes(24) == bytes(255) || time(24) > time(255), "{program}: {s}");
        }
        let [block, registers] = ["threads", "registers"].map(|n| profile["gpu"][n].as_u64().unwrap());
        assert!(block > 128 && registers >= 64, "{program}: {block} threads, {registers} registers");
        run(&place, &["schedule", "a.str", "--profile", "p.json"]).ends(0);
    }
}

#[test]
fn the_emulated_gpu_has_profiles_of_its_own() {
    let place = Place::new().with("a.str", PROGRAM).with("in.f32", input(3001));
    let emulate = ["profile", "a.str", "--target", "cuda", "--emulate"];
    let done = run(&place, &emulate).ends(0);
    assert!(done.text().contains("times of the emulation, which say nothing of a GPU"), "{}", done.text());
    let dump = |more: &[&str]| {
        let all =
            ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", "swp", "--dump-after", "emit-cuda"];
        run(&place, &[&all, more].concat()).ends(0).text().to_string()
    };
    assert!(dump(&[]).contains("; costs: of the emulated GPU, profile of "));
    assert!(!dump(&["--profile", "none"]).contains("; costs:"));
    // where the threads of a block are said, the best choice among those is taken; where it has none, none
    let some = dump(&["--block-threads", "128"]);
    assert!(some.contains("; costs: of the emulated GPU") && some.contains("128"));
    let all = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", "swp", "--input", "in.f32"];
    let done = run(&place, &[&all[..], &["--block-threads", "64"]].concat()).ends(0);
    let done = done.says("the profile is not used: it has no blocks of 64 threads or less");
    assert!(done.stdout == run(&place, &["run", "a.str", "--input", "in.f32"]).ends(0).stdout);
    // no schedule for a machine is made of it
    assert!(run(&place, &["schedule", "a.str"]).ends(0).text().contains("costs: from the kernel IR\n"));
}

/// Filters with tiles, loops, state and prework; splitters and joiners.
const MANY: &str = "\
float->float filter Fir { work peek 9 pop 1 push 1 { float s = 0; for (int i = 0; i < 9; i++) s += peek(i) * (i + 1); push(s); pop(); } }
float->float filter Down { work pop 6 push 1 { float s = 0; for (int i = 0; i < 6; i++) s += pop(); push(s); } }
float->float filter Up { work pop 1 push 6 { float a = pop(); for (int i = 0; i < 6; i++) push(a + i); } }
float->float stateful filter Sum { float s = 0; work pop 1 push 1 { s = s / 2 + pop(); push(s); } }
float->float filter Late { prework push 3 { for (int i = 0; i < 3; i++) push(i); } work pop 1 push 1 { push(pop()); } }
float->float filter Mix { work pop 2 push 2 { float a = pop(); float b = pop(); push(a + b / 4); push(a / 2 - b); } }
float->float feedbackloop Echo {
    join roundrobin(1, 1);
    body Mix;
    split roundrobin(1, 1);
    for (int i = 0; i < 40; i++) enqueue i;
}
float->float splitjoin Both { split duplicate; add Fir; add Late; join roundrobin(2, 2); }
float->float pipeline Main { add Up; add Both; add Down; add Echo; add Sum; }
";

/// The profile with other threads: filter after filter another number.
fn changed(profile: &Value, block: u64, threads: &[u64], registers: u64) -> String {
    let mut profile = profile.clone();
    (profile["gpu"]["threads"], profile["gpu"]["registers"]) = (block.into(), registers.into());
    for (i, s) in profile["streams"].as_array_mut().unwrap().iter_mut().enumerate() {
        s["gpu"]["threads"] = threads[i % threads.len()].into();
        s["nanoseconds"] = (1.0 + (i * 7 % 5) as f64).into();
    }
    profile.to_string()
}

#[test]
fn every_number_of_threads_gives_the_same_bytes() {
    for (program, items) in [(PROGRAM, 3001), (MANY, 2048)] {
        let place = Place::new().with("a.str", program).with("in.f32", input(items));
        run(&place, &["profile", "a.str", "--target", "cuda", "--emulate", "-o", "p.json"]).ends(0);
        let profile = document(&place, "p.json");
        let want = run(&place, &["run", "a.str", "--interpret", "--input", "in.f32"]).ends(0).stdout;
        assert!(!want.is_empty());
        for (name, block, threads) in [("q.json", 128, &[32, 128, 64, 96][..]), ("r.json", 96, &[64, 32, 96])] {
            let place = &place;
            std::fs::write(place.path(name), changed(&profile, block, threads, 64)).unwrap();
            for (scheme, _) in sluice_driver::options::Scheme::NAMES {
                if name != "q.json" && !["serial", "swp"].contains(&scheme) {
                    continue;
                }
                let all = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--sms", "2", "--input", "in.f32"];
                let got = run(place, &[&all[..], &["--scheme", scheme, "--profile", name]].concat()).ends(0);
                assert!(got.stdout == want, "{scheme}, {name}");
                assert_eq!(got.stderr, "", "{scheme}, {name}");
            }
        }
        let dump = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", "swp", "--profile", "q.json"];
        let text = run(&place, &[&dump[..], &["--dump-after", "emit-cuda"]].concat()).ends(0);
        assert!(text.text().contains("if (sl_thread() < 32u)"), "some rest");
    }
}

/// A folder with the false driver and a program, and the kernels that measure it.
fn measured_program(program: &str) -> Place {
    let place = with_driver().with("a.str", program);
    let dump = ["profile", "a.str", "--target", "cuda", "--dump-after", "emit-cuda"];
    let text = finish(false_gpu(&place, "", &dump), b"").ends(0);
    let cache = Cache::at(&place.path("kernels"), 64 << 20);
    let kernels = compile::emulation_by(&Compiler::find_cxx().unwrap(), &cache, text.text()).unwrap();
    std::fs::copy(kernels, place.path("kernels.so")).unwrap();
    place
}

/// A command on the false GPU with these kernels and a cache of its own.
fn on_gpu(place: &Place, wrong: &str, arguments: &[&str]) -> Done {
    let mut command = false_gpu(place, wrong, arguments);
    command.env("FALSE_KERNELS", place.path("kernels.so")).env("SLUICE_CACHE", place.own_cache());
    finish(command, b"")
}

#[test]
fn a_gpu_is_measured() {
    if check::nvrtc("a_gpu_is_measured").is_none() {
        return;
    }
    let place = measured_program(PROGRAM);
    let profile = ["profile", "a.str", "--target", "cuda"];
    // where small blocks take twice as long, they are not chosen
    let done = on_gpu(&place, "slow=256", &profile).ends(0);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    let head = "Main on False GPU 0 (sm_90, 3 multiprocessors): measured, ";
    assert!(done.text().starts_with(head), "{}", done.text());
    assert!(done.text().contains("\nblocks of 256 threads, at most 255 registers each; "), "{}", done.text());
    on_gpu(&place, "slow=256", &[&profile[..], &["-o", "p.json"]].concat()).ends(0);
    let document = document(&place, "p.json");
    let on = &document["gpu"];
    assert_eq!((&on["costs"], &on["arch"], &on["driver"]), (&"measured".into(), &"sm_90".into(), &"13.5".into()));
    assert_eq!((&on["processors"], &on["threads"]), (&3.into(), &256.into()));
    let smooth = &document["streams"][1];
    // half a millisecond for 3072 firings of each block
    let time = cell(smooth, 255, 256)["nanoseconds"].as_f64().unwrap();
    assert!((time - 0.5e6 / 3072.0).abs() < 1e-3, "{smooth}");
    assert!((cell(smooth, 255, 128)["nanoseconds"].as_f64().unwrap() / time - 2.0).abs() < 1e-6);
    assert_eq!((&cell(smooth, 255, 256)["spread"], &smooth["nanoseconds"]), (&0.0.into(), &time.into()));
    assert!(document["firings"].as_u64().unwrap() > 3 * 3072 * 6 && document["seconds"].as_f64().unwrap() > 0.0);
    // a run there finds it; it is measured, and wins against one that is modelled
    run(&place, &MODEL).ends(0);
    let dump = ["run", "a.str", "--target", "cuda", "--scheme", "swp", "--dump-after", "emit-cuda"];
    let text = on_gpu(&place, "", &dump).ends(0);
    assert!(text.text().contains("; costs: measured, profile of "), "{}", &text.text()[..300]);
    assert!(text.text().contains("#define SL_REGISTERS 255"));
    // another driver may have another compiler: there is no profile of it, but one that is modelled
    let text = on_gpu(&place, "version=13000", &dump).ends(0);
    assert!(text.text().contains("; costs: modelled, not measured"), "{}", &text.text()[..300]);
    // and of another program none at all
    std::fs::write(place.path("a.str"), PROGRAM.replace("/ 3", "/ 4")).unwrap();
    assert!(!on_gpu(&place, "", &dump).ends(0).text().contains("; costs:"));
}

#[test]
fn a_kernel_that_does_not_end_is_told() {
    if check::nvrtc("a_kernel_that_does_not_end_is_told").is_none() {
        return;
    }
    let place = measured_program(PROGRAM);
    let done = on_gpu(&place, "stuck=1", &["profile", "a.str", "--target", "cuda", "-o", "p.json"]).ends(1);
    done.says("input does not end on zeros, or 3072 firings take longer than 10s").says("--arch models the GPU");
    assert!(!place.files().contains(&"p.json".to_string()));
}

#[test]
fn a_gpu_that_fails_has_no_profile() {
    if check::nvrtc("a_gpu_that_fails_has_no_profile").is_none() {
        return;
    }
    let place = measured_program(PROGRAM);
    let profile = ["profile", "a.str", "--target", "cuda", "-o", "p.json"];
    on_gpu(&place, "allocate=2", &profile).ends(3).says("error[E0987]: False GPU 0 has no memory for");
    on_gpu(&place, "finish=214", &profile).ends(3).says("error[E0986]");
    assert!(!place.files().contains(&"p.json".to_string()));
    // kernels that crash are not measured, and the others are
    let done = on_gpu(&place, "finish=700", &profile).ends(0);
    assert_eq!(done.text().matches("modelled: a kernel has crashed").count(), 4, "{}", done.text());
}

#[test]
fn what_does_not_run_on_a_gpu_has_no_profile() {
    let program = "int->int filter Some { work pop 1 push [0, 1] { int a = pop(); if (a > 1) push(a); } }\n";
    let place = Place::new().with("a.str", program);
    run(&place, &MODEL).ends(1).says("[E0980]");
}

#[test]
fn what_fails_on_zeros_is_not_measured() {
    if check::nvrtc("what_fails_on_zeros_is_not_measured").is_none() {
        return;
    }
    let program = "\
int->int filter Divide { work pop 1 push 1 { push(1000 / pop()); } }
int->int filter Show { work pop 1 push 1 { int a = pop(); if (a > 7) println(a); push(a); } }
int->int pipeline Main { add Divide; add Show; }
";
    let place = measured_program(program);
    let done = on_gpu(&place, "", &["profile", "a.str", "--target", "cuda", "-o", "p.json"]).ends(0);
    assert!(done.text().contains("modelled: it fails on zeros"), "{}", done.text());
    assert!(done.text().contains("modelled: it prints"), "{}", done.text());
    let profile = document(&place, "p.json");
    let divide = &profile["streams"][1];
    assert_eq!((&divide["nanoseconds"], &divide["gpu"]["unmeasured"]), (&Value::Null, &"it fails on zeros".into()));
    assert!(cell(divide, 255, 128)["nanoseconds"].as_f64().unwrap() > 0.0, "the model's");
    let text = on_gpu(&place, "", &["schedule", "a.str", "--profile", "p.json"]).ends(0);
    assert!(text.text().contains("; of 2 streams that did not fire then, from the kernel IR"), "{}", text.text());
}

#[test]
fn a_computer_without_a_gpu_models_one() {
    let place = Place::new().with("a.str", PROGRAM).with("driver/libcuda.so", "no library");
    let place = place.with("driver/libcuda.so.1", "no library");
    let profile = |more: &[&str]| {
        let mut command = own(&place, &[&["profile", "a.str", "--target", "cuda"], more].concat());
        command.env("LD_LIBRARY_PATH", place.path("driver"));
        finish(command, b"")
    };
    // who names one means it
    profile(&["--gpu", "0"]).ends(3).says("error[E0981]");
    if check::nvrtc("a_computer_without_a_gpu_models_one").is_none() {
        return;
    }
    let done = profile(&[]).ends(0).says("was not found: costs are modelled for sm_90, not measured");
    assert!(done.text().contains("modelled, not measured"), "{}", done.text());
}

#[test]
fn profiles_that_do_not_fit_are_refused() {
    let place = Place::new().with("a.str", PROGRAM).with("b.str", PROGRAM.replace("/ 3", "/ 4"));
    let place = place.with("in.f32", input(300));
    run(&place, &["profile", "a.str", "--target", "cuda", "--emulate", "-o", "gpu.json"]).ends(0);
    run(&place, &["profile", "a.str", "--input", "in.f32", "-o", "cpu.json"]).ends(0);
    let refused = |args: &[&str], profile: &str, why: &str| {
        run(&place, &[args, &["--profile", profile]].concat()).ends(3).says(why);
    };
    let emulate = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--input", "in.f32", "--scheme"];
    for scheme in ["swp", "fused"] {
        refused(
            &[&emulate[..], &[scheme]].concat(),
            "cpu.json",
            "[E0972] Error: a profile of a CPU says nothing about a GPU",
        );
    }
    refused(
        &["schedule", "a.str", "--machine", "cpu"],
        "gpu.json",
        "[E0972] Error: a profile of a GPU says nothing about",
    );
    refused(&["schedule", "b.str"], "gpu.json", "[E0971]");
    let build = ["build", "a.str", "--target", "cuda", "-o", "own.cu", "--scheme", "swp", "--arch", "sm_90,sm_80"];
    refused(&build, "gpu.json", "a profile of the emulated GPU says nothing about sm_80 and sm_90");
    let good = document(&place, "gpu.json");
    let wrong = |change: &dyn Fn(&mut Value), why: &str| {
        let mut profile = good.clone();
        change(&mut profile);
        std::fs::write(place.path("wrong.json"), profile.to_string()).unwrap();
        refused(&[&emulate[..], &["swp"]].concat(), "wrong.json", why);
    };
    wrong(&|p| p["gpu"]["threads"] = 100.into(), "[E0970]");
    wrong(&|p| p["gpu"]["threads"] = 2048.into(), "a block has 32 to 1024 threads");
    wrong(&|p| p["gpu"]["registers"] = 8.into(), "a thread 16 to 255 registers");
    wrong(&|p| p["streams"][1]["gpu"]["threads"] = 1024.into(), "no more than the block's");
    wrong(&|p| p["streams"][1]["gpu"] = Value::Null, "does not say how many threads fire a stream");
    wrong(&|p| p["streams"][1]["gpu"]["table"][0]["nanoseconds"] = (-1.0).into(), "[E0970]");
    wrong(&|p| p["gpu"] = Value::Null, "does not say what was chosen there");
    wrong(&|p| p["machine"]["kind"] = "cpu".into(), "no part of a profile of a CPU");
    assert!(!place.files().contains(&"own.cu".to_string()));
}

#[test]
fn options_of_profiles_that_clash() {
    let place = Place::new().with("a.str", PROGRAM);
    let profile = |more: &[&str]| place.run(&[&["profile", "a.str"], more].concat()).ends(2);
    for option in ["--emulate", "--gpu=1", "--arch=sm_90", "--machine=h200"] {
        let name = option.split('=').next().unwrap();
        profile(&[option]).says(&format!("{name} has a meaning only with --target cuda"));
    }
    for option in ["--input=x", "--iterations=3", "--seconds=1", "--input-format=raw"] {
        let name = option.split('=').next().unwrap();
        profile(&["--target", "cuda", option]).says(&format!("{name} and --target cuda cannot be used together"));
    }
    profile(&["--target", "cuda", "--emulate", "--arch", "sm_90"]).says("cannot be used with");
    profile(&["--target", "cuda", "--arch", "sm_90", "--machine", "cpu"]).says("is no GPU");
    place.run(&["run", "a.str", "--profile", "x"]).ends(2).says("--profile has a meaning only with --target cuda");
}
