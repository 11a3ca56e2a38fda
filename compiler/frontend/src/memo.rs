//! # memo
//!
//! Purpose: what checking a filter gave, and what statics are worth, is kept from one analysis to the next, for an editor. Input: a filter's declaration, its arguments, and the [`World`] that it is checked
//! in. Output: what [`crate::check::filter`] would give, moved to where the declaration is now; nothing where that is not certain, and then it is checked.
//!
//! What a filter is depends on its tree, on what is around it (captured variables, with their types; structs, statics and functions, which must be equal trees in equal order), on
//! its arguments, on the budget of evaluation, and, for a warning, on the instances before it. All that is compared, not hashed. Kept is only what was said without a diagnostic and
//! without looking for similar names, and what has all its places within the declaration. Statics depend on the trees of all that is global; a block that fills
//! tables in long loops would take its time with each keystroke. Portals are numbers of declarations: what has to do with them is never kept.
//!
//! Invariant: an analysis with a memo is the analysis without one; tests compare them after random edits. Without one nothing is done.

mod places;

use crate::constant::Const;
use crate::eval::Spent;
use crate::ids::DeclId;
use crate::lints::instances::Instance;
use crate::ty::Ty;
use crate::typed::FilterCode;
use crate::world::World;
use sluice_grammar::ast::places::stream_places;
use sluice_grammar::ast::{FnDecl, Name, StaticBlock, StreamDecl, StructDecl};
use sluice_grammar::span::{FileId, Span};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of a program's filters, shared by the analyses of its texts, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Memo(Arc<Mutex<Kept>>);

/// Item types that a filter without a type gets from its neighbours.
type Inferred = (Option<Ty>, Option<Ty>);

#[derive(Debug, Default)]
struct Kept {
    /// Counts analyses.
    run: u64,
    around: Around,
    statics: Option<Statics>,
    /// How often statics were evaluated anew.
    evaluations: u64,
    streams: HashMap<Key, Entry>,
}

/// What all filters see.
#[derive(Debug, Default, PartialEq)]
struct Around {
    structs: Vec<Arc<StructDecl>>,
    statics: Vec<Arc<StaticBlock>>,
    helpers: Vec<(Name, Arc<FnDecl>)>,
    natives: Vec<(Name, Arc<FnDecl>)>,
    spent: Spent,
}

/// What statics are worth, and what it takes to find that out.
#[derive(Debug)]
struct Statics {
    /// What they are computed from; `spent` is what that took.
    from: Around,
    values: Vec<(Name, Ty, Const)>,
}

impl Around {
    fn of(w: &World, spent: Spent) -> Around {
        Around {
            structs: w.struct_asts().to_vec(),
            statics: w.static_blocks.clone(),
            helpers: w.helper_asts.clone(),
            natives: w.native_asts.clone(),
            spent,
        }
    }
}

/// The stream with a name that a declaration is in, and how far from its beginning.
type Key = (Name, u32);

#[derive(Debug)]
struct Entry {
    /// In which analysis it was last looked at, and what it was called there.
    run: u64,
    id: DeclId,
    ast: Arc<StreamDecl>,
    /// The places in the tree, counted from its beginning.
    places: Vec<(u32, u32)>,
    env: Vec<(Name, Ty)>,
    shipped: bool,
    /// What checking it in general takes, if it has no faults.
    general: Option<Spent>,
    made: HashMap<(Vec<Const>, Inferred), Made>,
}

/// A filter with its arguments.
#[derive(Debug)]
struct Made {
    code: FilterCode,
    instance: Option<Instance>,
    /// How many instances were known before.
    before: usize,
    spent: Spent,
    /// Where the declaration began.
    start: u32,
    run: u64,
}

/// The state of a world before something is checked.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    reports: usize,
    searches: u32,
    spent: Spent,
}

/// Analyses after which what is not seen any more is forgotten.
const FORGOTTEN: u64 = 64;

