//! The evaluator on code made from source text by the checker.

use super::*;
use crate::check;
use crate::constant::Const;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use crate::world::World;
use std::collections::VecDeque;

/// Checks a program's globals and the first filter in it.
fn filter(text: &str) -> (World, FilterCode) {
    let mut w = World::default();
    let file = w.sources.add("test.str", text);
    let (tree, diagnostics) = sluice_grammar::parse(file, text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    w.add_program(tree, false);
    check::globals::globals(&mut w);
    let code = check::filter::specialise(&mut w, DeclId(0), &[], (None, None));
    let errors: Vec<_> = w.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    (w, code.unwrap())
}

/// Channels and prints in memory.
#[derive(Default)]
struct Memory {
    input: VecDeque<Value>,
    output: Vec<Value>,
    text: String,
    ticks: u32,
}

impl Host for Memory {
    fn pop(&mut self) -> Result<Value, EvalErrorKind> {
        self.input.pop_front().ok_or(EvalErrorKind::PopBeyond { declared: 0 })
    }

    fn peek(&mut self, i: i32) -> Result<Value, EvalErrorKind> {
        let item = usize::try_from(i).ok().and_then(|i| self.input.get(i));
        item.map(Value::deep_copy).ok_or(EvalErrorKind::PeekNegative(i))
    }

    fn push(&mut self, v: Value) -> Result<(), EvalErrorKind> {
        self.output.push(v);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), EvalErrorKind> {
        self.text.push_str(text);
        Ok(())
    }

    fn iter(&mut self) -> Result<i32, EvalErrorKind> {
        Ok(7)
    }

    fn tick(&mut self) -> Result<(), EvalErrorKind> {
        self.ticks += 1;
        Ok(())
    }
}

fn machine<'a>(w: &'a World, code: &'a FilterCode) -> Machine<'a> {
    let fields = code.fields.iter().map(|f| Value::from_const(&f.initial, &f.ty, &w.globals)).collect();
    Machine::new(&w.globals, &code.functions, Statics::new(&w.globals), fields)
}

/// What a firing of `work` with this body prints.
fn prints_with(before: &str, body: &str) -> Result<String, String> {
    let (w, code) = filter(&format!("void->void filter F {{ work {{ {body} }} }} {before}"));
    let mut host = Memory::default();
    machine(&w, &code).call_own(code.work.function, Vec::new(), &mut host).map(|_| host.text).map_err(|e| e.message())
}

fn prints(body: &str) -> String {
    prints_with("", body).unwrap()
}

#[test]
fn expressions() {
    assert_eq!(prints("println(7 << 2 + 1); println(1 + 2 << 3); println(5 | 2 & 1);"), "29\n17\n1\n");
    assert_eq!(prints("println(-7 / 2); println(-7 % 3); println(-8 >> 1);"), "-3\n-1\n-4\n");
    assert_eq!(
        prints("int a = 2147483647; a++; println(a); println(-a); println(a / -1); println(a % -1);"),
        "-2147483648\n-2147483648\n-2147483648\n0\n"
    );
    assert_eq!(
        prints("println(1e10); println(1.0/3); println(\"x\" + 7); println((3+4i) / (1+1i));"),
        "10000000000.000000\n0.333333\nx7\n3.500000+0.500000i\n"
    );
    assert_eq!(prints("int x = 5; x <<= 2; x -= 3; println(x); float f = 1; f += x; println(f);"), "17\n18.000000\n");
    assert_eq!(prints("int i = 3; println(i++ * 10 + i); println(--i); println(iter());"), "34\n3\n7\n");
    assert_eq!(
        prints("int z = 0; boolean b = z != 0 && 1 / z > 0; println(b); println(z == 0 || 1 / z > 0);"),
        "false\ntrue\n"
    );
    assert_eq!(
        prints("complex c = 1+2i; c.imag = 5; println(c); float3 v = float3(1, 2, 3); v.y += 4; println(v * 2);"),
        "1.000000+5.000000i\n(2.000000, 12.000000, 6.000000)\n"
    );
    assert_eq!(
        prints("println(max(3, 5) + abs(-2)); println(sqrt(2.0)); println((int) 3.9); println((int) -1e20);"),
        "7\n1.414214\n3\n-2147483648\n"
    );
}

#[test]
fn control() {
    assert_eq!(prints("for (int i = 0; i < 10; i++) { if (i == 2) continue; if (i == 5) break; print(i); }"), "0134");
    assert_eq!(
        prints("int i = 0; do { print(i); i++; } while (i < 3); while (true) { i--; if (i == 0) break; } print(i);"),
        "0120"
    );
    assert_eq!(
        prints(
            "for (int i = 0; i < 4; i++) { switch (i) { case 1: print(\"a\"); case 2: print(\"b\"); break; default: print(\"d\"); } }"
        ),
        "dabbd"
    );
    assert_eq!(prints("for (int i = 0; i < 2; i++) { int x; x += i + 1; print(x); }"), "12");
}

#[test]
fn arrays_are_values_but_parameters_are_references() {
    assert_eq!(
        prints("int[3] a = {1, 2, 3}; int[3] b = a; b[0] = 9; println(a[0]); a = b; b[1] = 8; println(a[0] + a[1]);"),
        "1\n11\n"
    );
    assert_eq!(
        prints(
            "int[2][3] m; m[1][2] = 5; int[3] r = m[1]; r[2]++; println(m[1][2] + r[2]); m[0] = r; r[0] = 1; println(m[0][0] + m[0][2]);"
        ),
        "11\n6\n"
    );
    let fill = "helper H { void fill(int[3] a, int x) { for (int i = 0; i < 3; i++) a[i] = x; } int sum(int[3] a) { int s = 0; for (int i = 0; i < 3; i++) s += a[i]; return s; } }";
    assert_eq!(
        prints_with(fill, "int[2][3] m; H.fill(m[1], 4); println(H.sum(m[0])); println(H.sum(m[1]));").unwrap(),
        "0\n12\n"
    );
    let structs = "struct P { int x; int[2] a; } helper H { int set(P p) { p.x = 5; p.a[0] = 7; return p.x + p.a[0]; } P make(int x) { P p; p.x = x; return p; } }";
    assert_eq!(prints_with(structs, "P p; p.x = 1; println(H.set(p)); println(p.x + p.a[0]); P q = p; q.a[1] = 3; println(p.a[1]); p = q; println(p.a[1]); println(H.make(4).x);").unwrap(), "12\n1\n0\n3\n4\n");
}

#[test]
fn faults() {
    let fault = |body: &str| prints_with("", body).unwrap_err();
    assert_eq!(
        fault("int[4] a; int i = 4; a[i] = 1;"),
        "index 4 is outside of the array, whose indices run from 0 to 3"
    );
    assert_eq!(
        fault("int[4] a; int i = -1; println(a[i]);"),
        "index -1 is outside of the array, whose indices run from 0 to 3"
    );
    assert_eq!(fault("int z = 0; z++; z--; println(1 / z);"), "division by zero");
    assert_eq!(fault("int z = 0; z++; z--; int y = 1; y %= z;"), "division by zero");
}

#[test]
fn recursion_has_an_end() {
    let builder = std::thread::Builder::new().stack_size(8 << 20);
    builder.spawn(recursion).unwrap().join().unwrap();
}

fn recursion() {
    let endless = prints_with("helper H { int f(int n) { return H.f(n + 1) + 1; } }", "println(H.f(0));");
    assert_eq!(endless.unwrap_err(), "calls are nested too deeply: is it an endless recursion?");
    // as deep as promised, on a stack as large as a main thread's
    let deep = prints_with(
        "helper H { int f(int n) { if (n == 0) { return 0; } return H.f(n - 1) + 1; } }",
        "println(H.f(1000));",
    );
    assert_eq!(deep.unwrap(), "1000\n");
}

#[test]
fn a_machine_is_in_order_after_a_fault() {
    let (w, code) = filter(
        "int->int filter F { int n; int f(int x) { n++; return 10 / x; } work pop 1 push 1 { push(f(pop())); } }",
    );
    let mut m = machine(&w, &code);
    let mut host = Memory { input: [0, 5].map(Value::int).into(), ..Memory::default() };
    assert!(m.call_own(code.work.function, Vec::new(), &mut host).is_err());
    assert!(m.call_own(code.work.function, Vec::new(), &mut host).is_ok());
    assert_eq!(host.output[0].to_const(), Some(Const::Int(2)));
    assert_eq!(m.fields[0].to_const(), Some(Const::Int(2)));
}

#[test]
fn fuel_ends_endless_loops() {
    let (w, code) = filter("void->void filter F { work { while (true) { } } }");
    let mut m = machine(&w, &code).with_limits(Limits::with_fuel(1_000_000));
    let mut host = Memory::default();
    let e = m.call_own(code.work.function, Vec::new(), &mut host).unwrap_err();
    assert!(e.is_out_of_fuel());
    assert!(host.ticks > 10);
}

#[test]
fn init_and_fields() {
    let (_, code) = filter(
        "void->float filter F { float[4] t; int n = 3; int[2][2] m = {{1, 2}, {3, 4}}; \
         init { for (int i = 0; i < 4; i++) t[i] = i * 0.5; n *= 2; println(\"ready\"); } work push 1 { push(t[n]); } }",
    );
    assert_eq!(code.init_output, "ready\n");
    let t: Vec<Const> = [0.0, 0.5, 1.0, 1.5].map(Const::Float).into();
    assert_eq!(code.fields[0].initial, Const::Array(t.into()));
    assert_eq!(code.fields[1].initial, Const::Int(6));
    let rows = [[1, 2], [3, 4]].map(|r| Const::Array(r.map(Const::Int).into()));
    assert_eq!(code.fields[2].initial, Const::Array(rows.into()));
}

#[test]
fn statics_may_be_filled_in_init() {
    let (w, _) = filter(
        "void->void filter F { work { } } \
         static { int N = 4; float[N] t; init { for (int i = 0; i < N; i++) t[i] = H.half(i); } } \
         helper H { float half(int i) { return i / 2.0; } }",
    );
    let t: Vec<Const> = [0.0, 0.5, 1.0, 1.5].map(Const::Float).into();
    assert_eq!(w.globals.statics[1].value, Const::Array(t.into()));
}

#[test]
fn zeros() {
    let g = Globals::default();
    assert_eq!(zero(&g, &Ty::Int), Some(Const::Int(0)));
    assert_eq!(zero(&g, &Ty::Int.array(2).array(0)), Some(Const::Array([].into())));
    assert_eq!(zero(&g, &Ty::Float.array(1 << 20).array(1 << 20)), None);
    assert_eq!(zero(&g, &Ty::Void), None);
    let v = Value::from_const(&Const::Int(0), &Ty::Float.array(3), &g);
    assert_eq!(v.to_const(), zero(&g, &Ty::Float.array(3)));
}
