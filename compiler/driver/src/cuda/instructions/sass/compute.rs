//! What instructions of machine code write.
//!
//! Written as nvdisasm does: what is written comes first, conditions of carries behind it, then what is read; conditions that are read come last.

use super::super::value::{Calc, Join, Relation};
use super::super::{BLOCK, Effect, Modifier, Operand, Source, Target};
use super::operands::{
    CONDITIONS, Line, UNIFORM_CONDITIONS, condition, condition_register, constant, double_word, half, is_condition,
    is_zero, register, word,
};

/// What an instruction writes.
pub(super) fn effects(line: &Line<'_>) -> Vec<Effect> {
    understood(line).unwrap_or_else(|| unknown(line))
}

/// A write to a register of general use; none to what takes no writes.
fn to_word(name: &str, calc: Option<Calc>, from: Vec<Operand>) -> Vec<Effect> {
    register(name).map(|r| Effect { to: Target::Register(r), calc, from }).into_iter().collect()
}

fn to_double(name: &str, calc: Option<Calc>, from: Vec<Operand>) -> Vec<Effect> {
    register(name).map(|r| Effect { to: Target::Pair(r, r + 1), calc, from }).into_iter().collect()
}

fn to_condition(name: &str, calc: Option<Calc>, from: Vec<Operand>) -> Vec<Effect> {
    condition_register(name).map(|r| Effect { to: Target::Register(r), calc, from }).into_iter().collect()
}

/// How many registers the result has.
fn width(line: &Line<'_>) -> usize {
    let is = |m: &str| line.has(m);
    match line.name {
        _ if is("256") => 8,
        _ if is("128") => 4,
        "DADD" | "DMUL" | "DFMA" | "DMNMX" => 2,
        // what it makes comes first
        "F2F" if line.modifiers.first() == Some(&"F32") => 1,
        _ if is("64") || is("F64") || is("S64") || is("U64") || is("WIDE") => 2,
        "CS2R" if !is("32") => 2,
        _ => 1,
    }
}

/// What is written is known of no instruction, but which registers these are.
fn unknown(line: &Line<'_>) -> Vec<Effect> {
    match line.name {
        "R2P" => {
            let all =
                (CONDITIONS..UNIFORM_CONDITIONS).map(|r| Effect { to: Target::Register(r), calc: None, from: vec![] });
            return all.collect();
        }
        // nothing is written, or nothing that is looked at
        "ST" | "STG" | "STS" | "STL" | "RED" | "REDG" | "REDS" | "BSSY" | "BSYNC" | "BREAK" | "NOP" | "YIELD"
        | "WARPSYNC" | "MEMBAR" | "ERRBAR" | "DEPBAR" | "LDGDEPBAR" | "CCTL" | "FENCE" | "NANOSLEEP" | "LDGSTS" => {
            return vec![];
        }
        _ => {}
    }
    let conditions = line.arguments.iter().take_while(|a| is_condition(a)).count();
    let mut all: Vec<Effect> =
        line.arguments[..conditions].iter().flat_map(|a| to_condition(a, None, vec![])).collect();
    // comparisons write nothing else
    let compares = matches!(
        line.name,
        "FSETP" | "DSETP" | "HSETP2" | "ISETP" | "UISETP" | "PLOP3" | "UPLOP3" | "PSETP" | "FCHK" | "VOTE"
    ) && conditions > 0;
    if !compares && let Some(first) = register(line.argument(conditions)) {
        all.extend((first..first + width(line)).map(|r| Effect { to: Target::Register(r), calc: None, from: vec![] }));
        // of these one more condition may follow
        if conditions == 0 && is_condition(line.argument(1)) {
            all.extend(to_condition(line.argument(1), None, vec![]));
            all.extend(to_condition(line.argument(2), None, vec![]));
        }
    }
    all
}

/// Sources behind what is written: the conditions between are carries that are made.
struct Sources<'t> {
    carries: Vec<&'t str>,
    words: Vec<&'t str>,
    conditions: Vec<&'t str>,
}

fn sources<'t>(line: &Line<'t>) -> Sources<'t> {
    let mut rest = line.arguments.iter().skip(1).copied().peekable();
    let mut sources = Sources { carries: Vec::new(), words: Vec::new(), conditions: Vec::new() };
    while let Some(a) = rest.next_if(|a| is_condition(a)) {
        sources.carries.push(a);
    }
    for a in rest {
        if is_condition(a) { &mut sources.conditions } else { &mut sources.words }.push(a);
    }
    sources
}

