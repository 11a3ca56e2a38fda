//! Bundles as wide as vectors.
//!
//! ```text
//! for $l = 0 < 5 { .. items[$l] = y }   →   for $l = 0 < 8 { .. items[$l] = y }
//! ```
//!
//! A loop over five branches is a vector of four and a branch by itself, or five branches one by one; a loop over eight is a vector. So a bundle whose members see the same item, or items that
//! a bundle before them has side by side, has more lanes than members: these do what the last member does, from its numbers and its first state on, and nobody reads what they give.
//! It takes a loop over the members of a bundle ([`super::bundle`]), whose tables, states and items already have room for all lanes; it gives the turns of the loop: fewer than the lanes where one
//! without a member would read or write what is not its own.

use super::body::Builder;
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::{ChannelId, LocalId};

/// Items of the widest vectors whose lanes are filled up; longer bundles are several of them.
const WIDEST: usize = 8;

/// Lanes of a bundle of so many members: a power of two, or a multiple of the widest.
pub(super) const fn lanes(members: usize) -> usize {
    if members < WIDEST { members.next_power_of_two() } else { members.next_multiple_of(WIDEST) }
}

impl Builder<'_> {
    /// The turns of a bundle's loop over its lanes. `inputs` are its members'; `output` is that of the first.
    pub(super) fn turns(
        &mut self,
        turn: &[Stmt],
        (lane, members): (LocalId, usize),
        (inputs, output): (&[ChannelId], Option<ChannelId>),
    ) -> usize {
        let wide = lanes(members);
        let given = output.and_then(|c| self.side_by_side.get(&c)).map(|(first, ..)| *first);
        if wide > members && self.chooses(turn, lane, (inputs, given)) {
            return members;
        }
        self.filled.extend(given);
        wide
    }

    /// Does the lane choose anything but what every lane has of its own: states, tables, what is `given`, and what a bundle before has filled all lanes of?
    fn chooses(&mut self, turn: &[Stmt], lane: LocalId, (inputs, given): (&[ChannelId], Option<ChannelId>)) -> bool {
        let wide = lanes(inputs.len());
        let in_order = inputs.iter().enumerate().all(|(l, c)| {
            self.side_by_side.get(c).is_some_and(|(first, at, n)| *at == l && *n == wide && self.filled.contains(first))
        });
        let taken = inputs.first().filter(|_| in_order).copied();
        let own: Vec<LocalId> = [taken, given].into_iter().flatten().filter_map(|c| self.array(c).ok()).collect();
        let mut rest = turn.to_vec();
        walk::each_place_mut(&mut rest, &mut |p| {
            let has = match &p.base {
                Base::State(_) | Base::Table(_) => true,
                Base::Local(id) => own.contains(id),
                _ => false,
            };
            if let (true, Some(Proj::Index(at))) = (has, p.path.first_mut()) {
                *at = Expr::int(0);
            }
        });
        let mut chooses = false;
        walk::each_expr(&rest, &mut |e| {
            chooses |= matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(lane));
        });
        chooses
    }
}
