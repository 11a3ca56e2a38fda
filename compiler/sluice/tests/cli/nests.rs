//! Loops whose turns take sums, in vectors of turns: the same bytes as the interpreter's, whatever the sums, how many turns are left over, and how wide vectors are.

use crate::support::*;
use crate::windows::at_all_widths;

/// A filter with a state, which takes 80 items and gives two.
fn filter(name: &str, fields: &str, body: &str) -> String {
    format!(
        "float->float filter {name} {{ float[400] x; float carried; {fields}
    work pop 80 push 2 {{
        for (int i = 0; i < 320; i++) x[i] = x[i + 80];
        for (int i = 0; i < 80; i++) x[320 + i] = pop();
        {body}
        carried = carried * 0.5 + x[0];
    }} }}\n"
    )
}

/// The place of the strongest of `turns` sums of `inner` products each.
fn strongest(turns: usize, inner: usize) -> String {
    format!(
        "float best = carried; int place = 0;
        for (int lag = 20; lag < {}; lag++) {{
            float sum = 0;
            for (int i = 0; i < {inner}; i++) sum += x[i] * x[i + lag];
            if (sum > best) {{ best = sum; place = lag; }}
        }}
        push(best); push(place);",
        20 + turns
    )
}

/// Written where they are wanted: a product with a matrix whose rows are what turns add up.
const PRODUCT: &str = "float[33] y;
        for (int r = 0; r < 33; r++) {
            float sum = carried;
            for (int c = 0; c < 12; c++) sum = sum + m[c][r] * x[c + 7];
            y[r] = sum;
        }
        for (int c = 0; c < 12; c++) for (int r = 0; r < 33; r++) m[c][r] = m[c][r] * 0.75 + y[r] * x[r] * 0.01;
        push(y[0] + y[31]); push(y[32]);";

/// Loops in loops, magnitudes, ints of the turn, and what is the same in all turns.
const DEEP: &str = "float least = 1e30; float all = 0;
        for (int d = 0; d < 40; d++) {
            float a = d * 0.25; float b = 1;
            for (int i = 0; i < 4; i++) {
                float row = x[i * 9];
                for (int j = 0; j < 3; j++) {
                    float one = abs(x[i * 9 + j + d] - row) + (i == j ? carried : 0.5);
                    a += min(one, 2.5 - x[j]);
                    b = max(b, one) * 0.9 + (one > a ? one : a) * (d < 20 ? 0.125 : 0.25);
                }
            }
            least = min(least, a); all += sqrt(abs(b));
        }
        push(least); push(all);";

/// Two sums of which the second is wanted only sometimes, and the first is changed behind the loops.
const TWO: &str = "float re = 0; float im = 0; int n = 0;
        for (int k = 3; k < 53; k++) {
            float a = 0; float b = -x[1];
            for (int i = 0; i < 20; i++) { a += x[k + i] * x[2 * i]; b -= x[k + i + 1] * x[2 * i + 1]; }
            a *= a;
            if (a > re) { re = a; im += b; n++; }
        }
        push(re + n); push(im);";

/// The program's filters one after another, each given items enough.
fn chain(filters: &[String]) -> String {
    let more = "float->float filter More { float c; work pop 2 push 80 {
        float a = pop(); float b = pop();
        if (a != a || abs(a) > 1e6) a = 1; if (b != b || abs(b) > 1e6) b = -1;
        for (int i = 0; i < 80; i++) { c = c * 0.5 + (i % 9 - 4) * (i % 2 == 0 ? a : b) * 0.1; push(c); } } }\n";
    let adds: String = (0..filters.len())
        .map(|i| format!("add F{i}; {}", if i + 1 < filters.len() { "add More; " } else { "" }))
        .collect();
    format!("{}{more}float->float pipeline Main {{ {adds}}}", filters.concat())
}

/// How many loops of the C text are vectors of turns.
fn nests(place: &Place) -> usize {
    place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().matches(" + 1 * SL_LANES <= ").count()
}

