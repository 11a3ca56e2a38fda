//! Loops that ask of their counters: windows at borders, of one dimension and of two, in every way that people write them, are split, and give the same bytes everywhere.

use crate::fusing::{ints, same};
use crate::support::*;

/// Nothing beyond the border, by conditions and by a choice; the nearest item, by conditions, and by `min` and `max`; mirrored; round, by a remainder and by a mask; written out by hand;
/// rows and columns of one counter; `continue`; a border that is only copied; what the loop's first turns alone do, and what is left in variables.
const BORDERS: &str = "int->int filter Nothing(int H, int W) { work pop H * W push H * W {
    for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) { int s = 0;
        for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++)
            if (y + j >= 0 && y + j < H && x + i >= 0 && x + i < W) s += (2 * j + i + 4) * peek((y + j) * W + x + i);
        push(s); }
    for (int i = 0; i < H * W; i++) pop(); } }
int->int filter Chosen(int H, int W) { work pop H * W push H * W {
    for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) { int s = 1;
        for (int j = 0; j < 5; j++) for (int i = 0; i < 3; i++) { int yy = y + j - 2; int xx = x + i - 1;
            int v = (yy < 0 || yy >= H || xx < 0 || xx >= W) ? -1 : peek(yy * W + xx); s = s * 3 ^ v; }
        push(s); }
    for (int i = 0; i < H * W; i++) pop(); } }
int->int filter Nearest(int W) { work pop W push W {
    for (int x = 0; x < W; x++) { int s = 0;
        for (int i = -2; i <= 2; i++) { int xx = x + i; if (xx < 0) xx = 0; if (xx >= W) xx = W - 1; s += (i + 3) * peek(xx); }
        push(s + min(x, 5) + max(x - 40, 0)); }
    for (int x = 0; x < W; x++) pop(); } }
int->int filter Bounded(int H, int W) { work pop H * W push H * W {
    for (int y = H - 1; y >= 0; y--) for (int x = 0; x < W; x += 2) for (int k = 0; k < 2; k++) { int s = 0;
        for (int j = -2; j <= 2; j += 2) s += peek(max(0, min(y + j, H - 1)) * W + min(max(x + k - j, 0), W - 1)) * (j + 3);
        push(s); }
    for (int i = 0; i < H * W; i++) pop(); } }
int->int filter Mirrored(int W) { work pop W push W {
    for (int x = 0; x < W; x++) { int s = 0;
        for (int i = -3; i <= 3; i++) { int xx = abs(x + i); if (xx >= W) xx = 2 * W - 2 - xx; s += (i + 4) * peek(xx); }
        push(s); }
    for (int x = 0; x < W; x++) pop(); } }
int->int filter Round(int H, int W) { work pop H * W push H * W {
    for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) { int s = 0;
        for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) if (i != 0 || j != 0) s += peek((y + j + H) % H * W + (x + i & W - 1));
        push(s + peek(y * W + x) * 10); }
    for (int i = 0; i < H * W; i++) pop(); } }
int->int filter ByHand(int W) { work pop W push W { int seen; int i;
    for (i = 0; i < W; i++) { int s = 4 * peek(i); if (i < 2) seen = s;
        if (i >= 1) s += 2 * peek(i - 1); if (i >= 2) s += peek(i - 2); if (i + 1 < W) s += 3 * peek(i + 1); if (i + 2 < W) s -= peek(i + 2) + seen;
        push(s + (i == W / 2 ? 7 : 0)); }
    for (int k = 0; k < W; k++) { if (k == 3) { pop(); continue; } if (k > W - 2) i += k; pop(); } if (i < 0) push(0); } }
int->int filter Copied(int H, int W) { work pop H * W push H * W {
    for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) {
        if (y == 0 || x == 0 || y == H - 1 || x == W - 1) { push(peek(y * W + x)); continue; }
        push(peek(y * W + x - 1) + peek(y * W + x + 1) - peek(y * W - W + x) + peek(y * W + W + x)); }
    for (int i = 0; i < H * W; i++) pop(); } }
