//! Reads a machine from its TOML text.

use super::{Kind, Machine};
use sluice_kernel::cost::Cost;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// What is wrong with a text, and where (bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// For people, without the place.
    pub message: String,
    /// Where.
    pub place: Range<usize>,
}

/// The most that a number in a machine may be.
const MOST: i64 = 1 << 48;

/// Reads a machine; every field must be there, once, and nothing else.
pub fn read(text: &str) -> Result<Machine, Fault> {
    let table = DeTable::parse(text)
        .map_err(|e| Fault { message: e.message().to_string(), place: e.span().unwrap_or(0..text.len()) })?;
    let mut top = Fields::new(table.get_ref(), 0..text.len(), "a machine");
    let cycles = top.take("cycles")?;
    let DeValue::Table(inner) = cycles.1 else {
        return Err(Fault { message: "`cycles` is a table: `[cycles]`".into(), place: cycles.0 });
    };
    let mut inner = Fields::new(inner, cycles.0, "`[cycles]`");
    let cycles = Cost {
        float: inner.number("float", 0)?,
        int: inner.number("int", 0)?,
        divide: inner.number("divide", 0)?,
        function: inner.number("library", 0)?,
        load: inner.number("load", 0)?,
        store: inner.number("store", 0)?,
        branch: inner.number("branch", 0)?,
        call: inner.number("call", 0)?,
    };
    inner.end()?;
    let machine = Machine {
        name: top.text("name")?.1,
        kind: match top.text("kind")? {
            (_, kind) if kind == "gpu" => Kind::Gpu,
            (_, kind) if kind == "cpu" => Kind::Cpu,
            (place, other) => {
                return Err(Fault { message: format!("`kind` is \"gpu\" or \"cpu\", not \"{other}\""), place });
            }
        },
        processors: top.number("processors", 1)?.min(1 << 20) as u32,
        lanes: top.number("lanes", 1)?,
        threads: top.number("threads", 1)?,
        clock_mhz: top.number("clock_mhz", 1)? as f64,
        registers: top.number("registers", 1)?,
        shared_bytes: top.number("shared_bytes", 0)?,
        memory_bytes: top.number("memory_bytes", 1)?,
        launch_cycles: top.number("launch_cycles", 0)?,
        instance_cycles: top.number("instance_cycles", 0)?,
        alone: top.number("alone", 1)?,
        cycles,
    };
    top.end()?;
    Ok(machine)
}

struct Fields<'t> {
    left: BTreeMap<&'t str, (Range<usize>, &'t DeValue<'t>)>,
    place: Range<usize>,
    what: &'static str,
}

impl<'t> Fields<'t> {
    fn new(table: &'t DeTable<'t>, place: Range<usize>, what: &'static str) -> Fields<'t> {
        let left = table.iter().map(|(k, v)| (k.get_ref().as_ref(), (v.span(), v.get_ref()))).collect();
        Fields { left, place, what }
    }

    fn take(&mut self, name: &str) -> Result<(Range<usize>, &'t DeValue<'t>), Fault> {
        let missing = || Fault { message: format!("{} has no `{name}`", self.what), place: self.place.clone() };
        self.left.remove(name).ok_or_else(missing)
    }

    fn number(&mut self, name: &str, least: i64) -> Result<u64, Fault> {
        let (place, value) = self.take(name)?;
        let number = match value {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok(),
            _ => None,
        };
        match number {
            Some(n) if (least..=MOST).contains(&n) => Ok(n as u64),
            _ => Err(Fault { message: format!("`{name}` is a whole number from {least} to {MOST}"), place }),
        }
    }

    fn text(&mut self, name: &str) -> Result<(Range<usize>, String), Fault> {
        let (place, value) = self.take(name)?;
        match value {
            DeValue::String(s) => Ok((place, s.to_string())),
            _ => Err(Fault { message: format!("`{name}` is a text in quotes"), place }),
        }
    }

    /// Nothing may be left.
    fn end(self) -> Result<(), Fault> {
        match self.left.into_iter().next() {
            None => Ok(()),
            Some((name, (place, _))) => Err(Fault { message: format!("{} has no field `{name}`", self.what), place }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: &str = include_str!("cpu.toml");

    #[test]
    fn faults_say_what_and_where() {
        let of = |from: &str, to: &str| {
            let text = CPU.replacen(from, to, 1);
            let fault = read(&text).unwrap_err();
            (fault.message, text[fault.place].to_string())
        };
        assert_eq!(of("alone = 1", "alone = 0").0, format!("`alone` is a whole number from 1 to {MOST}"));
        assert_eq!(of("alone = 1", "alone = 0").1, "0");
        assert_eq!(of("\"cpu\"", "\"fpga\"").1, "\"fpga\"");
        assert_eq!(of("alone = 1", "").0, "a machine has no `alone`");
        assert_eq!(of("alone = 1", "alone = 1\nalons = 2").0, "a machine has no field `alons`");
        assert_eq!(of("branch", "jump").0, "`[cycles]` has no `branch`");
        assert!(!of("[cycles]", "[cycles").0.is_empty());
    }
}
