//! # moves
//!
//! Purpose: C that fetches the state of regions from their members, puts it back, and lets the members have fired. Input: whose field is whose ([`Moves::field`]), and how often
//! members fire ([`Moves::fired`]). Output: [`MovesText`].
//!
//! ```text
//! few:   s->code_9[0].y_1 = s->code_1[0].y_0;
//! many:  static const sl_move sl_steady_moves[] = {SL_MOVE(code_9[0].y_1, code_1[0].y_0), …};   and a loop over it
//! ```
//!
//! What must hold: a compiler's time grows with the fields no faster than they do. Thousands of assignments in one function are slow to compile; rows of a table are not.

use std::fmt::Write;

/// Fields, and members, up to which each has a statement of its own: they cost less than rows when they run.
const FEW: usize = 512;

/// What regions fetch and put back.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// A region's field and its member's, as members of `struct sl_states`.
    fields: Vec<(String, String)>,
    /// Members, and how often each fires in a steady state.
    fired: Vec<(String, u64)>,
    /// A region's field, where a channel's buffer begins in the arena, and bytes of what waits there.
    waiting: Vec<(String, u64, String)>,
}

/// The text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MovesText {
    /// Tables.
    pub(super) tables: String,
    /// Statements that fetch; `s` are the states.
    pub(super) enter: String,
    /// Statements that put back after `k` steady states.
    pub(super) leave: String,
}

impl Moves {
    /// A field of a region is a field of a member; both are members of `struct sl_states`.
    pub(super) fn field(&mut self, own: String, theirs: String) {
        self.fields.push((own, theirs));
    }

    /// A member, a member of `struct sl_states`, fires so often in a steady state.
    pub(super) fn fired(&mut self, member: String, firings: u64) {
        self.fired.push((member, firings));
    }

    /// A field of a region, a member of `struct sl_states`, begins with what waits in a buffer at this place of the arena, so many bytes (in C).
    pub(super) fn waiting(&mut self, own: String, offset: u64, bytes: String) {
        self.waiting.push((own, offset, bytes));
    }

    /// The C; `name` is what its tables' names begin with.
    pub(super) fn text(&self, name: &str) -> MovesText {
        let mut out = MovesText::default();
        let MovesText { tables, enter, leave } = &mut out;
        if self.fields.len() <= FEW {
            for (own, theirs) in &self.fields {
                let _ = writeln!(enter, "    s->{own} = s->{theirs};");
                let _ = writeln!(leave, "    s->{theirs} = s->{own};");
            }
        } else {
            let _ = writeln!(tables, "static const sl_move {name}_moves[] = {{");
            for (own, theirs) in &self.fields {
                let _ = writeln!(tables, "    SL_MOVE({own}, {theirs}),");
            }
            let n = self.fields.len();
            let _ = writeln!(tables, "}};\n");
            let _ = writeln!(enter, "    sl_enter_regions(s, {name}_moves, {n});");
            let _ = writeln!(leave, "    sl_leave_regions(s, {name}_moves, {n});");
        }
        for (own, offset, bytes) in &self.waiting {
            let _ = writeln!(enter, "    memcpy(s->{own}.v, ctx->arena + {offset}, {bytes});");
            let _ = writeln!(leave, "    memcpy(ctx->arena + {offset}, s->{own}.v, {bytes});");
        }
        if self.fired.len() <= FEW {
            for (member, firings) in &self.fired {
                let _ = writeln!(leave, "    s->{member}.iter += {firings} * k;");
            }
        } else {
            // those that fire equally often follow one another
            let mut members: Vec<&(String, u64)> = self.fired.iter().collect();
            members.sort_by_key(|(_, firings)| *firings);
            let _ = writeln!(tables, "static const sl_offset {name}_iters[] = {{");
            let mut first = 0;
            for equal in members.chunk_by(|a, b| a.1 == b.1) {
                for (member, _) in equal {
                    let _ = writeln!(tables, "    offsetof(struct sl_states, {member}.iter),");
                }
                let (n, firings) = (equal.len(), equal[0].1);
                let _ = writeln!(leave, "    sl_have_fired(s, {name}_iters + {first}, {n}, {firings} * k);");
                first += n;
            }
            let _ = writeln!(tables, "}};\n");
        }
        out
    }
}

/// What tables of fields need, once in a program: `struct sl_states` must be known.
pub(super) const HELPERS: &str = "\
typedef __typeof__(__builtin_choose_expr(sizeof(struct sl_states) <= UINT32_MAX, (uint32_t)0, (size_t)0)) sl_offset;
typedef struct { sl_offset own, theirs, bytes; } sl_move;
#define SL_MOVE(own, theirs) \\
    {offsetof(struct sl_states, own), offsetof(struct sl_states, theirs), sizeof(((struct sl_states *)NULL)->own)}

/* A region's fields from its members. Most are words. */
static SL_UNUSED void sl_enter_regions(struct sl_states *s, const sl_move *moves, const size_t n)
{
    char *base = (char *)s;
    for (const sl_move *m = moves; m < moves + n; m++) {
        if (m->bytes == 4) memcpy(base + m->own, base + m->theirs, 4);
        else memcpy(base + m->own, base + m->theirs, m->bytes);
    }
}

static SL_UNUSED void sl_leave_regions(struct sl_states *s, const sl_move *moves, const size_t n)
{
    char *base = (char *)s;
    for (const sl_move *m = moves; m < moves + n; m++) {
        if (m->bytes == 4) memcpy(base + m->theirs, base + m->own, 4);
        else memcpy(base + m->theirs, base + m->own, m->bytes);
    }
}

/* Members' numbers of firings. */
static SL_UNUSED void sl_have_fired(struct sl_states *s, const sl_offset *iters, const size_t n, const int64_t firings)
{
    for (size_t i = 0; i < n; i++) *(int64_t *)(void *)((char *)s + iters[i]) += firings;
}

";

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(n: usize) -> MovesText {
        let mut moves = Moves::default();
        for i in 0..n {
            moves.field(format!("code_9[0].y_{i}"), format!("code_1[{i}].y_0"));
            moves.fired(format!("code_1[{i}]"), 3);
        }
        moves.text("sl_steady")
    }

    #[test]
    fn few_are_statements_and_many_are_rows() {
        let few = moves(2);
        assert_eq!(few.tables, "");
        assert_eq!(few.enter, "    s->code_9[0].y_0 = s->code_1[0].y_0;\n    s->code_9[0].y_1 = s->code_1[1].y_0;\n");
        assert!(few.leave.ends_with("    s->code_1[1].iter += 3 * k;\n"), "{}", few.leave);
        let many = moves(1000);
        assert_eq!((many.enter.lines().count(), many.leave.lines().count()), (1, 2), "no statement for each field");
        assert!(many.tables.contains("SL_MOVE(code_9[0].y_999, code_1[999].y_0),"), "{}", many.tables);
    }
}