impl Mark {
    /// The state now.
    pub fn of(w: &World) -> Mark {
        Mark { reports: w.reports, searches: w.searched(), spent: w.budget.spent() }
    }

    /// What has been used up since, if nothing has been said, and nothing was given up for nobody waits any more.
    pub fn quiet(self, w: &World) -> Option<Spent> {
        if w.budget.cancelled() {
            return None;
        }
        let now = Mark::of(w);
        (now.reports == self.reports && now.searches == self.searches).then(|| now.spent.since(self.spent))
    }
}

impl Memo {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An analysis begins to check streams: what all filters see is known.
    pub fn begin(&self, w: &World) {
        let mut kept = self.kept();
        kept.run += 1;
        let run = kept.run;
        let around = Around::of(w, w.budget.spent());
        if kept.around != around {
            kept.streams.clear();
        }
        kept.around = around;
        kept.streams.retain(|_, e| e.run + FORGOTTEN > run);
    }

    /// Gives statics the values that they had, where all that they can be computed from is as it was; those whose type is not known yet keep theirs. False where they must be evaluated.
    pub fn statics(&self, w: &mut World) -> bool {
        let mut kept = self.kept();
        let known = kept.statics.as_ref().filter(|s| s.from == Around::of(w, s.from.spent));
        let Some(known) = known.filter(|s| w.budget.spend(s.from.spent)) else {
            kept.evaluations += 1;
            return false;
        };
        for (s, (name, ty, value)) in w.globals.statics.iter_mut().zip(&known.values) {
            if (&s.name, &s.ty) == (name, ty) {
                s.value = value.clone();
            }
        }
        true
    }

    /// Statics have been evaluated, without a diagnostic in all that is global.
    pub fn keep_statics(&self, w: &World, spent: Spent) {
        let values = w.globals.statics.iter().map(|s| (s.name.clone(), s.ty.clone(), s.value.clone())).collect();
        self.kept().statics = Some(Statics { from: Around::of(w, spent), values });
    }

    /// How often statics were evaluated anew.
    pub fn evaluations(&self) -> u64 {
        self.kept().evaluations
    }

    /// All instances have been made: what none of them was is forgotten.
    pub fn instantiated(&self) {
        let mut kept = self.kept();
        let run = kept.run;
        kept.streams.values_mut().for_each(|e| e.made.retain(|_, m| m.run == run));
    }

    /// Has a filter no faults, as far as is known?
    pub fn general(&self, w: &World, id: DeclId) -> bool {
        let mut kept = self.kept();
        kept.entry(w, id).and_then(|e| e.general).is_some_and(|spent| w.budget.spend(spent))
    }

    /// A filter has been checked in general and has no faults.
    pub fn keep_general(&self, w: &World, id: DeclId, before: Mark) {
        let Some(spent) = before.quiet(w) else { return };
        if let Some(entry) = self.kept().entry(w, id) {
            entry.general = Some(spent);
        }
    }

    /// A filter's code and what the lints know of it.
    pub fn code(
        &self,
        w: &World,
        id: DeclId,
        args: &[Const],
        inferred: &Inferred,
    ) -> Option<(FilterCode, Option<Instance>)> {
        let mut kept = self.kept();
        let run = kept.run;
        let entry = kept.entry(w, id)?;
        let start = entry.ast.at.0.start;
        let made = entry.made.get_mut(&(args.to_vec(), inferred.clone()))?;
        let known = w.instances.get(&id).map_or(0, Vec::len);
        let alike = made.before == known || Instance::alone(&made.code, made.before.max(known));
        if !alike || !w.budget.spend(made.spent) {
            return None;
        }
        made.run = run;
        let (mut code, mut instance) = (made.code.clone(), made.instance.clone());
        code.decl = id;
        let by = i64::from(start) - i64::from(made.start);
        if by != 0 {
            let moved = |at: &mut Span| {
                if *at != Span::default() {
                    (at.start, at.end) = ((i64::from(at.start) + by) as u32, (i64::from(at.end) + by) as u32);
                }
            };
            places::code(&mut code, &mut { moved });
            instance.iter_mut().for_each(|i| i.places(&mut { moved }));
        }
        Some((code, instance))
    }

