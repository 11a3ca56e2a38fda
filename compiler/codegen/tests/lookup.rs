//! Tables of bytes (`sl_lookup.h`), bits turned round and words mixed of two (`sl_math.h`), for processors with and without instructions for them, and by each C compiler that there is: every table length, every place.
#![allow(clippy::disallowed_methods)] // C is compiled and run

use sluice_codegen::c::rts;
use std::path::Path;
use std::process::Command;

/// Tables as print-lookup makes them; tells the first place that is not what it should be.
const MAIN: &str = r#"
#include <stdio.h>
static int32_t table[256];
static _Alignas(64) uint8_t bytes[768];
static uint32_t random_word(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return s ^ s >> 15; }
static void fill(long n, long padded) {
    memset(bytes, 0, sizeof bytes);
    for (long i = 0; i < n; i++) bytes[i] = (uint8_t)(table[i] = (int32_t)(random_word() & 255));
    for (long i = 0; i < padded; i++)
        for (int side = 0; side < 2; side++)
            bytes[padded + i / 16 * 32 + side * 16 + i % 16] = bytes[i] ^ (i % 64 < 16 ? 0 : bytes[i - 16]);
}
static int tell(long n, int32_t at, int32_t is) { printf("%ld: %x gives %x\n", n, (unsigned)at, (unsigned)is); return 1; }
/* Places within the wanted bytes, anything in the others. */
static int32_t place(long n, int32_t wanted) {
    uint32_t w = random_word();
    for (int bit = 0; bit < 32; bit += 8)
        if (wanted >> bit & 1) w = (w & ~(255u << bit)) | (w >> bit & 255) % (uint32_t)n << bit;
    return (int32_t)w;
}
#define WANTED(mask) \
    for (int round = 0; round < 64; round++) { \
        sl_vi at; \
        for (int l = 0; l < SL_LANES; l++) at[l] = place(n, (int32_t)(mask)); \
        const sl_vi is = sl_vi_lookup_each(bytes, table, n, at, (int32_t)(mask)); \
        for (int l = 0; l < SL_LANES; l++) { \
            uint32_t right = 0; \
            for (int bit = 0; bit < 32; bit += 8) \
                if ((mask) >> bit & 1) right |= (uint32_t)table[at[l] >> bit & 255] << bit; \
            if ((uint32_t)is[l] != right) return tell(n, at[l], is[l]); \
        } \
    }
#define LENGTH(length) \
    { \
        enum { n = length }; \
        fill(n, n <= 64 ? 64 : n <= 128 ? 128 : 256); \
        for (int first = 0; first < n; first++) { \
            sl_vi at; \
            for (int l = 0; l < SL_LANES; l++) at[l] = (first + l * 5) % n; \
            const sl_vi is = sl_vi_lookup_bytes(bytes, table, n, at); \
            for (int l = 0; l < SL_LANES; l++) \
                if (is[l] != table[at[l]]) return tell(n, at[l], is[l]); \
        } \
        WANTED(0xFFFFFFFFu) WANTED(0xFF00FF00u) WANTED(0x0000FFFFu) WANTED(0xFFFF00FFu) \
    }
#define TURN(n) \
    { \
        sl_vi x; \
        for (int l = 0; l < SL_LANES; l++) x[l] = (int32_t)random_word(); \
        const sl_vi is = sl_vi_rotl(x, n); \
        for (int l = 0; l < SL_LANES; l++) \
            if ((uint32_t)is[l] != ((uint32_t)x[l] << n | (uint32_t)x[l] >> (32 - n))) return tell(n, x[l], is[l]); \
    }
#define MIXED(mask) \
    { \
        sl_vi a, b; \
        for (int l = 0; l < SL_LANES; l++) a[l] = (int32_t)random_word(), b[l] = (int32_t)random_word(); \
        const sl_vi is = sl_vi_mixed(a, b, (int32_t)(mask)); \
        for (int l = 0; l < SL_LANES; l++) \
            if (is[l] != ((a[l] & (int32_t)(mask)) | (b[l] & ~(int32_t)(mask)))) return tell((long)(mask), a[l], is[l]); \
    }
