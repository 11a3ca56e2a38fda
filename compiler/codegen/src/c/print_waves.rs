//! # print-waves
//!
//! Purpose: filters that follow one another as lanes of a vector ([`waves`](mod@sluice_kernel::passes::waves)). Input: a kernel, some of whose fields are variables already ([`super::print_kept`]). Output: a loop over
//! its firings, each step a section of as many firings as there are sections; the first and last steps leave lanes as they are whose firing is none. Few firings go one by one, as they did.
//!
//! ```text
//! $1 = ((0.5f * $0) + state0)  state0 = (0.3f * $1)  $2 = ((0.6f * $1) + state1)  state1 = (0.2f * $2)  …
//!   →   step t:  wave1[v] = sl_vf_behind(v ? wave2[v - 1] : x of firing t, wave2[v]);  wave2[v] = (wave0[v] * wave1[v]) + wave3[v];  wave3[v] = wave4[v] * wave2[v];
//! ```

use super::print_function::Printer;
use super::print_lane_values::vector;
use super::print_scope::Scopes;
use super::types::c_type;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::waves::{self, Field, Var, Wave};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Lanes of the widest machine.
const WIDEST: usize = 16;
/// Statements before and behind the sections, at most, of steps that are written twice.
const FEW: usize = 20;

impl Printer<'_> {
    /// The firings in a wave, where they are enough: then none is left. `steps`: to the next firing's items.
    pub(super) fn wave(&mut self, steps: &str) {
        let Some(wave) = waves::wave(self.kernel) else { return };
        let m = wave.sections;
        // where a vector holds one section only, gcc does branches as well without
        let packed = wave.branches > 1;
        if packed {
            let _ = writeln!(self.out, "#if SL_LANES > {} || defined(__clang__)", wave.branches);
        }
        let arrays = arrays(&wave);
        let _ = writeln!(self.out, "    if (n >= {}) {{", 2 * m);
        let _ = writeln!(self.out, "        enum {{ vectors = ({} + SL_LANES - 1) / SL_LANES }};", wave.lanes());
        self.variables(&wave, &arrays);
        let (taken, given) =
            steps.split_once(", out").map_or((steps, String::new()), |(a, b)| (a, format!(", out{b}")));
        let last = (m - 1) * wave.apart;
        let _ = writeln!(self.out, "        for (long step = 0; step < n + {last}; step++) {{");
        let _ = writeln!(self.out, "            if (step == {last}) {{");
        // what goes from step to step changes places, it is not copied
        if self.function().body.len() <= FEW + wave.length * m {
            self.out.push_str("#pragma GCC unroll 2\n");
        }
        let _ = writeln!(self.out, "                for (; step < n; step++{steps}) {{");
        self.head(&wave);
        self.pass_on(&wave, "                    ");
        self.sections(&wave, &arrays, false);
        self.tail(&wave);
        self.out.push_str("                }\n            }\n            if (step < n) {\n");
        self.head(&wave);
        let next =
            |steps: &str| if steps.is_empty() { String::new() } else { format!("                {};\n", &steps[2..]) };
        let _ = writeln!(self.out, "{}            }}", next(taken));
        self.pass_on(&wave, "            ");
        // a section does that of firing step - section * apart
        let (b, apart, steps) = (wave.branches, wave.apart, m * wave.apart);
        let _ = writeln!(
            self.out,
            "            const int32_t end = (step < {steps} ? (int32_t)step / {apart} + 1 : {m}) * {b};"
        );
        let _ = writeln!(
            self.out,
            "            const int32_t begin = step < n ? 0 : ((int32_t)(step - n) / {apart} + 1) * {b};"
        );
        self.sections(&wave, &arrays, true);
        let _ = writeln!(self.out, "            if (step >= {last}) {{");
        self.tail(&wave);
        let _ = write!(self.out, "{}            }}\n        }}\n", next(&given));
        self.fields_again(&wave);
        self.out.push_str("        n = 0;\n    }\n");
        if packed {
            self.out.push_str("#endif\n");
        }
    }

    /// Declares the variables, with what fields and numbers have.
    fn variables(&mut self, wave: &Wave, arrays: &BTreeSet<usize>) {
        for (i, var) in wave.vars.iter().enumerate() {
            let Var::Passed(ty, _, first) = var else { continue };
            let (of, zero) = match self.firsts(wave, first).len() {
                1 => (String::new(), "0"),
                n => (format!("[{n}]"), "{0}"),
            };
            let _ = writeln!(self.out, "        {} first{i}{of} = {zero};", c_type(ty));
        }
        for from in sources(wave).into_iter().filter(|_| wave.apart > 1) {
            let _ = writeln!(self.out, "        {} had{from}[vectors] = {{{{0}}}};", vector(wave.vars[from].ty()));
        }
        let padded = wave.lanes().div_ceil(WIDEST) * WIDEST;
        for (i, var) in wave.vars.iter().enumerate().filter(|(i, _)| arrays.contains(i)) {
            let (v, ty) = (vector(var.ty()), c_type(var.ty()));
            let values: Vec<String> = match var {
                Var::Field(_, ids) => ids.iter().flat_map(|f| self.places(wave, f)).collect(),
                Var::Number(_, numbers) => {
                    let of =
                        |e: &Expr| (0..wave.branches).map(|b| self.expr(&of_branch(wave, e, b))).collect::<Vec<_>>();
                    numbers.iter().flat_map(of).collect()
                }
                _ => {
                    let _ = writeln!(self.out, "        {v} wave{i}[vectors] = {{{{0}}}};");
                    continue;
                }
            };
            let fixed = matches!(var, Var::Number(_, all) if all.iter().all(|e| e.as_const().is_some()));
            let fixed = if fixed { "static const " } else { "" };
            let _ = writeln!(self.out, "        {fixed}{ty} wave{i}_of[{padded}] = {{{}}};", values.join(", "));
            let _ = writeln!(self.out, "        {v} wave{i}[vectors];");
            let _ = writeln!(
                self.out,
                "{UNROLLED}        for (int v = 0; v < vectors; v++) wave{i}[v] = {v}_load(wave{i}_of + v * SL_LANES);"
            );
        }
    }

    /// What comes before the sections, and what it hands to the first one of each branch.
    fn head(&mut self, wave: &Wave) {
        let f = self.function();
        let (before, _) = wave.around(&f.body);
        self.part(f, before, &[], |p| {
            for (i, var) in wave.vars.iter().enumerate() {
                let Var::Passed(_, _, first) = var else { continue };
                let all = p.firsts(wave, first);
                for (b, x) in all.iter().enumerate() {
                    let at = if all.len() > 1 { format!("[{b}]") } else { String::new() };
                    let x = p.expr(x);
                    let _ = writeln!(p.out, "                    first{i}{at} = {x};");
                }
            }
        });
    }

    /// What is handed to the first section: a value for each branch, or one that all of them have.
    fn firsts(&self, wave: &Wave, value: &Expr) -> Vec<Expr> {
        let mut all: Vec<Expr> = (0..wave.branches).map(|b| self.element(wave, value, b)).collect();
        if all.iter().all(|x| *x == all[0]) {
            all.truncate(1);
        }
        all
    }

    /// Each lane gets what that of the section before it had: a step ago, or two.
    fn pass_on(&mut self, wave: &Wave, pad: &str) {
        let passed: Vec<(usize, &Ty, usize, &Expr)> = (wave.vars.iter().enumerate())
            .filter_map(|(i, v)| if let Var::Passed(ty, from, e) = v { Some((i, ty, *from, e)) } else { None })
            .collect();
        let b = wave.branches;
        for (i, ty, from, first) in &passed {
            let v = vector(ty);
            let had = if wave.apart > 1 { format!("had{from}") } else { format!("wave{from}") };
            let one = self.firsts(wave, first).len() == 1;
            let first = if one { format!("{v}_splat(first{i})") } else { format!("{had}[0]") };
            let _ = writeln!(
                self.out,
                "{UNROLLED}{pad}for (int v = vectors - 1; v >= 0; v--) wave{i}[v] = {v}_behind(v > {b} / SL_LANES ? {had}[v > {b} / SL_LANES ? v - {b} / SL_LANES - 1 : 0] : {first}, v >= {b} / SL_LANES ? {had}[v >= {b} / SL_LANES ? v - {b} / SL_LANES : 0] : {first}, {b} % SL_LANES);"
            );
            for k in 0..if one { 0 } else { b } {
                let _ = writeln!(self.out, "{pad}wave{i}[{k} / SL_LANES][{k} % SL_LANES] = first{i}[{k}];");
            }
        }
        for from in sources(wave).into_iter().filter(|_| wave.apart > 1) {
            let _ =
                writeln!(self.out, "{UNROLLED}{pad}for (int v = 0; v < vectors; v++) had{from}[v] = wave{from}[v];");
        }
    }

    /// A value as a branch has it: its element of an array.
    fn element(&self, wave: &Wave, value: &Expr, branch: usize) -> Expr {
        let mut value = of_branch(wave, value, branch);
        if let ExprKind::Load(p) = &mut value.kind
            && self.is_array(&p.base)
            && p.path.is_empty()
        {
            p.path.push(Proj::Index(Expr::int(branch as i32)));
        }
        value
    }

    fn is_array(&self, base: &Base) -> bool {
        let ty = match base {
            Base::Local(id) => &self.function().locals[id.index()].ty,
            Base::State(id) => &self.kernel.state[id.index()].ty,
            _ => return false,
        };
        matches!(ty, Ty::Array(..))
    }

    /// Where a field is, of each branch.
    fn places(&self, wave: &Wave, field: &Field) -> Vec<String> {
        match field.element {
            Some(i) => vec![self.place(&Place::state(field.state).then(Proj::Index(Expr::int(i))))],
            None => self.of_branches(wave, &Base::State(field.state)),
        }
    }

    /// A variable, or the elements that branches have of it.
    fn of_branches(&self, wave: &Wave, base: &Base) -> Vec<String> {
        let whole = self.place(&Place { base: base.clone(), path: Vec::new() });
        if self.is_array(base) { (0..wave.branches).map(|b| format!("{whole}.v[{b}]")).collect() } else { vec![whole] }
    }

    /// What comes behind the sections, of what the last one has.
    fn tail(&mut self, wave: &Wave) {
        let f = self.function();
        let (_, behind) = wave.around(&f.body);
        // what is declared here may have the name of what comes before the sections
        self.out.push_str("                    {\n");
        let (pad, last) = ("                    ", wave.sections - 1);
        for (base, i) in &wave.outcome {
            if let Base::Local(id) = base {
                let name = self.local(*id);
                let _ = writeln!(self.out, "{pad}{} {name};", c_type(&f.locals[id.index()].ty));
            }
            // one by one: C compilers take them from the vector then, and not through memory
            for (k, one) in self.of_branches(wave, base).iter().enumerate() {
                let lane = last * wave.branches + k;
                let _ = writeln!(self.out, "{pad}{one} = wave{i}[{lane} / SL_LANES][{lane} % SL_LANES];");
            }
        }
        let given: Vec<LocalId> = wave
            .outcome
            .iter()
            .filter_map(|(base, _)| Place { base: base.clone(), path: Vec::new() }.as_local())
            .collect();
        self.part(f, behind, &given, |_| {});
        self.out.push_str("                    }\n");
    }

    /// Some of a firing's statements, for which some variables are given, and then more.
    fn part(&mut self, f: &Function, body: &[Stmt], given: &[LocalId], more: impl Fn(&mut Self)) {
        let part = Function { body: body.to_vec(), ..f.clone() };
        let whole = std::mem::replace(&mut self.scopes, Scopes::of(&part));
        given.iter().for_each(|id| self.scopes.given(*id));
        self.body(&part.body, 5);
        more(self);
        self.scopes = whole;
    }

    /// A step of all sections. `some`: of those whose firing is one.
    fn sections(&mut self, wave: &Wave, arrays: &BTreeSet<usize>, some: bool) {
        let pad = if some { "            " } else { "                    " };
        let _ = writeln!(self.out, "{UNROLLED}{pad}for (int v = 0; v < vectors; v++) {{");
        if some {
            let _ = writeln!(
                self.out,
                "{pad}    const sl_vi lane = sl_vi_turns(v * SL_LANES), one = (lane >= begin) & (lane < end);"
            );
        }
        let name = |i: usize| if arrays.contains(&i) { format!("wave{i}[v]") } else { format!("wave{i}") };
        let mut declared = BTreeSet::new();
        for (i, e) in &wave.steps {
            let mut value = self.section_value(wave, e, &name);
            let ty = vector(wave.vars[*i].ty());
            if some && matches!(wave.vars[*i], Var::Field(..)) {
                value = format!("{ty}_select(one, {value}, {})", name(*i));
            }
            let new = !arrays.contains(i) && declared.insert(*i);
            let ty = if new { format!("{ty} ") } else { String::new() };
            let _ = writeln!(self.out, "{pad}    {ty}{} = {value};", name(*i));
        }
        let _ = writeln!(self.out, "{pad}}}");
    }

    /// A value of a vector of sections.
    fn section_value(&self, wave: &Wave, e: &Expr, name: &dyn Fn(usize) -> String) -> String {
        match &e.kind {
            ExprKind::Load(p) => match p.as_local().map(|var| var.index()) {
                Some(i) => match equal(&wave.vars[i]) {
                    Some(number) => self.splat(number),
                    None => name(i),
                },
                None => String::new(),
            },
            _ => self.vector_of(e, &|e| self.section_value(wave, e, name)),
        }
    }

    /// What the lanes have is in the fields' variables again.
    fn fields_again(&mut self, wave: &Wave) {
        for (i, var) in wave.vars.iter().enumerate() {
            let Var::Field(ty, ids) = var else { continue };
            let v = vector(ty);
            let _ = writeln!(
                self.out,
                "{UNROLLED}        for (int v = 0; v < vectors; v++) {v}_store(wave{i}_of + v * SL_LANES, wave{i}[v]);"
            );
            let all = ids.iter().flat_map(|f| self.places(wave, f)).enumerate();
            let all: String = all.map(|(k, field)| format!("        {field} = wave{i}_of[{k}];\n")).collect();
            self.out.push_str(&all);
        }
    }
}

