//! Statistics of the interpreter: an observer that counts, and the world with a clock around it.

use super::{Counted, StreamCount};
use sluice_frontend::Elaborated;
use sluice_frontend::eval::Value;
use sluice_frontend::ids::{NativeId, NodeId};
use sluice_interpret::Outside;
use sluice_interpret::observe::Observer;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time in the host so far.
#[derive(Debug, Default)]
pub struct HostTime {
    reading: Cell<Duration>,
    writing: Cell<Duration>,
}

impl HostTime {
    fn all(&self) -> Duration {
        self.reading.get() + self.writing.get()
    }
}

/// A world whose functions are timed.
pub struct Timed<'w> {
    world: &'w mut dyn Outside,
    time: &'w HostTime,
}

impl<'w> Timed<'w> {
    /// Around a world.
    pub fn new(world: &'w mut dyn Outside, time: &'w HostTime) -> Timed<'w> {
        Timed { world, time }
    }
}

/// Adds the time that `work` takes.
fn timed<T>(sum: &Cell<Duration>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    sum.set(sum.get() + start.elapsed());
    result
}

impl Outside for Timed<'_> {
    fn read(&mut self, reader: usize, item: &mut [u8]) -> Result<bool, String> {
        timed(&self.time.reading, || self.world.read(reader, item))
    }

    fn write(&mut self, writer: usize, item: &[u8]) -> Result<(), String> {
        timed(&self.time.writing, || self.world.write(writer, item))
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        timed(&self.time.writing, || self.world.print(text))
    }

    fn native(&mut self, function: NativeId, args: &[Value]) -> Result<Value, String> {
        self.world.native(function, args)
    }

    fn wants_stop(&mut self) -> bool {
        self.world.wants_stop()
    }
}

/// Counts what happens.
pub struct Counter<'a> {
    program: &'a Elaborated,
    host: &'a HostTime,
    counted: Counted,
    start: Instant,
    /// When the firing under way began, and the time in the host by then.
    began: (Instant, Duration),
}

impl<'a> Counter<'a> {
    /// Nothing counted yet.
    pub fn new(program: &'a Elaborated, host: &'a HostTime) -> Counter<'a> {
        let graph = &program.graph;
        let counted = Counted {
            streams: vec![StreamCount::default(); graph.nodes.len()],
            highest: graph.channels.iter().map(|c| c.initial.len() as u64).collect(),
            ..Counted::default()
        };
        let now = Instant::now();
        Counter { program, host, counted, start: now, began: (now, Duration::ZERO) }
    }

    /// What has been counted.
    pub fn counted(self) -> Counted {
        self.counted
    }
}

impl Counter<'_> {
    /// The code of a node has run.
    fn took(&mut self, node: NodeId) {
        let (start, host) = self.began;
        let took = start.elapsed().saturating_sub(self.host.all().saturating_sub(host));
        let count = &mut self.counted.streams[node.index()];
        count.calls += 1;
        count.time += nanoseconds(took);
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

impl Observer for Counter<'_> {
    fn begins(&mut self, _: NodeId) {
        self.began = (Instant::now(), self.host.all());
    }

    fn ends(&mut self, node: NodeId, moved: Option<(u64, u64)>, fill: &[u64]) {
        self.took(node);
        let graph = &self.program.graph;
        let count = &mut self.counted.streams[node.index()];
        let n = graph.node(node);
        let first = count.firings;
        let declared = || {
            let taken = n.inputs.iter().map(|c| u64::from(graph.consumed_by_firing(*c, first))).sum();
            (taken, n.outputs.iter().map(|c| u64::from(graph.produced_by_firing(*c, first))).sum())
        };
        let (taken, given) = moved.unwrap_or_else(declared);
        count.items_in += taken;
        count.items_out += given;
        for c in &n.outputs {
            let highest = &mut self.counted.highest[c.index()];
            *highest = (*highest).max(fill[c.index()]);
        }
        count.firings += 1;
    }

    fn abandoned(&mut self, node: NodeId) {
        self.took(node);
        self.counted.streams[node.index()].abandoned += 1;
    }

    fn finished(&mut self, steady_states: u64) {
        self.counted.steady_states = steady_states;
        self.counted.total = nanoseconds(self.start.elapsed());
        self.counted.reading = nanoseconds(self.host.reading.get());
        self.counted.writing = nanoseconds(self.host.writing.get());
    }
}
