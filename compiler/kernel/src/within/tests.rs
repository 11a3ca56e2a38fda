//! Firings in vectors compute what the firing does.

use super::{Op, Vector, Within, within};
use crate::passes::lanes;
use crate::text::parse;
use crate::verify::verify;
use sluice_frontend::constant::Const;
use sluice_frontend::ops;

/// The vectors of a firing; `;` ends a statement. `$0` and `$1` are ints, `$2` to `$4` floats, `$5` 16 floats.
fn of(ends: &str, (pop, push): (u32, u32), body: &str) -> Option<Within> {
    let text = format!(
        "kernel \"K\" \"K\"; {ends} work func0 peek {pop} pop {pop} push {push}
table0 \"factors\" float[8] = [0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f]
func0 \"work\" (0) -> void; {{
local0 \"i\" int local1 \"j\" int local2 \"x\" float local3 \"y\" float local4 \"z\" float local5 \"a\" float[16]
{body} }}
"
    );
    let text = text.replace(';', " @0:0-1");
    let mut kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lanes::run(&mut kernel);
    assert!(kernel.lanes.is_some(), "no lanes");
    within(&kernel)
}

fn floats(pop: u32, push: u32, body: &str) -> Option<Within> {
    of("float -> float", (pop, push), body)
}

/// What the vectors make of these words.
fn run(w: &Within, words: &[Const]) -> Vec<Const> {
    let width = w.width as usize;
    let mut all: Vec<Vec<Const>> = Vec::new();
    let mut squares: Vec<Vec<Vec<Const>>> = Vec::new();
    for (v, ty) in &w.vectors {
        let mut square = Vec::new();
        let now = match v {
            Vector::Known(all) => all.clone(),
            Vector::Words(at) => words[*at as usize..][..width].to_vec(),
            Vector::Word(at) => vec![words[*at as usize].clone(); width],
            Vector::Made(op, of) => (0..width)
                .map(|l| {
                    let of: Vec<Const> = of.iter().map(|v| all[*v][l].clone()).collect();
                    match op {
                        Op::Unary(op) => ops::unary(*op, &of[0]).unwrap(),
                        Op::Binary(op) => ops::binary(*op, &of[0], &of[1]).unwrap().unwrap(),
                        Op::Convert => ops::convert(&of[0], ty).unwrap(),
                        Op::Builtin(f) => ops::builtin(*f, &of).unwrap(),
                        Op::Select => of[if of[0] == Const::Bool(true) { 1 } else { 2 }].clone(),
                    }
                })
                .collect(),
            Vector::Square(of) => {
                square = (0..width).map(|l| of.iter().map(|v| all[*v][l].clone()).collect()).collect();
                Vec::new()
            }
            Vector::Row(s, row) => squares[*s][*row as usize].clone(),
        };
        all.push(now);
        squares.push(square);
    }
    w.given.iter().flat_map(|v| all[*v].clone()).collect()
}

fn words(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i * 37 % 101) as f32 * 0.25 - 9.0).collect()
}

fn as_floats(all: &[f32]) -> Vec<Const> {
    all.iter().map(|x| Const::Float(*x)).collect()
}

fn squares(w: &Within) -> usize {
    w.vectors.iter().filter(|(v, _)| matches!(v, Vector::Square(_))).count()
}

const PRODUCT: &str = "for $0 = 0 < ROWS step 1; { for $1 = 0 < COLUMNS step 1; { $2 = 0.0f; \
    $2 = ($2 + (in(($0 * 4)) * in((START + $1)))); $2 = ($2 + (in((($0 * 4) + 1)) * in(((START + COLUMNS) + $1)))); \
    $2 = ($2 + (in((($0 * 4) + 2)) * in(((START + TWICE) + $1)))); out((($0 * COLUMNS) + $1)) = $2; } }";

/// A product of matrices of `rows` x 3 (in rows of 4) and 3 x `columns`.
fn product(rows: u32, columns: u32) -> (Option<Within>, Vec<Const>, Vec<Const>) {
    let start = rows * 4;
    let body = PRODUCT
        .replace("(START + COLUMNS)", &(start + columns).to_string())
        .replace("(START + TWICE)", &(start + 2 * columns).to_string())
        .replace("ROWS", &rows.to_string())
        .replace("COLUMNS", &columns.to_string())
        .replace("START", &start.to_string());
    let taken = start + 3 * columns;
    let x = words(taken);
    let at = |r: u32, c: u32| {
        (0..3).fold(0.0f32, |sum, k| sum + x[(r * 4 + k) as usize] * x[(start + k * columns + c) as usize])
    };
    let expected = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| Const::Float(at(r, c)));
    (floats(taken, rows * columns, &body), as_floats(&x), expected.collect())
}

#[test]
fn rows_of_a_product_are_vectors_though_they_do_not_fill_one() {
    for (rows, columns) in [(4, 16), (12, 9), (6, 8), (5, 12)] {
        let (w, x, expected) = product(rows, columns);
        let w = w.unwrap_or_else(|| panic!("{columns} columns"));
        assert_eq!((w.width, squares(&w)), (columns, 0));
        assert_eq!(run(&w, &x), expected);
    }
}

