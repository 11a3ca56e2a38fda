//! # print-lanes
//!
//! Purpose: several firings at once, one in each lane of the machine's vectors. Input: [`Kernel::lanes`]. Output: the loops of `sl_lanes`; what becomes of
//! firings that are left over, [`super::print_rest`] says.
//!
//! ```text
//! $s = ($s + (table0[$i] * in($i)))   →   s_0_0 = s_0_0 + (sl_vf_splat(h.v[i_1]) * sl_vf_load(phase + at[(long)i_1] + f + 0 * SL_LANES));
//!                                         s_0_1 = s_0_1 + (sl_vf_splat(h.v[i_1]) * sl_vf_load(phase + at[(long)i_1] + f + 1 * SL_LANES));
//! ```
//!
//! A varying variable is as many vectors as the kernel says (`unroll`), or more, where those share what they load ([`super::print_skewed`]); then one, for the rest of a block. The window of a block
//! of firings is brought into phase order first where a firing pops more than one word: then lanes are neighbours in memory. Where it pops many, each lane's word is loaded
//! from where it is, by squares in loops ([`super::print_columns`]). Items that are as vectors have them already ([`super::lanewise`]) are loaded and stored where they are.

use super::lanewise::Ends;
use super::print_function::Printer;
use super::print_lane_values::vector;
use super::print_skewed::{Machines, Way};
use super::print_wide::{self, Counted};
use super::{print_columns, print_narrow};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::lanes::{gathers, is_bit, is_varying};
use sluice_kernel::passes::narrow_lanes::Bytes;
use std::fmt::Write;

/// How a block of firings is laid out, in words of 32 bits.
pub(super) struct LaneLayout {
    /// Words of an item taken, and of one given.
    width: (u32, u32),
    /// Words taken and given by a firing.
    pub(super) pop: u32,
    pub(super) push: u32,
    /// Firings in a block, and words in a phase.
    block: u32,
    row: u32,
    /// So many vectors of the machine, with 16 registers and with 32, are a block rather than what is said here, and a phase is a word of each lane.
    own: Option<(u32, u32)>,
    /// Positions of items come from a table.
    positions: bool,
    /// Streams that take turns, and of one stream: items taken by a turn, and looked at.
    strands: u32,
    rates: Rates,
    /// So many firings that follow one another are one here, in a lane.
    in_lane: u32,
    /// Which ends are as vectors have them.
    pub(super) ends: Ends,
    /// Items are loaded from where they are, by squares in loops ([`super::print_columns`]).
    pub(super) by_columns: bool,
    /// Turns take several items, and streams are whole vectors: lanes are neighbours where the items are.
    whole_vectors: bool,
    /// What loops count.
    counted: Counted,
    /// Items that are taken, or given, are bits: each a byte.
    pub(super) bits: (bool, bool),
}

/// Buffers of a block should fit into the first-level cache with room to spare, in words.
const BUFFER: u32 = 6144;

/// Firings of the smallest block: the lanes of the widest machine, a multiple of those of others.
const LEAST_BLOCK: u32 = 16;

/// Firings of the smallest block in which several that follow one another are a lane's: at least as many vectors as any way has.
const LEAST_IN_LANE: u32 = 4 * LEAST_BLOCK;

/// The longest table of positions.
const MAX_POSITIONS: u32 = 4096;