#[test]
fn sums_of_turns_are_the_same() {
    let bodies = [
        strongest(128, 160),
        strongest(16, 8),
        strongest(21, 9),
        strongest(64, 100),
        strongest(100, 31),
        PRODUCT.into(),
        DEEP.into(),
        TWO.into(),
    ];
    let filters: Vec<String> = bodies
        .iter()
        .enumerate()
        .map(|(i, b)| filter(&format!("F{i}"), if b.contains("m[c][r]") { "float[12][33] m;" } else { "" }, b))
        .collect();
    let program = chain(&filters);
    let place = Place::new().with("a.str", &program);
    assert_eq!(nests(&place), bodies.len(), "{program}");
    at_all_widths(&place, &program, 1, &[0, 79, 80, 5000]);
}

/// Products of a matrix that is known with a vector: a row for each turn, in a filter with a state and in one of which few firings are left over.
#[test]
fn rows_of_known_matrices_are_the_same() {
    let table = "float[33][12] w; float[2][16][9] v;
        init { for (int r = 0; r < 33; r++) for (int c = 0; c < 12; c++) w[r][c] = sin(r * 1.3 + c * 0.7);
               for (int g = 0; g < 2; g++) for (int r = 0; r < 16; r++) for (int c = 0; c < 9; c++) v[g][r][c] = cos(g + r * 0.9 + c * 2.1); }";
    let body = "float[33] y; float[16] z; float best = carried; int place = 0;
        for (int r = 0; r < 33; r++) { float s = x[r]; for (int c = 0; c < 12; c++) s += w[r][c] * x[c + 40]; y[r] = s / (1 + abs(s)); }
        for (int r = 0; r < 16; r++) { float s = 0.5; for (int c = 0; c < 9; c++) s -= v[1][r][c] * y[c]; z[r] = s; }
        for (int r = 0; r < 16; r++) { float s = carried; for (int c = 0; c < 9; c++) { float d = z[c] - v[0][r][c]; s += d * d; } if (s > best) { best = s; place = r; } }
        push(best + w[place][3]); push(place + z[15]);";
    let program = filter("F0", table, body) + "float->float pipeline Main { add F0; }";
    let place = Place::new().with("a.str", &program);
    assert_eq!(nests(&place), 3, "{program}");
    at_all_widths(&place, &program, 1, &[0, 79, 80, 5000]);
    // without a state: vectors of firings, and of turns for those that are left over
    let program = "float->float filter F { float[40][24] w;
        init { for (int r = 0; r < 40; r++) for (int c = 0; c < 24; c++) w[r][c] = sin(r * 1.3 + c * 0.7); }
        work peek 24 pop 3 push 40 {
            for (int r = 0; r < 40; r++) { float s = 0; for (int c = 0; c < 24; c++) s += w[r][c] * peek(c); push(s); }
            pop(); pop(); pop();
        } }
        float->float pipeline Main { add F; }";
    let place = Place::new().with("a.str", program);
    assert!(nests(&place) > 0, "{program}");
    at_all_widths(&place, program, 1, &[0, 24, 30, 75, 5000]);
}

/// What another turn, or another firing, changes keeps its order.
#[test]
fn turns_that_need_each_other_are_the_same() {
    let bodies = [
        "for (int k = 0; k < 32; k++) { float s = 0; for (int i = 0; i < 16; i++) s += x[k + i]; x[k + 2] = s * 0.1; } push(x[0]); push(x[33]);",
        "float s = 0; for (int k = 0; k < 32; k++) { for (int i = 0; i < 16; i++) s += x[k + i] * x[i]; } push(s); push(s);",
        "float t = 0; for (int k = 0; k < 32; k++) { float s = 0; for (int i = 0; i < 16; i++) s += x[k + i] * t; t = s * 0.01 + 1; } push(t); push(t);",
    ];
    let filters: Vec<String> = bodies.iter().enumerate().map(|(i, b)| filter(&format!("F{i}"), "", b)).collect();
    let program = chain(&filters);
    let place = Place::new().with("a.str", &program);
    assert_eq!(nests(&place), 0, "{program}");
    at_all_widths(&place, &program, 1, &[5000]);
}
