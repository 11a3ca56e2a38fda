//! Values as a trace shows them: in text, shortened; in JSON, complete. Numbers are as short as they can be and still read back to the
//! very same value.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use sluice_frontend::eval::{Items, Value};
use sluice_frontend::ops::Scalar;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;
use std::fmt::Write;

/// Items of one list that text shows.
const LIST: usize = 16;
/// Elements of an array inside an item that text shows.
const ARRAY: usize = 8;
/// Numbers of one list that text shows, arrays' elements counted.
const NUMBERS: usize = 64;

/// A value and its type: structs take the names of their fields from it.
#[derive(Clone, Copy)]
pub struct Typed<'a> {
    /// The value.
    pub value: &'a Value,
    /// Its type.
    pub ty: &'a Ty,
    /// For structs.
    pub globals: &'a Globals,
}

/// The type and name of a part of an aggregate type.
pub fn part<'t>(ty: &'t Ty, i: usize, globals: &'t Globals) -> (&'t Ty, Option<&'t str>) {
    match ty {
        Ty::Array(elem, _) => (elem, None),
        Ty::Struct(id) => match globals.structs.get(id.index()).and_then(|s| s.fields.get(i)) {
            Some((name, t)) => (t, Some(name)),
            None => (&Ty::Error, None),
        },
        _ => (&Ty::Error, None),
    }
}

/// Items in a row: `1, 2, 3, ... 61 more`.
pub fn list(items: &[Value], ty: &Ty, globals: &Globals) -> String {
    let (mut out, mut room) = (String::new(), NUMBERS);
    shorten(items.len(), LIST, &mut room, &mut out, |i, room, out| {
        text(Typed { value: &items[i], ty, globals }, room, out);
    });
    out
}

/// One value.
pub fn one(value: Typed<'_>) -> String {
    let (mut out, mut room) = (String::new(), NUMBERS);
    text(value, &mut room, &mut out);
    out
}

/// The first of `n` parts, as many as there is room for.
fn shorten(
    n: usize,
    most: usize,
    room: &mut usize,
    out: &mut String,
    mut each: impl FnMut(usize, &mut usize, &mut String),
) {
    for i in 0..n {
        out.push_str(if i > 0 { ", " } else { "" });
        if i >= most || *room == 0 {
            let _ = write!(out, "... {} more", n - i);
            return;
        }
        each(i, room, out);
    }
}

fn text(v: Typed<'_>, room: &mut usize, out: &mut String) {
    *room = room.saturating_sub(1);
    match v.value {
        Value::Void => out.push_str("nothing"),
        Value::Scalar(s) => out.push_str(&scalar(*s)),
        Value::Str(s) => {
            let _ = write!(out, "{s:?}");
        }
        Value::Portal(p) => {
            let _ = write!(out, "{p}");
        }
        Value::Array(a) | Value::Struct(a) => {
            let items = a.borrow();
            let is_struct = matches!(v.ty, Ty::Struct(_));
            let most = if is_struct { usize::MAX } else { ARRAY };
            out.push(if is_struct { '{' } else { '[' });
            shorten(items.len(), most, room, out, |i, room, out| {
                let (ty, name) = part(v.ty, i, v.globals);
                if let Some(name) = name {
                    let _ = write!(out, "{name}: ");
                }
                if let Some(value) = items.get(i) {
                    text(Typed { value: &value, ty, globals: v.globals }, room, out);
                }
            });
            out.push(if is_struct { '}' } else { ']' });
        }
    }
}

/// `true`, `1`, `-0.0`, `1e30`, `NaN`, `1.0-2.5i`, `(1.0, 2.0, 3.0)`: what has no point, no exponent and is a number is no real.
fn scalar(s: Scalar) -> String {
    match s {
        Scalar::Bit(b) => u8::from(b).to_string(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Float(x) => format!("{x:?}"),
        Scalar::Double(x) => format!("{x:?}"),
        Scalar::Complex(re, im) => {
            let sign = if im.is_nan() || im.is_sign_positive() { "+" } else { "" };
            format!("{re:?}{sign}{im:?}i")
        }
        Scalar::Vec(n, v) => {
            let parts: Vec<String> = v.iter().take(n.into()).map(|x| format!("{x:?}")).collect();
            format!("({})", parts.join(", "))
        }
    }
}

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let items = match self.value {
            Value::Void => return s.serialize_none(),
            Value::Str(text) => return s.serialize_str(text),
            Value::Portal(p) => return s.collect_str(p),
            Value::Scalar(Scalar::Bit(b)) => return s.serialize_u8((*b).into()),
            Value::Scalar(Scalar::Bool(b)) => return s.serialize_bool(*b),
            Value::Scalar(Scalar::Int(i)) => return s.serialize_i32(*i),
            Value::Scalar(Scalar::Float(x)) => return Single(*x).serialize(s),
            Value::Scalar(Scalar::Double(x)) => return Double(*x).serialize(s),
            Value::Scalar(Scalar::Complex(re, im)) => return s.collect_seq([Single(*re), Single(*im)]),
            Value::Scalar(Scalar::Vec(n, v)) => return s.collect_seq(v.iter().take((*n).into()).map(|x| Single(*x))),
            Value::Array(a) | Value::Struct(a) => a.borrow(),
        };
        if let Ty::Struct(_) = self.ty {
            let mut map = s.serialize_map(Some(items.len()))?;
            for i in 0..items.len() {
                let (ty, name) = part(self.ty, i, self.globals);
                let value = items.get(i).unwrap_or(Value::Void);
                map.serialize_entry(name.unwrap_or("?"), &Typed { value: &value, ty, globals: self.globals })?;
            }
            return map.end();
        }
        match &*items {
            Items::Floats(v) => s.collect_seq(v.iter().map(|x| Single(*x))),
            Items::Doubles(v) => s.collect_seq(v.iter().map(|x| Double(*x))),
            Items::Ints(v) => s.collect_seq(v),
            Items::Bools(v) => s.collect_seq(v),
            Items::Bits(v) => s.collect_seq(v.iter().map(|b| u8::from(*b))),
            Items::Any(v) => {
                let ty = part(self.ty, 0, self.globals).0;
                let mut seq = s.serialize_seq(Some(v.len()))?;
                for value in v {
                    seq.serialize_element(&Typed { value, ty, globals: self.globals })?;
                }
                seq.end()
            }
        }
    }
}