/// Variables that are passed on.
fn sources(wave: &Wave) -> BTreeSet<usize> {
    wave.vars.iter().filter_map(|v| if let Var::Passed(_, from, _) = v { Some(*from) } else { None }).collect()
}

const UNROLLED: &str = "#pragma GCC unroll 8\n";

/// Variables that are looked at beyond a vector's own step.
fn arrays(wave: &Wave) -> BTreeSet<usize> {
    let of = |(i, v): (usize, &Var)| match v {
        Var::Own(_) => Vec::new(),
        Var::Number(..) if equal(v).is_some() => Vec::new(),
        Var::Field(..) | Var::Number(..) => vec![i],
        Var::Passed(_, from, _) => vec![i, *from],
    };
    let mut all: BTreeSet<usize> = wave.vars.iter().enumerate().flat_map(of).collect();
    all.extend(wave.outcome.iter().map(|(_, i)| *i));
    all
}

/// A value as a branch has it: what loops over them count is its number.
fn of_branch(wave: &Wave, e: &Expr, branch: usize) -> Expr {
    let mut e = e.clone();
    e.walk_mut(&mut |e| {
        if matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_some() && p.as_local() == wave.counter) {
            *e = Expr::int(branch as i32);
        }
    });
    e
}

/// A number that is the same in all sections.
fn equal(var: &Var) -> Option<&Expr> {
    let Var::Number(_, all) = var else { return None };
    let bits = |e: &Expr| e.as_const().map(|c| format!("{c:?}"));
    let first = bits(all.first()?)?;
    all.iter().all(|e| bits(e).as_ref() == Some(&first)).then(|| &all[0])
}