impl LaneLayout {
    fn of(kernel: &Kernel, lanes: &Lanes, ends: Ends, in_lane: u32) -> LaneLayout {
        let Lanes { function, phases, unroll, deep, strands, .. } = lanes;
        let (wi, wo) = (lanes.width(&kernel.input), lanes.width(&kernel.output));
        let (one, strands) = (lanes.rates(kernel.work.rates), *strands);
        let (pop, push) = (one.pop * in_lane, one.push * in_lane);
        let rates = Rates { peek: one.peek + pop - one.pop, pop, push };
        let (pop, push) = (rates.pop * wi, rates.push * wo);
        let by_columns =
            !*phases && pop > 1 && strands == 1 || !ends.taken && in_lane == 1 && print_columns::only(kernel);
        let words = if !by_columns && !ends.taken && *phases { pop } else { 0 }
            + if push > 1 && !ends.given { push } else { 0 };
        let block = BUFFER.checked_div(words).map_or(0, |firings| (firings / 64 * 64).min(1024));
        // where an item of each phase fills the buffer, one vector of each
        let block = if block == 0 && words > 0 { LEAST_BLOCK } else { block };
        // turns that take several items: firings are whole
        let whole = strands.max(LEAST_BLOCK);
        let block = if block > 0 && strands > 1 && rates.pop > 1 { (block / whole).max(1) * whole } else { block };
        // where windows do not overlap, nothing is brought twice, and what was just brought is used while it is near (measured)
        let even = |words: u32| words >= LEAST_BLOCK || words.is_power_of_two();
        // so few bits would not fill a vector of them
        let bits = (is_bit(&kernel.input), is_bit(&kernel.output));
        let near = *phases && !by_columns && strands == 1 && rates.peek == rates.pop && even(pop) && even(push.max(1));
        let near = near && bits == (false, false);
        let block = if near && words > 0 { LEAST_BLOCK * unroll.max(&1) } else { block };
        // vectors of bytes are four of ints, whose lanes are as many in every block but the last
        let bytes = print_narrow::may(kernel);
        let block = if bytes && block > 0 { block.max(LEAST_BLOCK * print_narrow::VECTORS as u32) } else { block };
        // what the blocks of the widest machine would hold leaves the first cache no room for the items themselves (measured)
        let narrow = *unroll <= 1 && words > BUFFER / 4 * 3 / LEAST_BLOCK;
        let own = match (near && words > 0, bytes) {
            (true, true) => Some((print_narrow::VECTORS as u32, print_narrow::VECTORS as u32)),
            (true, false) => (deep > unroll || narrow).then_some((*unroll.max(&1), *deep.max(&1))),
            _ => None,
        };
        let row = if near || strands == 1 && block == LEAST_BLOCK && rates.peek == rates.pop {
            block / 16
        } else {
            let row = block + (rates.peek * wi).div_ceil(pop.max(1)) * strands + 16;
            // an odd number of cache lines, so that the phases do not fall on top of each other
            row.div_ceil(16) | 1
        };
        LaneLayout {
            width: (wi, wo),
            pop,
            push,
            block,
            row: row * 16,
            own,
            positions: *phases && rates.pop > 1 && rates.peek > rates.pop && rates.peek * wi <= MAX_POSITIONS,
            strands,
            rates,
            in_lane,
            ends,
            by_columns,
            whole_vectors: !*phases && rates.pop > 1 && strands > 1,
            counted: print_wide::counted(&kernel.functions[function.index()]),
            bits,
        }
    }

    fn position(&self, word: u32) -> u32 {
        word % self.pop * self.row + word / self.pop * self.strands
    }

    /// So many phases, in words.
    fn rows(&self, n: u32) -> String {
        match self.own {
            Some((1, 1)) => format!("{n} * SL_LANES"),
            Some(_) => format!("{n} * row"),
            None => (n * self.row).to_string(),
        }
    }

    /// Firings in a block.
    fn firings(&self) -> String {
        match self.own {
            Some((1, 1)) => "SL_LANES".to_string(),
            Some(_) => "row".to_string(),
            None => self.block.to_string(),
        }
    }

    /// Brings a block into phase order, where its items are words of `window` words for each firing.
    fn phases(&self, window: u32) -> String {
        let (pop, row, n) = (self.pop, self.rows(1), self.strands);
        let (from, of) = ("(const int32_t *)(const void *)in", self.rates.pop);
        let far = u8::from(self.ends.far_taken);
        match n {
            1 if self.bits.0 => format!("sl_bit_phases(in, {pop}, (block - 1) * {pop} + {window}, {row}, phase);"),
            1 => format!("sl_phases({from}, {pop}, (block - 1) * {pop} + {window}, {row}, phase, {far});"),
            // neighbours are there already, but for the parts of items
            _ if of == 1 => {
                format!("sl_phases({from}, {pop}, (block - {n}) * {pop} + {}, {row}, phase, {far});", window * n)
            }
            _ => {
                let words = self.width.0;
                let turns = format!("(block / {n} - 1) * {of} + {}", self.rates.peek);
                format!("sl_phases_of_strands({from}, {of}, {words}, {n}, {turns}, {row}, phase);")
            }
        }
    }
}

