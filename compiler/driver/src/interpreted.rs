//! # interpreted
//!
//! Purpose: a run by the reference interpreter, its ends joined to a [`Host`].

use crate::exit::Fault;
use crate::io::host::{End, Host};
use crate::io::reader::Got;
use crate::natives::foreign::Foreign;
use crate::runtime::{self, RunEnd, RunFault};
use crate::stats::watch::{HostTime, Timed};
use sluice_frontend::Elaborated;
use sluice_frontend::eval::Value;
use sluice_frontend::ids::NativeId;
use sluice_frontend::typed::Globals;
use sluice_interpret::observe::Observer;
use sluice_interpret::{Options, Outside, Program};

/// Bytes taken from the host at once.
const BLOCK: usize = 1 << 16;

/// Items of a reader that were fetched and not used yet.
struct Block {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

struct World<'h> {
    host: &'h mut Host,
    natives: &'h mut Foreign,
    globals: &'h Globals,
    blocks: Vec<Block>,
    fault: Option<Fault>,
}

impl World<'_> {
    /// Notes a fault; the interpreter gets its text.
    fn note<T>(&mut self, result: Result<T, Fault>) -> Result<T, String> {
        result.map_err(|fault| {
            let text = fault.message.clone();
            self.fault.get_or_insert(fault);
            text
        })
    }
}

impl Outside for World<'_> {
    fn read(&mut self, reader: usize, item: &mut [u8]) -> Result<bool, String> {
        let Some(block) = self.blocks.get_mut(reader) else { return Err(format!("no reader {reader}")) };
        if block.at == block.end {
            match self.host.read(reader, &mut block.bytes, true) {
                Ok(Got::Items(n)) => (block.at, block.end) = (0, n * item.len()),
                Ok(Got::NoneYet | Got::End) => return Ok(false),
                Err(fault) => return self.note(Err(fault)),
            }
        }
        item.copy_from_slice(&block.bytes[block.at..][..item.len()]);
        block.at += item.len();
        Ok(true)
    }

    fn write(&mut self, writer: usize, item: &[u8]) -> Result<(), String> {
        let result = self.host.write(writer, item);
        self.note(result)
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        let result = self.host.print(text.as_bytes());
        self.note(result)
    }

    fn native(&mut self, function: NativeId, args: &[Value]) -> Result<Value, String> {
        self.natives.call(function, args, self.globals)
    }

    fn wants_stop(&mut self) -> bool {
        self.host.wants_stop()
    }
}

/// Runs a program to its end.
pub fn run(
    program: &Elaborated,
    readers: &[End],
    options: Options,
    host: &mut Host,
    natives: &mut Foreign,
) -> Result<(), RunEnd> {
    watch(program, readers, options, (host, natives), None, None)
}

/// The same before the eyes of an observer and with a clock around the host, where these are given.
pub fn watch(
    program: &Elaborated,
    readers: &[End],
    options: Options,
    (host, natives): (&mut Host, &mut Foreign),
    observer: Option<&mut dyn Observer>,
    clock: Option<&HostTime>,
) -> Result<(), RunEnd> {
    let blocks = readers
        .iter()
        .map(|r| Block { bytes: vec![0; (BLOCK / r.item.bytes).max(1) * r.item.bytes], at: 0, end: 0 })
        .collect();
    let mut world = World { host, natives, globals: &program.globals, blocks, fault: None };
    let Elaborated { globals, codes, graph, steady, messages, .. } = program;
    let program = Program { globals, codes, graph, steady, messages };
    let run = |world: &mut dyn Outside| match observer {
        None => sluice_interpret::run(program, world, options),
        Some(observer) => sluice_interpret::watch(program, world, options, observer),
    };
    let result = match clock {
        None => run(&mut world),
        Some(clock) => run(&mut Timed::new(&mut world, clock)),
    };
    if let Some(fault) = world.fault {
        return Err(fault.into());
    }
    result
        .map(drop)
        .map_err(|e| runtime::explain(&RunFault { path: e.path, firing: Some(e.firing), kind: e.kind, span: e.span }))
}
