//! # movers
//!
//! Purpose: copy loops of round-robin splitters and joiners. Input: weights and item type. Output: C functions, one for each shape.
//!
//! ```text
//! split roundrobin(1, 2) of float  →  static void sl_split_0(const float *restrict in, float *const *restrict out, long n) {
//!                                         float *restrict p0 = out[0]; float *restrict p1 = out[1];
//!                                         for (long i = 0; i < n; i++) {
//!                                             p0[i] = in[3 * i]; p1[2 * i] = in[3 * i + 1]; p1[2 * i + 1] = in[3 * i + 2]; } }
//! ```

use super::beside::Beside;
use super::types::c_type;
use super::woven::Woven;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Ports up to which a round is unrolled.
const PORTS: usize = 16;
/// Ports from which a round of one item each is turned round in squares (`sl_split_ones`): they fill the longest vector.
const SQUARE: usize = 16;
/// Items of a port in a round up to which they are copied one by one.
const SINGLE: u32 = 8;

/// The functions made so far.
#[derive(Default)]
pub struct Movers {
    names: BTreeMap<(bool, String, Vec<u32>), String>,
    /// Their text.
    pub functions: String,
    /// Functions of filters that fire by turns.
    pub beside: Beside,
    /// Functions of filters that do the work of joiners and splitters.
    pub(super) woven: Woven,
}

impl Movers {
    /// The name of the function for a splitter (or a joiner); its arguments are the whole side, an array of pointers to the
    /// parts, and the number of firings. Parts of weight 0 are not touched.
    pub fn name(&mut self, split: bool, ty: &Ty, weights: &[u32]) -> String {
        let item = c_type(ty);
        let key = (split, item.clone(), weights.to_vec());
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let name = format!("sl_{}_{}", if split { "split" } else { "join" }, self.names.len());
        self.functions.push_str(&function(&name, split, &item, weights));
        self.names.insert(key, name.clone());
        name
    }
}