/// What loads or stores items of this type, one of each lane, and what they are in C where they lie.
fn words_of(ty: &Ty, how: &str) -> (String, &'static str) {
    match ty {
        ty if is_bit(ty) => (format!("sl_vi_{how}_bit"), "uint8_t"),
        Ty::Int => (format!("sl_vi_{how}"), "int32_t"),
        _ => (format!("sl_vf_{how}"), "float"),
    }
}

/// What items lie as in the buffers of a block.
fn buffer_of(bits: bool) -> &'static str {
    if bits { "uint8_t" } else { "int32_t" }
}

/// Which part of an item a path leads to.
fn part_of(path: &[Proj]) -> u32 {
    match path.first() {
        Some(Proj::Component(i)) => u32::from(*i),
        _ => 0,
    }
}

impl Printer<'_> {
    /// The loops over lanes.
    pub(super) fn lanes(&mut self) {
        let Some(lanes) = &self.kernel.lanes else { return };
        let ends = self.options.lanewise;
        self.start(lanes.function);
        let layout = LaneLayout::of(self.kernel, lanes, ends, 1);
        let (in_lane, others) = self.ways(lanes, ends, layout.block);
        let within = self.within_firings();
        if lanes.strands > 1 {
            let _ = writeln!(self.out, "    n *= {};", lanes.strands);
        }
        for way in in_lane {
            let layout = LaneLayout::of(self.kernel, lanes, ends, way.sharing as u32);
            // shorter ones do not hold all vectors, or their items are too many for the first cache, and for the stack
            if layout.block >= LEAST_IN_LANE {
                self.blocks(lanes, layout, &[way]);
            }
        }
        self.blocks(lanes, layout, &others);
        if within {
            self.out.push_str("#endif\n");
        }
    }

    /// Blocks of firings, as long as enough are left.
    fn blocks(&mut self, lanes: &Lanes, layout: LaneLayout, ways: &[Way]) {
        let (rates, in_lane, ends) = (layout.rates, layout.in_lane, layout.ends);
        let window = rates.peek * layout.width.0;
        // the last way does what the others leave
        let whole = match ways.last().map_or(1, |w| w.vectors / in_lane as usize) {
            1 => "SL_LANES".into(),
            vectors => format!("({vectors} * SL_LANES)"),
        };
        let widest = in_lane > 1 && ways.iter().any(|w| w.machines == Machines::Widest);
        debug_assert!(widest || ways.last().is_none_or(|w| w.machines == Machines::All), "a machine without the rest");
        if widest {
            self.out.push_str("#if SL_LANES == 16\n");
        }
        self.out.push_str("    {\n");
        if let Some((few, many)) = layout.own.filter(|own| *own != (1, 1)) {
            let _ =
                writeln!(self.out, "        enum {{ row = SL_LANES == 16 ? {many} * SL_LANES : {few} * SL_LANES }};");
        }
        let (turned_in, turned_out) =
            (lanes.phases && !layout.by_columns && !layout.ends.taken, layout.push > 1 && !layout.ends.given);
        if turned_in {
            if layout.positions {
                self.out.push_str("        static const int64_t at[] = {");
                for i in 0..rates.peek {
                    let at = layout.position(i * layout.width.0);
                    let _ = write!(self.out, "{}{at}", if i == 0 { "" } else { ", " });
                }
                self.out.push_str("};\n");
            }
            let words = layout.rows(layout.pop);
            let of = buffer_of(layout.bits.0);
            let _ = writeln!(self.out, "        _Alignas(64) {of} phase[{words}];");
        }
        if turned_out {
            let of = buffer_of(layout.bits.1);
            let _ = writeln!(self.out, "        _Alignas(64) {of} result[{} * {}];", layout.push, layout.firings());
        }
        self.byte_tables();
        let n = if in_lane > 1 { format!("n / {in_lane}") } else { "n".into() };
        let _ = writeln!(self.out, "        while ({n} >= {whole}) {{");
        match layout.block {
            0 => {
                let _ = writeln!(self.out, "            const long block = {n} / {whole} * {whole};");
            }
            _ => {
                let b = layout.firings();
                let _ = writeln!(self.out, "            const long block = {n} < {b} ? {n} / {whole} * {whole} : {b};");
            }
        }
        if turned_in {
            let _ = writeln!(self.out, "            {}", layout.phases(window));
        }
        self.out.push_str("            long f = 0;\n");
        self.layout = Some(layout);
        for way in ways {
            (self.unroll, self.way) = (way.vectors, Some(*way));
            self.bytes = if way.bytes { Bytes::of(self.kernel, (ends.bytes_taken, ends.bytes_given)) } else { None };
            let condition = way.machines.condition().filter(|_| !widest);
            self.out.push_str(condition.unwrap_or_default());
            if way.anew {
                self.out.push_str("            SL_ANEW(f);\n");
            }
            let wide = way.vectors / in_lane as usize;
            let head = if way.by_turns {
                // turns that share go on together, some vectors of streams after the others
                let (n, turns) = (lanes.strands, way.sharing);
                let (rest, beside) = (turns - 1, way.vectors / turns);
                format!(
                    "for (; f + {turns} * {n} <= block; f += {rest} * {n}) for (const long end = f + {n}; f < end; f += {beside} * SL_LANES)"
                )
            } else {
                format!("for (; f + {wide} * SL_LANES <= block; f += {wide} * SL_LANES)")
            };
            let _ = writeln!(self.out, "            {head} {{");
            self.first_items(way);
            self.declare_varying(&lanes.varying);
            self.body(&self.function().body, 4);
            self.out.push_str("            }\n");
            if condition.is_some() {
                self.out.push_str("#endif\n");
            }
        }
        (self.unroll, self.way, self.bytes) = (0, None, None);
        if let Some(l) = self.layout.take() {
            if turned_out && l.bits.1 {
                let _ = writeln!(
                    self.out,
                    "            sl_bit_interleave(result, {}, {}, block, out);",
                    l.firings(),
                    l.push
                );
            } else if turned_out {
                let _ = writeln!(
                    self.out,
                    "            sl_interleave(result, {}, {}, block, (int32_t *)(void *)out, {});",
                    l.firings(),
                    l.push,
                    u8::from(ends.far_given)
                );
            }
            let times = if in_lane > 1 { format!("block * {in_lane}") } else { "block".into() };
            let whole = if lanes.parts { "block / 2" } else { "block" };
            let _ = writeln!(
                self.out,
                "            in += {whole} * {}, out += {whole} * {}, n -= {times};",
                rates.pop, rates.push
            );
        }
        self.out.push_str("        }\n    }\n");
        if widest {
            self.out.push_str("#endif\n");
        }
    }

    /// Where the first items of each vector are, of streams that are whole vectors and take several items in a turn.
    fn first_items(&mut self, way: &Way) {
        let Some(l) = self.layout.as_ref().filter(|l| l.whole_vectors) else { return };
        let (n, pop) = (l.strands, l.rates.pop);
        for u in 0..way.vectors {
            let _ = match (way.by_turns, u) {
                (true, 1..) => {
                    let (turn, beside) = (u % way.sharing, u / way.sharing);
                    writeln!(
                        self.out,
                        "                const long first_{u} = first_0 + {turn} * {} + {beside} * SL_LANES;",
                        n * pop
                    )
                }
                _ => {
                    let f = if u == 0 { "f".into() } else { format!("(f + {u} * SL_LANES)") };
                    writeln!(self.out, "                const long first_{u} = {f} / {n} * {} + {f} % {n};", n * pop)
                }
            };
        }
    }

    fn declare_varying(&mut self, varying: &[bool]) {
        for (i, l) in self.function().locals.iter().enumerate().filter(|(i, _)| varying[*i]) {
            let name = self.local(LocalId::from(i));
            if self.declares_bytes(LocalId::from(i), &l.ty) {
                continue;
            }
            let names: Vec<String> = (0..self.unroll)
                .map(|u| match l.ty.known_len() {
                    Some(n) => format!("{name}_{u}[{}]", n.max(1)),
                    None => format!("{name}_{u} = {{0}}"),
                })
                .collect();
            let element = l.ty.element().unwrap_or(&l.ty);
            // one that the loops before have taken apart is not used
            let _ = writeln!(self.out, "                SL_UNUSED {} {};", vector(element), names.join(", "));
        }
    }

    /// Is the local a vector in what is being printed?
    pub(super) fn is_vector(&self, id: LocalId) -> bool {
        self.unroll > 0 && self.kernel.lanes.as_ref().is_some_and(|l| l.varying[id.index()])
    }

    pub(super) fn gathers(&self, p: &Place) -> bool {
        self.kernel.lanes.as_ref().is_some_and(|l| gathers(p, &l.varying))
    }

    pub(super) fn varies(&self, e: &Expr) -> bool {
        self.kernel.lanes.as_ref().is_some_and(|l| is_varying(e, &l.varying))
    }

    /// Prints an assignment to what differs between lanes. False where it is one to what does not.
    pub(super) fn lane_assign(&mut self, p: &Place, e: &Expr, pad: &str) -> bool {
        if self.unroll == 0 {
            return false;
        }
        if self.byte_assign(p, e, pad) {
            return true;
        }
        for u in 0..self.unroll {
            if !self.is_printed(u) {
                continue;
            }
            match &p.base {
                Base::Local(id) if self.is_vector(*id) => {
                    let name = format!("{}_{u}", self.local(*id));
                    let local = &self.function().locals[id.index()].ty;
                    let _ = match (p.path.first(), local.known_len()) {
                        (None, Some(n)) => {
                            let element = vector(local.element().unwrap_or(local));
                            writeln!(self.out, "{pad}for (int l = 0; l < {n}; l++) {name}[l] = ({element}){{0}};")
                        }
                        (Some(Proj::Index(i)), _) => {
                            let (i, v) = (self.expr(i), self.lane(e, u));
                            writeln!(self.out, "{pad}{name}[{i}] = {v};")
                        }
                        _ => {
                            let v = self.lane(e, u);
                            writeln!(self.out, "{pad}{name} = {v};")
                        }
                    };
                }
                Base::Out(position) => {
                    let v = self.lane(e, u);
                    let (store, c) = words_of(&e.ty, "store");
                    let to = self.out_address(position, &p.path, c, u);
                    let _ = writeln!(self.out, "{pad}{store}({to}, {v});");
                }
                _ => return false,
            }
        }
        true
    }

    /// How far a vector is behind the first one.
    fn offset(&self, u: u32) -> String {
        match (self.way, &self.layout) {
            (Some(way), Some(l)) if way.by_turns => {
                let of = way.sharing as u32;
                format!("{} * {} + {} * SL_LANES", u % of, l.strands, u / of)
            }
            _ => format!("{u} * SL_LANES"),
        }
    }

    pub(super) fn out_address(&self, position: &Expr, path: &[Proj], c: &str, u: usize) -> String {
        let Some(l) = &self.layout else { return String::new() };
        let (firing, u) = (u as u32 % l.in_lane, u as u32 / l.in_lane);
        if l.push == 1 {
            return format!("({c} *)out + f + {}", self.offset(u));
        }
        let mut word = self.word(position, path, l.width.1);
        if firing > 0 {
            word = format!("({word} + {})", l.push / l.in_lane * firing);
        }
        if l.ends.given {
            return format!("({c} *)(void *)out + (f + {u} * SL_LANES) * {} + {word} * SL_LANES", l.push);
        }
        format!("({c} *)result + {word} * {} + f + {}", l.firings(), self.offset(u))
    }

    /// Which item it is.
    fn counted(&self, position: &Expr) -> String {
        match &self.layout {
            Some(l) => self.place_number(position, &l.counted),
            None => self.operand(position),
        }
    }

    /// The word of an item's part, counted from the firing's first.
    pub(super) fn word(&self, position: &Expr, path: &[Proj], width: u32) -> String {
        let part = part_of(path);
        match position.as_int() {
            Some(i) => ((i as u32) * width + part).to_string(),
            None if width == 1 => self.counted(position),
            None => format!("({} * {width} + {part})", self.counted(position)),
        }
    }

    pub(super) fn load(&self, position: &Expr, path: &[Proj], ty: &Ty, u: usize) -> String {
        let Some(l) = &self.layout else { return String::new() };
        let (load, c) = words_of(ty, "load");
        let phases = !l.by_columns && self.kernel.lanes.as_ref().is_some_and(|l| l.phases);
        let square = self.columns.as_ref().is_some_and(|c| c.place(position, u).is_some());
        if phases || l.rates.pop == 1 || l.whole_vectors || square {
            return format!("{load}({})", self.in_address(position, path, c, u));
        }
        let word = self.word(position, path, l.width.0);
        let pop = l.rates.pop;
        format!("sl_vf_across((const {c} *)in + {word} + (f + {u} * SL_LANES) * {pop}, {pop})")
    }

    /// Where the items of vector `u` are, one after the other.
    pub(super) fn in_address(&self, position: &Expr, path: &[Proj], c: &str, u: usize) -> String {
        let Some(l) = &self.layout else { return String::new() };
        let (before, u) = (u as u32 % l.in_lane * (l.rates.pop / l.in_lane), u as u32 / l.in_lane);
        let word = self.word(position, path, l.width.0);
        if l.by_columns || !self.kernel.lanes.as_ref().is_some_and(|l| l.phases) {
            return match l.rates.pop {
                1 if l.strands > 1 => format!("(const {c} *)in + {word} * {} + f + {}", l.strands, self.offset(u)),
                1 => format!("(const {c} *)in + {word} + f + {u} * SL_LANES"),
                _ if l.whole_vectors => format!("(const {c} *)in + {word} * {} + first_{u}", l.strands),
                _ => {
                    let at = self.columns.as_ref().and_then(|c| c.place(position, u as usize)).unwrap_or_default();
                    format!("(const {c} *)(const void *)({at})")
                }
            };
        }
        if l.ends.taken {
            let of_firing = format!("(f + {u} * SL_LANES) * {}", l.pop);
            return format!("(const {c} *)(const void *)in + {of_firing} + {word} * SL_LANES");
        }
        let at = match word.parse::<u32>() {
            Ok(w) if l.own.is_some() => l.rows(w),
            Ok(w) => l.position(w + before * l.width.0).to_string(),
            // sums of 64 bits, of which the compiler need not ask whether they wrap: the part of an item is a constant
            Err(_) => {
                let (mut item, part) = (format!("(long){}", self.counted(position)), part_of(path));
                if before > 0 {
                    item = format!("({item} + {before})");
                }
                let (of_item, pop) = (l.rows(l.width.0), l.rates.pop);
                let at = match pop {
                    1 => format!("{item} * {}", l.strands),
                    _ if l.positions => format!("at[{item}]"),
                    // a firing looks at the items that it takes, and no others
                    _ if l.rates.peek <= pop => format!("{item} * {of_item}"),
                    _ => format!("({item} % {pop} * {of_item} + {item} / {pop} * {})", l.strands),
                };
                if part == 0 { at } else { format!("{at} + {}", l.rows(part)) }
            }
        };
        format!("(const {c} *)(const void *)phase + {at} + f + {}", self.offset(u))
    }
}