int main(void)
{
    TURN(1) TURN(7) TURN(8) TURN(9) TURN(15) TURN(16) TURN(17) TURN(23) TURN(24) TURN(25) TURN(31)
    MIXED(0xFF000000u) MIXED(0x00FF00FFu) MIXED(0x000000FFu) MIXED(0x7FFFFFFFu) MIXED(0x00FF01FFu) MIXED(0x01010101u) MIXED(0xFFFFFF00u)
    LENGTH(1) LENGTH(16) LENGTH(17) LENGTH(64) LENGTH(65) LENGTH(100) LENGTH(128)
    LENGTH(129) LENGTH(192) LENGTH(200) LENGTH(256)
    puts("right");
    return 0;
}
"#;

/// Flags for a processor, the instructions that must be in what is made (by gcc; others may know more names), and what the processor's list of flags must have to run it.
const PROCESSORS: [(&[&str], &str, &[&str]); 6] = [
    (&["-march=x86-64"], "", &[]),
    (&["-march=x86-64", "-mssse3"], "pshufb", &["ssse3"]),
    (&["-march=x86-64", "-msse4.1", "-mssse3"], "pblendvb", &["ssse3", "sse4_1"]),
    (&["-march=x86-64", "-mavx2"], "vpblendvb", &["avx2"]),
    (&["-march=x86-64", "-mavx512f", "-mavx512bw"], "vpshufb", &["avx512f", "avx512bw"]),
    (
        &["-march=icelake-server"],
        "vperm[it]2b",
        &["avx512f", "avx512bw", "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "vaes"],
    ),
];

fn text() -> String {
    let mut out = String::new();
    for part in rts::MATH.into_iter().chain([rts::LOOKUP]) {
        rts::append(&mut out, part, rts::Parts::default());
    }
    out + MAIN
}

/// Makes a file of the text; what the compiler says where it does not.
fn compiled(compiler: &str, folder: &Path, flags: &[&str], to: &str) -> Result<(), String> {
    let done = Command::new(compiler)
        .args(rts::CC_FLAGS)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-bitwise-conditional-parentheses"])
        .args(flags)
        .arg(folder.join("lookup.c"))
        .arg("-o")
        .arg(folder.join(to))
        .output()
        .unwrap();
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into()) }
}

#[test]
fn every_place_of_every_table() {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let here = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let here: std::collections::BTreeSet<&str> =
        here.lines().find(|l| l.starts_with("flags")).unwrap_or_default().split_whitespace().collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lookup.c"), text()).unwrap();
    // whatever this processor is
    compiled("cc", folder.path(), &["-march=native"], "own")
        .or_else(|_| compiled("cc", folder.path(), &[], "own"))
        .unwrap();
    let said = |exe: &str| {
        let out = Command::new(folder.path().join(exe)).output().unwrap();
        String::from_utf8_lossy(&out.stdout).to_string()
    };
    assert_eq!(said("own"), "right\n");
    if !cfg!(target_arch = "x86_64") {
        return sluice_skipped::skipped("not an x86-64: tables of bytes are looked up by this processor's code only");
    }
    for compiler in ["gcc", "clang"] {
        if !has(compiler) {
            sluice_skipped::skipped(&format!("there is no {compiler}: it does not compile look-ups"));
            continue;
        }
        for (flags, instruction, needs) in PROCESSORS {
            compiled(compiler, folder.path(), &[flags, &["-S"]].concat(), "lookup.s")
                .unwrap_or_else(|why| panic!("{compiler} {flags:?}: {why}"));
            let made = std::fs::read_to_string(folder.path().join("lookup.s")).unwrap();
            let (one, other) = (instruction.replace("[it]", "i"), instruction.replace("[it]", "t"));
            assert!(made.contains(&one) || made.contains(&other), "{compiler} {flags:?}: no {instruction}");
            if needs.iter().all(|n| here.contains(n)) {
                compiled(compiler, folder.path(), flags, "lookup").unwrap();
                assert_eq!(said("lookup"), "right\n", "{compiler} {flags:?}");
            } else {
                sluice_skipped::skipped(&format!("no {needs:?} here: look-ups made with {flags:?} are not run"));
            }
        }
    }
}
