//! Firings in vectors of their own items: the same bytes everywhere, and only where the items of a firing allow it.

use crate::fusing::{ints, same};
use crate::support::*;

fn reals(n: usize) -> Vec<u8> {
    // infinities, NaNs and zeroes of both signs among them
    let one = |i: usize| match i % 97 {
        13 => f32::INFINITY,
        40 => f32::NAN,
        61 => -0.0,
        62 => 0.0,
        _ => (i as f32 * 0.37).sin() * 3.0,
    };
    (0..n).flat_map(|i| one(i).to_le_bytes()).collect()
}

/// Products whose rows have `columns` items.
const PRODUCT: &str = "float->float filter Product(int rows, int inner, int columns) {
    work pop rows * inner + inner * columns push rows * columns {
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++) {
                float sum = 0;
                for (int i = 0; i < inner; i++)
                    sum += peek(r * inner + i) * peek(rows * inner + i * columns + c);
                push(sum);
            }
        for (int i = 0; i < rows * inner + inner * columns; i++)
            pop();
    }
}
";

/// Rows and columns of `n` items, of which each has another formula.
const SQUARES: &str = "float->float filter Mixed(int n) {
    work pop n push n {
        for (int i = 0; i < n; i++) {
            if (i % 4 == 0) { push(peek(i) + peek(n - 1 - i)); }
            else if (i % 4 == 1) { push(peek(i) * 0.5 - peek(0)); }
            else if (i % 4 == 2) { push(max(peek(i), peek(i - 1)) * peek(1)); }
            else { push(-(peek(i) - peek(2) * peek(3))); }
        }
        for (int i = 0; i < n; i++)
            pop();
    }
}
float->float filter Factors(int n) {
    work pop n push n { for (int i = 0; i < n; i++) push(pop() * (0.25 + i)); }
}
float->float pipeline Squares(int n) {
    add splitjoin { split roundrobin(n); for (int i = 0; i < n; i++) add Mixed(n); join roundrobin(n); }
    add splitjoin { split roundrobin(1); for (int i = 0; i < n; i++) add Mixed(n); join roundrobin(1); }
    add Factors(n * n);
}
";

/// The C text has a loop over vectors of a firing's items with so many lanes.
#[track_caller]
fn goes_within(program: &str, lanes: u32, squares: bool) {
    let place = Place::new().with("a.str", program);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert!(text.contains(&format!("abreast = SL_LANES / {lanes} }}")), "no vectors of {lanes}");
    assert_eq!(text.contains("            sl_turn_squares(s"), squares);
}

#[test]
fn products_whose_rows_are_vectors() {
    for (rows, inner, columns) in [(4, 4, 16), (12, 12, 9), (6, 5, 8), (5, 4, 12)] {
        let program = format!("{PRODUCT}float->float pipeline Main {{ add Product({rows}, {inner}, {columns}); }}");
        goes_within(&program, columns, false);
        let items = rows * inner + inner * columns;
        same(&program, reals, &[items as usize, 15 * items as usize + 3, 1000 * items as usize]);
    }
}

#[test]
fn squares_that_are_turned_round() {
    for n in [4, 8, 16] {
        let program = format!("{SQUARES}float->float pipeline Main {{ add Squares({n}); }}");
        goes_within(&program, n, true);
        same(&program, reals, &[0, (n * n) as usize, (n * n) as usize * 35 + 1, 70_000]);
    }
}

/// Of ints, by choices and shifts; complex numbers, whose parts are words; ints that become floats.
const OTHERS: &str = "int->int filter Choose {
    work pop 8 push 8 {
        for (int i = 0; i < 8; i++) {
            int x = peek(i) * 3 - (peek(i) >> 2);
            push((x > 100 && peek(i) != 7 ? min(x, 900) : ~x ^ peek(i)) << 1);
        }
        for (int i = 0; i < 8; i++)
            pop();
    }
}
int->complex filter Pairs {
    work pop 16 push 8 {
        for (int i = 0; i < 8; i++) {
            float re = pop() * 0.5 + 1;
            float im = pop() * 0.5 + 1;
            push(complex(sqrt(re * re), sqrt(im * im)));
        }
    }
}
complex->complex filter Twice {
    work pop 4 push 4 {
        for (int i = 0; i < 4; i++) {
            complex z = pop();
            push(z + z * 2.0 + complex(1, 1));
        }
    }
}
int->complex pipeline Main { add Choose; add Pairs; add Twice; }
";

#[test]
fn ints_and_complex_numbers() {
    same(OTHERS, ints, &[0, 16, 100, 9011]);
}