fn function(name: &str, split: bool, item: &str, weights: &[u32]) -> String {
    let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    let mut out = String::new();
    let (whole, parts) = if split {
        (format!("const {item} *restrict whole"), "out")
    } else {
        (format!("{item} *restrict whole"), "in")
    };
    let constant = if split { "" } else { "const " };
    let _ = writeln!(out, "static void {name}({whole}, {constant}{item} *const *restrict {parts}, long n) {{");
    let mut used: Vec<(usize, u32, u64)> = Vec::new();
    let mut at = 0u64;
    for (port, w) in weights.iter().enumerate() {
        if *w > 0 {
            used.push((port, *w, at));
        }
        at += u64::from(*w);
    }
    let ones = weights.len() >= SQUARE && weights.iter().all(|w| *w == 1) && matches!(item, "float" | "int32_t");
    if ones {
        let side = if split { "(const int32_t *)(const void *)whole" } else { "(int32_t *)(void *)whole" };
        let part = format!("({constant}int32_t *const *)(const void *){parts}");
        let function = if split { "sl_split_ones" } else { "sl_join_ones" };
        let _ = writeln!(out, "    {function}({side}, {part}, {}, n);", weights.len());
    } else if used.len() <= PORTS {
        for (port, ..) in &used {
            let _ = writeln!(out, "    {constant}{item} *restrict p{port} = {parts}[{port}];");
        }
        let _ = writeln!(out, "    for (long i = 0; i < n; i++) {{");
        for (port, w, at) in &used {
            if *w <= SINGLE {
                for j in 0..u64::from(*w) {
                    let (part, side) = (place(&format!("p{port}"), u64::from(*w), j), place("whole", total, at + j));
                    let _ = if split {
                        writeln!(out, "        {part} = {side};")
                    } else {
                        writeln!(out, "        {side} = {part};")
                    };
                }
            } else {
                let (part, side) = (format!("p{port} + {w} * i"), format!("whole + {total} * i + {at}"));
                let (to, from) = if split { (part, side) } else { (side, part) };
                let _ = writeln!(out, "        memcpy({to}, {from}, {w} * sizeof({item}));");
            }
        }
        out.push_str("    }\n");
    } else {
        // many ports: port by port, so that one part is written in a row
        let list =
            |f: fn(&(usize, u32, u64)) -> u64| used.iter().map(|u| f(u).to_string()).collect::<Vec<_>>().join(", ");
        let equal = used.iter().all(|u| u.1 == used[0].1);
        let _ = writeln!(out, "    static const uint32_t ports[] = {{{}}};", list(|u| u.0 as u64));
        if !equal {
            let _ = writeln!(out, "    static const uint32_t weights[] = {{{}}};", list(|u| u64::from(u.1)));
        }
        let _ = writeln!(out, "    static const uint64_t starts[] = {{{}}};", list(|u| u.2));
        let _ = writeln!(out, "    for (uint32_t p = 0; p < {}; p++) {{", used.len());
        // a number that the compiler knows: otherwise it calls a function for every item
        let w = if equal { used[0].1.to_string() } else { "weights[p]".into() };
        let _ = writeln!(out, "        const uint32_t w = {w};");
        let _ = writeln!(out, "        {constant}{item} *restrict part = {parts}[ports[p]];");
        let moved = |part: &str, j: &str| {
            let (part, side) = (format!("part[{part}{j}]"), format!("whole[{total} * i + (long)starts[p]{j}]"));
            if split { format!("{part} = {side};") } else { format!("{side} = {part};") }
        };
        if !equal {
            let _ = writeln!(out, "        if (w == 1) {{");
            let _ = writeln!(out, "            for (long i = 0; i < n; i++) {}", moved("i", ""));
            let _ = writeln!(out, "            continue;\n        }}");
        }
        let _ = writeln!(out, "        for (long i = 0; i < n; i++) {{");
        let _ = writeln!(out, "            for (long j = 0; j < (long)w; j++) {}", moved("w * i", " + j"));
        out.push_str("        }\n    }\n");
    }
    out.push_str("}\n");
    out
}

/// `base[stride * i + at]`
fn place(base: &str, stride: u64, at: u64) -> String {
    let index = if stride == 1 { "i".to_string() } else { format!("{stride} * i") };
    if at == 0 { format!("{base}[{index}]") } else { format!("{base}[{index} + {at}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_shared_and_zero_weights_left_out() {
        let mut m = Movers::default();
        let a = m.name(true, &Ty::Float, &[1, 0, 2]);
        assert_eq!(a, m.name(true, &Ty::Float, &[1, 0, 2]));
        assert_ne!(a, m.name(false, &Ty::Float, &[1, 0, 2]));
        assert!(m.functions.contains("p2[2 * i + 1] = whole[3 * i + 2];"), "{}", m.functions);
        assert!(!m.functions.contains("p1"), "{}", m.functions);
    }

    #[test]
    fn many_ports() {
        let text = |ty: &Ty, weights: &[u32]| {
            let mut m = Movers::default();
            m.name(false, ty, weights);
            m.functions
        };
        assert!(text(&Ty::Float, &[1; 17]).contains("sl_join_ones("), "squares");
        assert!(!text(&Ty::Double, &[1; 17]).contains("sl_join_ones("), "of items of four bytes");
        assert!(!text(&Ty::Float, &[&[0][..], &[1; 16]].concat()).contains("sl_join_ones("), "that are neighbours");
        let equal = text(&Ty::Float, &[3; 17]);
        assert!(equal.contains("const uint32_t w = 3;") && !equal.contains("weights"), "{equal}");
        let unequal = text(&Ty::Float, &[&[1; 16][..], &[2]].concat());
        assert!(unequal.contains("weights[p]") && unequal.contains("if (w == 1)"), "{unequal}");
    }
}