fn relation(line: &Line<'_>) -> Option<Relation> {
    Some(match *line.modifiers.first()? {
        "LT" => Relation::Less,
        "LE" => Relation::LessOrEqual,
        "EQ" => Relation::Equal,
        "NE" => Relation::NotEqual,
        "GE" => Relation::GreaterOrEqual,
        "GT" => Relation::Greater,
        _ => return None,
    })
}

fn lut(text: &str) -> Option<u8> {
    u8::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// `None`: it is not understood, or not in this form.
fn understood(line: &Line<'_>) -> Option<Vec<Effect>> {
    let is_signed = !line.has("U32");
    // what is of 64 bits, or two numbers of 16 bits, is something else
    if line
        .modifiers
        .iter()
        .any(|m| matches!(*m, "S64" | "16x2" | "U16" | "S16" | "U8" | "S8" | "F16" | "BF16" | "BF16_V2"))
    {
        return None;
    }
    match line.name {
        "MOV" | "UMOV" if line.has("64") => {
            Some(to_double(line.argument(0), Some(Calc::Copy), vec![double_word(line.argument(1))]))
        }
        "MOV" | "UMOV" | "MOV32I" => Some(to_word(line.argument(0), Some(Calc::Copy), vec![word(line.argument(1))])),
        "IMAD" | "UIMAD" => multiply(line, is_signed),
        "IADD3" | "UIADD3" | "VIADD" | "IADD" | "UIADD" if !line.has("64") => add(line),
        "LEA" | "ULEA" => scaled(line),
        "LOP3" | "ULOP3" => logic(line),
        "SHF" | "USHF" => shift(line),
        "SEL" | "USEL" => {
            let from = vec![word(line.argument(1)), word(line.argument(2)), condition(line.argument(3))];
            Some(to_word(line.argument(0), Some(Calc::Select), from))
        }
        "ISETP" | "UISETP" => compare(line, is_signed),
        "PLOP3" | "UPLOP3" => {
            let from: Vec<Operand> = (2..5).map(|i| condition(line.argument(i))).collect();
            let mut all = to_condition(line.argument(0), Some(Calc::Conditions(lut(line.argument(5))?)), from.clone());
            all.extend(to_condition(line.argument(1), Some(Calc::Conditions(lut(line.argument(6))?)), from));
            Some(all)
        }
        "IMNMX" | "UIMNMX" | "VIMNMX" | "UVIMNMX" => extreme(line, Calc::Extreme(is_signed), 2),
        "VIADDMNMX" | "UVIADDMNMX" => extreme(line, Calc::SumExtreme(is_signed), 3),
        "PRMT" | "UPRMT" if line.modifiers.is_empty() => {
            let from = vec![word(line.argument(1)), word(line.argument(2)), word(line.argument(3))];
            Some(to_word(line.argument(0), Some(Calc::Permute), from))
        }
        // a constant, as two halves
        "HFMA2" if line.argument(1) == "-RZ" && line.argument(2) == "RZ" => {
            let value = half(line.argument(3))? << 16 | half(line.argument(4))?;
            Some(to_word(line.argument(0), Some(Calc::Copy), vec![Operand::known(value)]))
        }
        // what divisions by numbers are made of, which are told by how they round
        "I2F" if matches!(line.modifiers.as_slice(), ["U32", "RP"]) => {
            Some(to_word(line.argument(0), Some(Calc::FloatUp), vec![word(line.argument(1))]))
        }
        "MUFU" if matches!(line.modifiers.as_slice(), ["RCP"]) => {
            Some(to_word(line.argument(0), Some(Calc::Reciprocal), vec![word(line.argument(1))]))
        }
        "F2I" if matches!(line.modifiers.as_slice(), ["FTZ", "U32", "TRUNC", "NTZ"]) => {
            Some(to_word(line.argument(0), Some(Calc::FloatFloor), vec![word(line.argument(1))]))
        }
        "IABS" if line.arguments.len() == 2 => {
            Some(to_word(line.argument(0), Some(Calc::Absolute), vec![word(line.argument(1))]))
        }
        "CS2R" | "S2R" | "S2UR" | "CS2UR" => special(line),
        "LDC" | "ULDC" | "LDCU" | "UMOV32I" => load(line),
        "R2UR" if !is_condition(line.argument(0)) && !is_condition(line.argument(1)) => {
            // one number for the warp: known where all threads have the same
            let same = Operand::plain(word(line.argument(1)).source);
            Some(to_word(line.argument(0), Some(Calc::Copy), vec![same]))
        }
        "VOTE" | "VOTEU" => {
            let mut all = to_word(line.argument(0), None, vec![]);
            all.extend(to_condition(line.argument(0), None, vec![]));
            all.extend(to_condition(line.argument(1), None, vec![]));
            Some(all)
        }
        _ => None,
    }
}

/// The smaller or larger of numbers; newer machines write two conditions besides.
fn extreme(line: &Line<'_>, calc: Calc, count: usize) -> Option<Vec<Effect>> {
    let Sources { carries, words, conditions } = sources(line);
    let &[least] = conditions.as_slice() else { return None };
    if words.len() != count {
        return None;
    }
    let from = words.iter().map(|w| word(w)).chain([condition(least)]).collect();
    let mut all = to_word(line.argument(0), Some(calc), from);
    all.extend(carries.iter().flat_map(|c| to_condition(c, None, vec![])));
    Some(all)
}

fn multiply(line: &Line<'_>, is_signed: bool) -> Option<Vec<Effect>> {
    let Sources { carries, words, conditions } = sources(line);
    let &[a, b, c] = words.as_slice() else { return None };
    let wide = line.has("WIDE");
    if !carries.is_empty() || line.has("X") && (wide || line.has("HI")) {
        return None;
    }
    let to = line.argument(0);
    if wide {
        return Some(to_double(to, Some(Calc::MultiplyWide(is_signed)), vec![word(a), word(b), double_word(c)]));
    }
    // to the upper half of a product two registers are added, the lower of which can carry into it
    if line.has("HI") && !is_zero(c) {
        let from = vec![word(a), word(b), double_word(c)];
        return (!is_signed).then(|| to_word(to, Some(Calc::MultiplyHighSum), from));
    }
    let calc = if line.has("HI") { Calc::MultiplyHigh(is_signed) } else { Calc::Multiply(32) };
    let product =
        Effect { to: Target::Register(register(to)?), calc: Some(calc), from: vec![word(a), word(b), word(c)] };
    match conditions.as_slice() {
        [] => Some(vec![product]),
        // a carry comes in, to what is multiplied by one, or to nothing but itself
        [carry] if line.has("X") => {
            let from = |x: &str| vec![word(x), condition(carry)];
            let sum = |x: &str, y: &str| {
                let mut all = from(x);
                all.push(word(y));
                to_word(to, Some(Calc::Add(32)), all)
            };
            match (word(a).source, word(b)) {
                (Source::Known(0), _) => Some(to_word(to, Some(Calc::Add(32)), from(c))),
                (_, b) if b == Operand::known(1) => Some(sum(a, c)),
                (_, b) if b == Operand::known(0) => Some(to_word(to, Some(Calc::Add(32)), from(c))),
                _ => None,
            }
        }
        _ => None,
    }
}

fn add(line: &Line<'_>) -> Option<Vec<Effect>> {
    let Sources { carries, words, conditions } = sources(line);
    if !conditions.is_empty() && !line.has("X") || words.len() > 3 {
        return None;
    }
    let mut from: Vec<Operand> = words.iter().map(|w| word(w)).collect();
    let negative = from.iter().any(|o| o.modifier == Modifier::Negative && o.source != Source::Known(0));
    from.extend(conditions.iter().map(|c| condition(c)));
    let mut all = to_word(line.argument(0), Some(Calc::Add(32)), from.clone());
    // what is taken away carries otherwise than its negative would
    let known = !negative && carries.iter().skip(1).all(|c| is_zero(c));
    for carry in carries {
        all.extend(to_condition(carry, known.then_some(Calc::Carry), if known { from.clone() } else { vec![] }));
    }
    Some(all)
}

fn scaled(line: &Line<'_>) -> Option<Vec<Effect>> {
    let Sources { carries, words, conditions } = sources(line);
    if line.has("SX32") || line.has("X") || !conditions.is_empty() {
        return None;
    }
    let (calc, count) = if line.has("HI") { (Calc::ScaledAddHigh, 4) } else { (Calc::ScaledAdd, 3) };
    if words.len() != count {
        return None;
    }
    let mut all = to_word(line.argument(0), Some(calc), words.iter().map(|w| word(w)).collect());
    all.extend(carries.iter().flat_map(|c| to_condition(c, None, vec![])));
    Some(all)
}

fn logic(line: &Line<'_>) -> Option<Vec<Effect>> {
    // `LOP3.LUT [P0,] R0, a, b, c, table, !PT`
    let first = usize::from(is_condition(line.argument(0)));
    let &[to, a, b, c, table, last] = line.arguments.get(first..)? else { return None };
    if last != "!PT" && last != "!UPT" {
        return None;
    }
    let (table, from) = (lut(table)?, vec![word(a), word(b), word(c)]);
    let mut all = to_word(to, Some(Calc::Logic(table)), from.clone());
    if first == 1 {
        all.extend(to_condition(line.argument(0), Some(Calc::AnyLogic(table)), from));
    }
    Some(all)
}

fn shift(line: &Line<'_>) -> Option<Vec<Effect>> {
    let &[to, low, by, high] = line.arguments.as_slice() else { return None };
    if line.has("W") || line.has("S64") {
        return None;
    }
    let (low, by, high) = (word(low), word(by), word(high));
    let left = line.has("L");
    let (calc, from) = match (left, line.has("HI"), line.has("U64"), line.has("S32")) {
        (true, false, false, false) => (Calc::ShiftLeft(32), vec![low, by]),
        (true, true, _, false) => (Calc::FunnelLeft, vec![low, by, high]),
        (false, true, false, false) if low == Operand::known(0) => (Calc::ShiftRight(32, false), vec![high, by]),
        (false, true, false, true) if low == Operand::known(0) => (Calc::ShiftRight(32, true), vec![high, by]),
        (false, false, true, false) => (Calc::FunnelRight, vec![low, by, high]),
        _ => return None,
    };
    Some(to_word(to, Some(calc), from))
}

fn compare(line: &Line<'_>, is_signed: bool) -> Option<Vec<Effect>> {
    let relation = relation(line)?;
    let join = match () {
        () if line.has("AND") => Join::And,
        () if line.has("OR") => Join::Or,
        () if line.has("XOR") => Join::Xor,
        () => return None,
    };
    let &[to, other, a, b, with, ref rest @ ..] = line.arguments.as_slice() else { return None };
    let mut from = vec![word(a), word(b), condition(with)];
    let calc = match (line.has("EX"), rest) {
        (false, []) => Calc::Compare(relation, 32, is_signed, join),
        (true, [lower]) => {
            from.push(condition(lower));
            Calc::CompareUpper(relation, is_signed, join)
        }
        _ => return None,
    };
    let mut all = to_condition(to, Some(calc), from);
    all.extend(to_condition(other, None, vec![]));
    Some(all)
}

fn special(line: &Line<'_>) -> Option<Vec<Effect>> {
    let of = |source| Some(to_word(line.argument(0), Some(Calc::Copy), vec![Operand::plain(source)]));
    match line.argument(1) {
        "SRZ" if width(line) == 2 => Some(to_double(line.argument(0), Some(Calc::Copy), vec![Operand::known(0)])),
        "SRZ" => of(Source::Known(0)),
        "SR_TID.X" => of(Source::Thread),
        "SR_CTAID.X" => of(Source::Constant(BLOCK, 0)),
        "SR_LANEID" => of(Source::Lane),
        "SR_TID.Y" | "SR_TID.Z" | "SR_CTAID.Y" | "SR_CTAID.Z" => of(Source::Known(0)),
        _ => None,
    }
}

fn load(line: &Line<'_>) -> Option<Vec<Effect>> {
    if line.modifiers.iter().any(|m| !matches!(*m, "64" | "128")) {
        return None;
    }
    let (bank, by, offset) = constant(line.argument(1))?;
    let first = register(line.argument(0))?;
    let each = |i: usize| Effect {
        to: Target::Register(first + i),
        calc: Some(Calc::Constant(bank, offset + 4 * i as u64)),
        from: vec![by.map_or(Operand::known(0), word)],
    };
    Some((0..width(line)).map(each).collect())
}
