//! Compiles the engine that made code runs on: the C files that programs have which a C compiler makes, as a part of this crate.

fn main() {
    let files = "../codegen/rts/c";
    println!("cargo:rerun-if-changed={files}");
    println!("cargo:rerun-if-changed=rts/sl_jit.c");
    for (library, counts) in [("sluice_jit_engine", false), ("sluice_jit_engine_counting", true)] {
        let mut build = cc::Build::new();
        build.file("rts/sl_jit.c").include(files).opt_level(2).warnings(false);
        // what fixes the meaning of the arithmetic, whatever the profile
        for flag in ["-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing"] {
            build.flag(flag);
        }
        build.flag_if_supported("-fno-trapping-math");
        if counts {
            build.define("SL_STATS", "1");
        }
        build.compile(library);
    }
}
