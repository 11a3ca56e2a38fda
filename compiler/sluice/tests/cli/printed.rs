//! Numbers as text: native code makes the digits of most by itself, of the others the C library does; the interpreter has its own.

use crate::support::*;

/// Doubles that lie on, or next to, what six places round at; the least, the largest, those near where the C library takes over.
const PROGRAM: &str = "static {
    double[24] near = {0.0, -0.0, 0.0000005, 0.0000015, -0.0000025, 0.4999995, 1.0000005, 2.5, 1048576.0000005, 0.99999949999, 0.9999995,
        999999.9999995, 8796093022207.5, 8796093022208.5, 8796093022209.125, 17592186044416.75, -17592186044415.875, 4503599627370497.5,
        9007199254740993.0, 9223372036854775807.0, 1e22, -1e300, 3e-320, 1e-7};
}
void->void filter Main {
    int n;
    double x = 1e-9;
    work {
        for (int i = 0; i < 24; i++) { println(near[i] * (n + 1)); println((float) near[i]); }
        // halves of a millionth, exactly and as near as doubles come
        println((2 * n + 1) * 0.0000005); println((2 * n + 1) / 128.0); println((float) ((2 * n + 1) / 16777216.0)); println(n * 0.3 - 7);
        x = x * 1.7 + n * 1e-8; println(x); println(-x); println(1 / x); println((float) x);
        println(n * 7919 * 104729); println(-n); println(2147483647 - n); println(-2147483647 - 1 + n); println((complex) n * 0.5);
        n++;
    }
}";

#[test]
fn numbers_are_printed_as_by_the_interpreter() {
    let place = Place::new().with("a.str", PROGRAM);
    let by =
        |arguments: &[&str]| place.run(&[&["run", "a.str", "--iterations", "300"], arguments].concat()).ends(0).stdout;
    let reference = by(&["--interpret"]);
    assert!(reference.windows(9).any(|w| w == b"-0.000000") && reference.len() > 100_000);
    for way in [&["--back-end", "cc"][..], &["--back-end", "jit"], &["--back-end", "cc", "-O", "0"]] {
        assert!(by(way) == reference, "{way:?}");
    }
}