/// A float; what JSON has no number for is `"NaN"`, `"Infinity"` or `"-Infinity"`.
struct Single(f32);
/// A double, the same way.
struct Double(f64);

fn word(x: f64) -> Option<&'static str> {
    match x {
        _ if x.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

impl Serialize for Single {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match word(self.0.into()) {
            Some(word) => s.serialize_str(word),
            None => s.serialize_f32(self.0),
        }
    }
}

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match word(self.0) {
            Some(word) => s.serialize_str(word),
            None => s.serialize_f64(self.0),
        }
    }
}

/// Items in a row, for JSON.
pub struct Row<'a> {
    /// The items.
    pub items: &'a [Value],
    /// The type of all of them.
    pub ty: &'a Ty,
    /// For structs.
    pub globals: &'a Globals,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.items.iter().map(|value| Typed { value, ty: self.ty, globals: self.globals }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::StructId;
    use sluice_frontend::typed::StructDef;

    fn float(x: f32) -> Value {
        Value::Scalar(Scalar::Float(x))
    }

    fn globals() -> Globals {
        let fields = vec![("id".into(), Ty::Int), ("x".into(), Ty::Float.array(2))];
        let span = sluice_grammar::span::Span::default();
        Globals { structs: vec![StructDef { name: "S".into(), fields, span }], ..Globals::default() }
    }

    #[track_caller]
    fn shows(value: &Value, ty: &Ty, want_text: &str, want_json: &str) {
        let g = globals();
        let typed = Typed { value, ty, globals: &g };
        assert_eq!((one(typed).as_str(), serde_json::to_string(&typed).unwrap().as_str()), (want_text, want_json));
    }

    #[test]
    fn numbers_read_back_to_the_same_bits() {
        for x in [0.1f32, -0.0, 1.0, 1e30, f32::MIN_POSITIVE, f32::MAX, 16777217.0, 1.0 / 3.0] {
            let text = one(Typed { value: &float(x), ty: &Ty::Float, globals: &Globals::default() });
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), x.to_bits(), "{text}");
            assert!(text.contains(['.', 'e']), "{text}");
        }
        shows(&float(0.1), &Ty::Float, "0.1", "0.1");
        shows(&float(-0.0), &Ty::Float, "-0.0", "-0.0");
        shows(&float(f32::NAN), &Ty::Float, "NaN", "\"NaN\"");
        shows(&float(f32::NEG_INFINITY), &Ty::Float, "-inf", "\"-Infinity\"");
        shows(&Value::Scalar(Scalar::Double(0.1)), &Ty::Double, "0.1", "0.1");
        shows(&Value::int(-7), &Ty::Int, "-7", "-7");
        shows(&Value::Scalar(Scalar::Bit(true)), &Ty::Bit, "1", "1");
        shows(&Value::Scalar(Scalar::Bool(true)), &Ty::Bool, "true", "true");
    }

    #[test]
    fn several_numbers() {
        shows(&Value::Scalar(Scalar::Complex(1.0, -0.0)), &Ty::Complex, "1.0-0.0i", "[1.0,-0.0]");
        shows(&Value::Scalar(Scalar::Complex(-2.5, f32::NAN)), &Ty::Complex, "-2.5+NaNi", "[-2.5,\"NaN\"]");
        shows(&Value::Scalar(Scalar::Vec(2, [1.0, 2.0, 9.0, 9.0])), &Ty::Vec(2), "(1.0, 2.0)", "[1.0,2.0]");
        let s = Value::structure(vec![Value::int(3), Value::array(Items::Floats(vec![1.0, f32::INFINITY]))]);
        let ty = Ty::Struct(StructId(0));
        shows(&s, &ty, "{id: 3, x: [1.0, inf]}", r#"{"id":3,"x":[1.0,"Infinity"]}"#);
        let two = Value::array(Items::Any(vec![s.clone(), s]));
        shows(
            &two,
            &ty.array(2),
            "[{id: 3, x: [1.0, inf]}, {id: 3, x: [1.0, inf]}]",
            r#"[{"id":3,"x":[1.0,"Infinity"]},{"id":3,"x":[1.0,"Infinity"]}]"#,
        );
    }

    #[test]
    fn text_is_shortened_and_json_is_not() {
        let g = Globals::default();
        let long = Value::array(Items::Ints((0..100).collect()));
        let ty = Ty::Int.array(100);
        let typed = Typed { value: &long, ty: &ty, globals: &g };
        assert_eq!(one(typed), "[0, 1, 2, 3, 4, 5, 6, 7, ... 92 more]");
        assert_eq!(serde_json::to_value(typed).unwrap().as_array().unwrap().len(), 100);
        let ints: Vec<Value> = (0..40).map(Value::int).collect();
        assert_eq!(list(&ints, &Ty::Int, &g), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 24 more");
        let rows: Vec<Value> = vec![long; 40];
        let text = list(&rows, &ty, &g);
        assert!(text.len() < 600 && text.ends_with("more"), "{text}");
    }
}
