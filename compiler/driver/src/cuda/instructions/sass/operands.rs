//! Lines of machine code: names, modifiers, arguments.

use super::super::{Action, Modifier, Operand, Source};

/// General registers, uniform ones, conditions, uniform conditions.
pub(super) const GENERAL: usize = 0;
pub(super) const UNIFORM: usize = 256;
pub(super) const CONDITIONS: usize = 512;
pub(super) const UNIFORM_CONDITIONS: usize = 520;
/// One that nobody writes.
const UNKNOWN: usize = 528;
/// One that is zero.
pub(super) const ZERO: usize = 529;
/// All of them.
pub(super) const REGISTERS: usize = 530;

/// An instruction in pieces.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line<'t> {
    pub(super) guard: Option<Operand>,
    /// `ISETP` of `ISETP.GE.U32.AND`.
    pub(super) name: &'t str,
    /// `GE`, `U32`, `AND`.
    pub(super) modifiers: Vec<&'t str>,
    pub(super) arguments: Vec<&'t str>,
    /// nvdisasm remarks that it keeps registers, or brings them back: nothing else uses that memory.
    pub(super) spills: bool,
}

impl<'t> Line<'t> {
    /// `/*0080*/ @P0 IADD3 R0, R3.reuse, -0x1, RZ ;`; `None` of other lines.
    pub(super) fn read(line: &'t str) -> Option<Line<'t>> {
        let (_, rest) = line.strip_prefix("/*")?.split_once("*/")?;
        let (rest, remark) = rest.split_once("(*").unwrap_or((rest, ""));
        let rest = rest.trim().split(';').next()?.trim();
        let (guard, rest) = match rest.strip_prefix('@') {
            Some(with) => {
                let (guard, rest) = with.split_once(char::is_whitespace)?;
                (Some(condition(guard)), rest.trim_start())
            }
            None => (None, rest),
        };
        let (full, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let mut parts = full.split('.');
        let name = parts.next().filter(|n| n.starts_with(|c: char| c.is_ascii_uppercase()))?;
        Some(Line {
            guard,
            name,
            modifiers: parts.collect(),
            arguments: split(arguments),
            spills: remark.contains("Spill"),
        })
    }

    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    pub(super) fn argument(&self, at: usize) -> &'t str {
        self.arguments.get(at).copied().unwrap_or("")
    }

    /// The label that it names.
    pub(super) fn label(&self) -> Option<&'t str> {
        let of = |a: &&'t str| a.split_once("`(").and_then(|(_, l)| l.strip_suffix(')'));
        self.arguments.iter().find_map(of)
    }
}

/// Commas that are not in brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut all, mut depth, mut from) = (Vec::new(), 0u32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(text[from..i].trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    all.push(text[from..].trim());
    all.retain(|a| !a.is_empty());
    all
}

fn number(text: &str, prefix: &str, first: usize, most: usize) -> Option<usize> {
    let digits = text.strip_prefix(prefix)?;
    let n: usize = digits.parse().ok()?;
    (n < most).then_some(first + n)
}

/// `P0`, `UP3`: its register; nothing of those that are constants.
pub(super) fn condition_register(text: &str) -> Option<usize> {
    number(text, "P", CONDITIONS, 7).or_else(|| number(text, "UP", UNIFORM_CONDITIONS, 7))
}

/// Is it a condition, one that is constant included?
pub(super) fn is_condition(text: &str) -> bool {
    let text = text.strip_prefix('!').unwrap_or(text);
    text == "PT" || text == "UPT" || condition_register(text).is_some()
}

/// `!P0`, `PT`.
pub(super) fn condition(text: &str) -> Operand {
    let (text, modifier) = match text.strip_prefix('!') {
        Some(rest) => (rest, Modifier::Not),
        None => (text, Modifier::Plain),
    };
    let source = match text {
        "PT" | "UPT" => Source::Known(1),
        _ => condition_register(text).map_or(Source::Unknown, Source::Register),
    };
    Operand { source, modifier }
}

/// `R12`, `UR4`: its register; nothing of those that are zero.
pub(super) fn register(text: &str) -> Option<usize> {
    number(text, "R", GENERAL, 255).or_else(|| number(text, "UR", UNIFORM, 255))
}