int->int filter Flat(int H, int W) { work pop H * W push H * W {
    for (int p = 0; p < H * W; p++) { int y = p / W; int x = p % W; int s = peek(p);
        if (x > 0) s += peek(p - 1); if (x < W - 1) s += 2 * peek(p + 1); if (y > 0) s ^= peek(p - W); if (y == H - 1) s = -s;
        push(s); }
    for (int i = 0; i < H * W; i++) pop(); } }
int->int filter Narrow { work pop 1 push 1 { push(pop() % 1000); } }
";

const ALL: &str = "int->int pipeline Main { add Nothing(8, 12); add Narrow; add Chosen(8, 12); add Narrow; add Nearest(96); add Narrow; add Bounded(8, 12); add Narrow;
    add Mirrored(96); add Narrow; add Round(6, 16); add Narrow; add ByHand(96); add Narrow; add Copied(8, 12); add Narrow; add Flat(8, 12); }
";

#[test]
fn borders_give_the_same() {
    let program = format!("{BORDERS}{ALL}");
    same(&program, ints, &[95, 3000]);
    let place = Place::new().with("a.str", &program);
    let bytes = ints(4000);
    let by = |arguments: &[&str]| place.run_with(&[&["run", "a.str"], arguments].concat(), &bytes).ends(0).stdout;
    let reference = by(&["--interpret"]);
    for way in [
        &["--back-end", "jit"][..],
        &["--inner", "none", "-O0", "--back-end", "cc"],
        &["-O0", "--target", "cuda", "--emulate", "--sms", "2"],
    ] {
        assert!(by(way) == reference, "{way:?}");
    }
}

/// The kernel of a filter after the pass, as text.
fn after(filter: &str, arguments: &[&str]) -> String {
    let place = Place::new().with("a.str", format!("{BORDERS}int->int pipeline Main {{ add {filter}; add Narrow; }}"));
    let text =
        place.run(&[&["run", "a.str", "--dump-after", "split-loops"], arguments].concat()).ends(0).text().to_string();
    text.split("kernel \"Narrow\"").next().unwrap_or_default().to_string()
}

#[test]
fn most_turns_ask_nothing() {
    for filter in [
        "Nothing(16, 24)",
        "Chosen(24, 32)",
        "Nearest(48)",
        "Mirrored(32)",
        "ByHand(40)",
        "Copied(10, 12)",
        "Flat(8, 12)",
    ] {
        let text = after(filter, &[]);
        assert!(!text.contains("if ") && !text.contains("select"), "{filter}: {text}");
        let whole = after(filter, &["--inner", "none"]);
        assert!(whole.contains("if ") || whole.contains("select"), "{filter}: {whole}");
    }
    for filter in ["Bounded(8, 12)", "Round(8, 16)"] {
        let text = after(filter, &[]);
        let asks = |w: &&str| text.contains(*w);
        let left: Vec<&str> = ["min(", "max(", " % ", " & "].into_iter().filter(asks).collect();
        assert!(left.is_empty(), "{filter}: {left:?} {text}");
    }
}

/// A product of a window with coefficients, of two dimensions: rows of turns are vectors, but for the border.
#[test]
fn the_middle_of_a_picture_is_vectors() {
    let program =
        "float->float filter Conv(int W) { float[3][3] k = {{0.1, 0.2, 0.1}, {0.2, 0.4, 0.2}, {0.1, 0.2, 0.1}};
    work pop W * W push W * W { for (int y = 0; y < W; y++) for (int x = 0; x < W; x++) { float s = 0;
        for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++)
            if (y + j >= 0 && y + j < W && x + i >= 0 && x + i < W) s += k[j + 1][i + 1] * peek((y + j) * W + x + i);
        push(s); }
    for (int i = 0; i < W * W; i++) pop(); } }
float->float pipeline Main { add Conv(64); }";
    let place = Place::new().with("a.str", program);
    let text = place.run(&["run", "a.str", "--dump-after", "turns-abreast"]).ends(0).text().to_string();
    assert!(text.contains("= 1 < 63 step 1 abreast"), "{text}");
    assert!(!text.contains("check ") && !text.contains("if "), "{text}");
}