#[test]
fn rows_that_are_too_narrow_stay_lanes() {
    assert_eq!(product(12, 7).0, None);
    assert_eq!(product(12, 3).0, None);
    // the coefficients of four firings would have to be put into each vector
    assert_eq!(product(10, 4).0, None);
}

/// Eight rows of eight, of each of which other things are computed, item by item.
const ROWS: &str = "for $0 = 0 < 8 step 1; { $2 = in(($0 * 8)); $3 = in((($0 * 8) + 1)); $4 = in((($0 * 8) + 5)); \
    out(($0 * 8)) = ((($2 + $3) * 0.5f) + $4); out((($0 * 8) + 1)) = (($2 - $3) * $4); out((($0 * 8) + 2)) = (($2 * $3) - (in((($0 * 8) + 2)) * $4)); \
    out((($0 * 8) + 3)) = ((in((($0 * 8) + 3)) - $4) * $2); out((($0 * 8) + 4)) = (in((($0 * 8) + 4)) * ($2 + $3)); out((($0 * 8) + 5)) = neg(($2 * $4)); \
    out((($0 * 8) + 6)) = ((in((($0 * 8) + 6)) + $3) + $4); out((($0 * 8) + 7)) = ((in((($0 * 8) + 7)) * $3) * $4); }";

#[test]
fn what_differs_along_a_row_is_turned_round() {
    let w = floats(64, 64, ROWS).unwrap();
    assert_eq!((w.width, squares(&w)), (8, 2));
    let x = words(64);
    let expected: Vec<f32> = x
        .chunks(8)
        .flat_map(|r| {
            let (x, y, z) = (r[0], r[1], r[5]);
            [
                (x + y) * 0.5 + z,
                (x - y) * z,
                x * y - r[2] * z,
                (r[3] - z) * x,
                r[4] * (x + y),
                -(x * z),
                r[6] + y + z,
                r[7] * y * z,
            ]
        })
        .collect();
    assert_eq!(run(&w, &as_floats(&x)), as_floats(&expected));
}

#[test]
fn what_has_no_pattern_stays_lanes() {
    let mixed = ROWS.replace("< 8 step", "< 1 step").replace("neg(($2 * $4))", "$2");
    assert_eq!(floats(8, 8, &mixed), None);
}

#[test]
fn tables_and_arrays_are_known() {
    let body = "for $0 = 0 < 16 step 1; { $5[(15 - $0)] = ((in($0) + 1.0f) * (in($0) - 2.0f)); } \
        for $0 = 0 < 8 step 1; { for $1 = 0 < 2 step 1; { out((($1 * 8) + $0)) = (($5[(($1 * 8) + $0)] * table0[$0]) + (in((15 - (($1 * 8) + $0))) * 0.5f)); } }";
    // backwards: not neighbours
    assert_eq!(floats(16, 16, body), None);
    let forwards = body.replace("(15 - $0)", "$0").replace("in((15 - (($1 * 8) + $0)))", "in((($1 * 8) + $0))");
    let w = floats(16, 16, &forwards).unwrap();
    let x = words(16);
    let one = |(i, x): (usize, &f32)| Const::Float((x + 1.0) * (x - 2.0) * (0.5 + (i % 8) as f32) + x * 0.5);
    assert_eq!(run(&w, &as_floats(&x)), x.iter().enumerate().map(one).collect::<Vec<_>>());
}

#[test]
fn parts_of_complex_numbers_are_words_and_ints_become_floats() {
    let body = "for $0 = 0 < 8 step 1; { out($0)'0 = ((as<float>(in(($0 * 2))) * 0.5f) + 1.0f); out($0)'1 = ((as<float>(in((($0 * 2) + 1))) * 0.5f) + 1.0f); }";
    let w = of("int -> complex", (16, 8), body).unwrap();
    let x: Vec<i32> = (0..16).map(|i| i * 7 - 40).collect();
    let expected: Vec<Const> = x.iter().map(|i| Const::Float(*i as f32 * 0.5 + 1.0)).collect();
    assert_eq!(run(&w, &x.iter().map(|i| Const::Int(*i)).collect::<Vec<_>>()), expected);
}

#[test]
fn windows_that_overlap_stay_lanes() {
    let body = "for $0 = 0 < 16 step 1; { out($0) = (((in($0) * 0.5f) + 1.0f) * in(($0 + 16))); }";
    assert!(floats(32, 16, body).is_some());
    let text = body.to_string();
    let kernel = |pop: u32| {
        let text = format!(
            "kernel \"K\" \"K\"; float -> float work func0 peek 32 pop {pop} push 16\nfunc0 \"work\" (0) -> void; {{\nlocal0 \"i\" int\n{text} }}\n"
        );
        let mut kernel = parse(&text.replace(';', " @0:0-1")).unwrap();
        lanes::run(&mut kernel);
        within(&kernel)
    };
    assert!(kernel(32).is_some());
    assert_eq!(kernel(16), None);
}