    /// A filter's code has been made without a diagnostic; `known` instances there were before.
    pub fn keep_code(
        &self,
        w: &World,
        code: &FilterCode,
        args: &[Const],
        inferred: Inferred,
        known: usize,
        before: Mark,
    ) {
        let Some(spent) = before.quiet(w) else { return };
        let mut kept = self.kept();
        let run = kept.run;
        let Some(entry) = kept.entry(w, code.decl) else { return };
        let whole = entry.ast.at.0;
        let (mut code, mut instance) = (code.clone(), w.instances.get(&code.decl).and_then(|i| i.get(known)).cloned());
        let mut inside = true;
        let mut look = |at: &mut Span| {
            let within = at.file == whole.file && whole.start <= at.start && at.end <= whole.end;
            inside &= within && *at != Span::default() || !within && *at == Span::default();
        };
        places::code(&mut code, &mut look);
        instance.iter_mut().for_each(|i| i.places(&mut look));
        if inside {
            let made = Made { code, instance, before: known, spent, start: whole.start, run };
            entry.made.insert((args.to_vec(), inferred), made);
        }
    }
}

impl Kept {
    /// What is kept of a declaration: empty where it is another than before. `None` where nothing may be kept.
    fn entry(&mut self, w: &World, id: DeclId) -> Option<&mut Entry> {
        let decl = w.decl(id);
        let start = decl.ast.at.0.start;
        let mut top = decl;
        while let Some(parent) = top.parent {
            top = w.decl(parent);
        }
        let key = (top.name.clone(), start.checked_sub(top.ast.at.0.start)?);
        let run = self.run;
        if let Some(e) = self.streams.get(&key)
            && (e.run, e.id) == (run, id)
        {
            return self.streams.get_mut(&key);
        }
        if w.sources.text(decl.ast.at.0).contains("portal") || decl.env.iter().any(|(_, ty)| is_portal(ty)) {
            self.streams.remove(&key);
            return None;
        }
        let same = |e: &Entry| {
            e.shipped == decl.shipped && e.env == decl.env && (Arc::ptr_eq(&e.ast, &decl.ast) || e.is(&decl.ast))
        };
        match self.streams.get_mut(&key) {
            Some(e) if same(e) => (e.run, e.id, e.ast) = (run, id, decl.ast.clone()),
            _ => {
                let mut places = Vec::new();
                stream_places(&decl.ast, &mut |at| places.push((at.start - start.min(at.start), at.end - at.start)));
                let entry = Entry {
                    run,
                    id,
                    ast: decl.ast.clone(),
                    places,
                    env: decl.env.clone(),
                    shipped: decl.shipped,
                    general: None,
                    made: HashMap::new(),
                };
                self.streams.insert(key.clone(), entry);
            }
        }
        self.streams.get_mut(&key)
    }
}

impl Entry {
    /// Is it the same tree with the same places, perhaps further up or down?
    fn is(&self, ast: &StreamDecl) -> bool {
        let start = ast.at.0.start;
        let file: FileId = self.ast.at.0.file;
        let mut wanted = self.places.iter();
        let mut same = true;
        stream_places(ast, &mut |at| {
            let here = (at.start - start.min(at.start), at.end - at.start);
            same &= at.file == file && wanted.next() == Some(&here);
        });
        same && wanted.next().is_none() && *self.ast == *ast
    }
}

fn is_portal(ty: &Ty) -> bool {
    match ty {
        Ty::Portal(_) => true,
        Ty::Array(element, _) => is_portal(element),
        _ => false,
    }
}
