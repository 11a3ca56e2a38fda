//! The interpreter's ordinary run, with what each node printed told apart: programs in which several nodes print say it in another order
//! when they run in a pipeline.

use super::{Products, Supply};
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_interpret::observe::{Delivered, Fired, Observer, Outcome};
use sluice_interpret::{Options, Outside, Program, watch};

struct World<'s> {
    supply: &'s Supply,
    read: Vec<u64>,
    written: Vec<Vec<u8>>,
    printed: usize,
}

impl Outside for World<'_> {
    fn read(&mut self, reader: usize, item: &mut [u8]) -> Result<bool, String> {
        self.supply.item(self.read[reader], item);
        self.read[reader] += 1;
        Ok(true)
    }

    fn write(&mut self, writer: usize, item: &[u8]) -> Result<(), String> {
        self.written[writer].extend(item);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        self.printed += text.len();
        Ok(())
    }
}

/// Who prints what.
struct Ear {
    speaks: Vec<bool>,
    printed: Vec<String>,
    initialised: usize,
}

impl Observer for Ear {
    fn wants(&mut self, node: NodeId, _: u64) -> bool {
        self.speaks[node.index()]
    }

    fn initialised(&mut self, _: NodeId, printed: &str) {
        self.initialised += printed.len();
    }

    fn delivered(&mut self, message: &Delivered, _: Outcome<'_>) {
        self.printed[message.receiver.index()].push_str(&message.effects.printed);
    }

    fn fired(&mut self, firing: &Fired, _: Outcome<'_>) {
        self.printed[firing.node.index()].push_str(&firing.effects.printed);
    }
}

/// Runs so many steady states; `Err` where a firing fails.
pub fn interpreted(program: &Elaborated, supply: &Supply, steady_states: u64) -> Result<Products, String> {
    let Elaborated { globals, codes, graph, steady, messages, .. } = program;
    let count = |is: fn(&NodeKind) -> bool| graph.nodes.iter().filter(|n| is(&n.kind)).count();
    let (readers, writers) = (count(|k| matches!(k, NodeKind::Reader(_))), count(|k| matches!(k, NodeKind::Writer(_))));
    let mut world = World { supply, read: vec![0; readers], written: vec![Vec::new(); writers], printed: 0 };
    let speaks = |kind: &NodeKind| match kind {
        NodeKind::Filter { code, prints, .. } => *prints || !codes[code.index()].handlers.is_empty(),
        _ => false,
    };
    let n = graph.nodes.len();
    let speaks = graph.nodes.iter().map(|n| speaks(&n.kind)).collect();
    let mut ear = Ear { speaks, printed: vec![String::new(); n], initialised: 0 };
    let options = Options { iterations: Some(steady_states), channel_limit: None };
    watch(Program { globals, codes, graph, steady, messages }, &mut world, options, &mut ear)
        .map_err(|e| e.to_string())?;
    let heard: usize = ear.printed.iter().map(String::len).sum();
    assert_eq!(heard + ear.initialised, world.printed, "all that is printed is some node's");
    Ok(Products { written: world.written, printed: ear.printed })
}