/// Is it zero, and takes no writes?
pub(super) fn is_zero(text: &str) -> bool {
    matches!(text, "RZ" | "URZ" | "SRZ" | "PT" | "UPT")
}

fn literal(text: &str) -> Option<u64> {
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    let value = u64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
    Some(if minus { value.wrapping_neg() & 0xffff_ffff } else { value })
}

/// `c[0x3][R9+0x8]`: bank, register, offset.
pub(super) fn constant(text: &str) -> Option<(u32, Option<&str>, u64)> {
    let (bank, rest) = text.strip_prefix("c[")?.split_once("][")?;
    let bank = u32::try_from(literal(bank)?).ok()?;
    let inside = rest.strip_suffix(']')?;
    if let Some(offset) = literal(inside) {
        return Some((bank, None, offset));
    }
    let (of, offset) = inside.split_once('+').unwrap_or((inside, "0x0"));
    let of = of.split('.').next()?;
    (register(of).is_some() || is_zero(of)).then_some((bank, Some(of), literal(offset)?))
}

/// An argument of 32 bits.
pub(super) fn word(text: &str) -> Operand {
    let (text, modifier) = match text.as_bytes().first() {
        Some(b'-') if !text.starts_with("-0x") => (&text[1..], Modifier::Negative),
        Some(b'~') => (&text[1..], Modifier::Inverted),
        _ => (text, Modifier::Plain),
    };
    let name = text.strip_suffix(".reuse").unwrap_or(text);
    let source = if is_zero(name) {
        Source::Known(0)
    } else if let Some(r) = register(name) {
        Source::Register(r)
    } else if let Some((bank, None, offset)) = constant(name) {
        Source::Constant(bank, offset)
    } else {
        literal(name).map_or(Source::Unknown, Source::Known)
    };
    Operand { source, modifier }
}

/// An argument of 64 bits: two registers, or a number.
pub(super) fn double_word(text: &str) -> Operand {
    let operand = word(text);
    match (operand.source, operand.modifier) {
        (Source::Register(r), Modifier::Plain) => Operand::plain(Source::Pair(r, r + 1)),
        (Source::Known(_), Modifier::Plain) => operand,
        (Source::Constant(bank, offset), Modifier::Plain) => Operand::plain(Source::WideConstant(bank, offset)),
        _ => Operand::plain(Source::Unknown),
    }
}

/// `STL.64 [R1+0x8], R2`, `LDL R4, [R1+0x4]`; nothing of parts of registers that are loaded.
pub(super) fn local(line: &Line<'_>, bytes: u32) -> Option<Action> {
    if line.modifiers.iter().any(|m| matches!(*m, "U8" | "S8" | "U16" | "S16")) && line.name == "LDL" {
        return None;
    }
    let stores = line.name == "STL";
    let (place, number) = if stores { (0, 1) } else { (1, 0) };
    let inside = line.argument(place).strip_prefix('[').and_then(|p| p.strip_suffix(']'))?;
    let (base, offset) = inside.split_once('+').unwrap_or((inside, "0x0"));
    let address = (register(base)?, literal(offset)?);
    let name = line.argument(number).trim_end_matches(".reuse");
    let words = (bytes / 4).max(1) as usize;
    // of parts of registers it is not known what is there then
    let narrow = line.modifiers.iter().any(|m| matches!(*m, "U8" | "S8" | "U16" | "S16" | "8" | "16"));
    let registers = match (narrow, is_zero(name), register(name)) {
        (true, _, _) => vec![UNKNOWN; words],
        (_, true, _) => vec![ZERO; if stores { words } else { 0 }],
        (_, _, first) => (first?..first? + words).collect(),
    };
    Some(Action::Local { stores, address, registers })
}

