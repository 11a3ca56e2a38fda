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

use super::types::c_type;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Ports up to which a round is unrolled.
const PORTS: usize = 16;
/// Items of a port in a round up to which they are copied one by one.
const SINGLE: u32 = 8;

/// The functions made so far.
#[derive(Default)]
pub struct Movers {
    names: BTreeMap<(bool, String, Vec<u32>), String>,
    /// Their text.
    pub functions: String,
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
    if used.len() <= PORTS {
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
        let _ = writeln!(out, "    static const uint32_t ports[] = {{{}}};", list(|u| u.0 as u64));
        let _ = writeln!(out, "    static const uint32_t weights[] = {{{}}};", list(|u| u64::from(u.1)));
        let _ = writeln!(out, "    static const uint64_t starts[] = {{{}}};", list(|u| u.2));
        let _ = writeln!(out, "    for (uint32_t p = 0; p < {}; p++) {{", used.len());
        let _ = writeln!(out, "        const uint32_t w = weights[p];");
        let _ = writeln!(out, "        {constant}{item} *restrict part = {parts}[ports[p]];");
        let side = format!("whole[{total} * i + (long)starts[p] + j]");
        let _ = writeln!(out, "        for (long i = 0; i < n; i++) {{");
        let _ = writeln!(out, "            for (long j = 0; j < (long)w; j++) {{");
        let _ = if split {
            writeln!(out, "                part[w * i + j] = {side};")
        } else {
            writeln!(out, "                {side} = part[w * i + j];")
        };
        out.push_str("            }\n        }\n    }\n");
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
}
