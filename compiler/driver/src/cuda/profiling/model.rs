//! What nobody measures: a firing's cost from the kernel IR, weighted by the machine's cycles; the bytes that a thread stores and loads because its registers are too few, as accesses of
//! memory; and how much of its waiting the other threads of a multiprocessor hide.
//!
//! A machine says how many times slower a firing is that runs alone (`alone`), because its operations wait for one another: so it takes `alone` times as long from its beginning to its
//! end as its share of a full multiprocessor, and `alone * lanes` threads side by side hide all of that. Fewer threads do not.

use super::code::Needs;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_kernel::cost::Cost;
use sluice_schedule::machine::Machine;

/// A register's bytes.
const WORD: u64 = 4;

pub(super) struct Model {
    machine: Machine,
    /// By node.
    costs: Vec<Cost>,
    /// By node: how many streams take turns in a firing.
    streams: Vec<u32>,
}

impl Model {
    pub(super) fn new(program: &Elaborated, machine: Machine, costs: Vec<Cost>) -> Model {
        let streams = program.graph.nodes.iter().map(|node| match node.kind {
            NodeKind::Filter { code, .. } => program.codes[code.index()].turns.as_ref().map_or(1, |t| t.streams()),
            _ => 1,
        });
        Model { machine, costs, streams: streams.collect() }
    }

    /// Nanoseconds of a firing on a multiprocessor, by so many threads.
    pub(super) fn nanoseconds(&self, v: NodeId, needs: Needs, threads: u32, serial: bool) -> f64 {
        let m = &self.machine;
        let spills = Cost {
            store: u64::from(needs.stores).div_ceil(WORD),
            load: u64::from(needs.loads).div_ceil(WORD),
            ..Cost::default()
        };
        let cycles = self.costs[v.index()].weighted(&m.cycles).saturating_add(spills.weighted(&m.cycles)).max(1) as f64;
        let (alone, lanes, threads) = (m.alone as f64, m.lanes as f64, f64::from(threads));
        let each = if serial {
            // streams that take turns have a thread each
            cycles * alone / f64::from(self.streams[v.index()]).min(threads.min(lanes)).max(1.0)
        } else {
            cycles / lanes * (alone * lanes / threads).max(1.0)
        };
        each * 1000.0 / m.clock_mhz
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_schedule::machine::shipped;

    #[test]
    fn threads_hide_waiting_and_spills_cost() {
        let mut machine = shipped("h200").unwrap();
        (machine.clock_mhz, machine.lanes, machine.alone) = (1000.0, 128, 4);
        machine.cycles = Cost { float: 1, load: 6, store: 6, ..Cost::default() };
        let model = Model { machine, costs: vec![Cost { float: 128, ..Cost::default() }; 2], streams: vec![1, 64] };
        let none = Needs::default();
        let of = |threads, needs| model.nanoseconds(NodeId(0), needs, threads, false);
        // a lane does an operation in a cycle; four times as many threads as lanes are all it takes
        assert_eq!([128, 256, 512, 1024].map(|n| of(n, none)), [4.0, 2.0, 1.0, 1.0]);
        let spills = Needs { registers: Some(24), stores: 8, loads: 16 };
        assert_eq!(of(512, spills), 1.0 + 36.0 / 128.0);
        // state: one thread, which hides nothing; or one for each stream
        assert_eq!(model.nanoseconds(NodeId(0), none, 1024, true), 512.0);
        assert_eq!(model.nanoseconds(NodeId(1), none, 1024, true), 8.0);
    }
}