/// A number of 16 bits from a text: `0.00157928466796875` is 0x1678.
pub(super) fn half(text: &str) -> Option<u64> {
    let value: f64 = match text {
        "+INF" => f64::INFINITY,
        "-INF" => f64::NEG_INFINITY,
        _ => text.parse().ok()?,
    };
    let (sign, size) = (u64::from(value.is_sign_negative()) << 15, value.abs());
    if size.is_nan() || size > 65504.0 && size.is_finite() {
        return None;
    }
    if size.is_infinite() {
        return Some(sign | 0x7c00);
    }
    // below 2^-14 there is no hidden bit
    let exponent = ((size.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-14);
    let units = size * 2f64.powi(10 - exponent);
    if units.fract() != 0.0 {
        return None;
    }
    // of a number with its hidden bit, that bit makes the exponent one larger
    Some(sign | ((exponent + 14) as u64) << 10).map(|above| above + units as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let line = Line::read("/*0640*/              @!P4 LOP3.LUT R3, RZ, R4.reuse, RZ, 0x33, !PT ;").unwrap();
        assert_eq!((line.name, line.modifiers.as_slice()), ("LOP3", ["LUT"].as_slice()));
        assert_eq!(line.guard, Some(Operand { source: Source::Register(CONDITIONS + 4), modifier: Modifier::Not }));
        assert_eq!(line.arguments, ["R3", "RZ", "R4.reuse", "RZ", "0x33", "!PT"]);
        let line = Line::read("/*0120*/ CALL.REL.NOINC `($k$_Z1fERK6sl_jobjjj) ;").unwrap();
        assert_eq!(line.label(), Some("$k$_Z1fERK6sl_jobjjj"));
        let line = Line::read("/*0700*/ LDG.E R16, desc[UR6][R16.64] ;").unwrap();
        assert_eq!(line.arguments, ["R16", "desc[UR6][R16.64]"]);
        assert_eq!(Line::read(".L_x_3:"), None);
        let line = Line::read("/*07d0*/  STL [R1], R5      (*\"SpillRefill\"*);").unwrap();
        assert!(line.spills);
        assert_eq!(local(&line, 4), Some(Action::Local { stores: true, address: (1, 0), registers: vec![5] }));
        let line = Line::read("/*03c0*/ STL [R1+0x14c], RZ (*\"SpillRefill\"*);").unwrap();
        assert_eq!(local(&line, 4), Some(Action::Local { stores: true, address: (1, 0x14c), registers: vec![ZERO] }));
        let line = Line::read("/*07d0*/  LDL.LU.64 R60, [R1+0x4]").unwrap();
        assert_eq!(local(&line, 8), Some(Action::Local { stores: false, address: (1, 4), registers: vec![60, 61] }));
    }

    #[test]
    fn arguments() {
        assert_eq!(word("-R3"), Operand { source: Source::Register(3), modifier: Modifier::Negative });
        assert_eq!(word("-0x1"), Operand::known(0xffff_ffff));
        assert_eq!(word("UR4"), Operand::plain(Source::Register(UNIFORM + 4)));
        assert_eq!(
            word("-c[0x0][0x168]"),
            Operand { source: Source::Constant(0, 0x168), modifier: Modifier::Negative }
        );
        assert_eq!(double_word("c[0x0][0x160]"), Operand::plain(Source::WideConstant(0, 0x160)));
        assert_eq!(word("|R4|").source, Source::Unknown);
        assert_eq!(constant("c[0x3][R9+0x8]"), Some((3, Some("R9"), 8)));
        assert_eq!(constant("c[0x0][0x230]"), Some((0, None, 0x230)));
        assert_eq!(constant("c[0x0][RZ]"), Some((0, Some("RZ"), 0)));
        assert_eq!(double_word("R2"), Operand::plain(Source::Pair(2, 3)));
    }

    #[test]
    fn halves() {
        let of = |t: &str| half(t).unwrap();
        assert_eq!((of("0"), of("1"), of("-2"), of("1.875")), (0, 0x3c00, 0xc000, 0x3f80));
        assert_eq!(of("0.00157928466796875"), 0x1678);
        // 2^-24, the smallest there is, and twice the smallest with a hidden bit
        assert_eq!((of("5.9604644775390625e-08"), of("0.0001220703125")), (1, 0x0800));
        assert_eq!(of("1.847743988037109375e-06"), 0x001f);
        assert_eq!(half("0.1"), None);
    }
}
