//! The configuration of the paper (figure 4): kernel, warps, units, warp size; as a TOML file.

use crate::exit::Fault;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// What is said about a kernel and its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The kernel's text, not looked at yet.
    pub kernel: Option<String>,
    /// Warps.
    pub warps: Option<u64>,
    /// Load/store units.
    pub ls_units: Option<u64>,
    /// Cores.
    pub cores: Option<u64>,
    /// Threads of a warp.
    pub warp_size: Option<u64>,
}

/// The largest file that is read: a kernel of the longest kind, and then some.
const MOST_BYTES: u64 = 1 << 22;

/// Our name and the paper's.
const NUMBERS: [[&str; 2]; 4] = [
    ["warps", "warp_number"],
    ["ls_units", "ls_unit_number"],
    ["cores", "cuda_core_number"],
    ["warp_size", "warp_size"],
];

impl Config {
    /// What `self` does not say, `other` does.
    #[must_use]
    pub fn or(self, other: Config) -> Config {
        Config {
            kernel: self.kernel.or(other.kernel),
            warps: self.warps.or(other.warps),
            ls_units: self.ls_units.or(other.ls_units),
            cores: self.cores.or(other.cores),
            warp_size: self.warp_size.or(other.warp_size),
        }
    }

    /// Reads a file.
    pub fn read(file: &str) -> Result<Config, Fault> {
        let failed = |e| Fault::file("read", file, &e).coded("E0991");
        let length = std::fs::metadata(file).map_err(failed)?.len();
        if length > MOST_BYTES {
            return Err(Fault::input(format!("{file} has {length} bytes, the limit is {MOST_BYTES}")).coded("E0991"));
        }
        let bytes = std::fs::read(file).map_err(failed)?;
        let text =
            String::from_utf8(bytes).map_err(|_| Fault::input(format!("{file} is not UTF-8 text")).coded("E0991"))?;
        Config::parse(&text).map_err(|(message, place)| {
            let before = &text.as_bytes()[..place.start.min(text.len())];
            let line = before.iter().filter(|b| **b == b'\n').count() + 1;
            let shown = text.lines().nth(line - 1).unwrap_or("").trim_end();
            let help = "the keys are kernel, warps, ls_units, cores and warp_size, as docs/makespan.md describes";
            Fault::usage(format!("{file}, line {line}: {message}\n    {shown}")).help(help).coded("E0991")
        })
    }

    fn parse(text: &str) -> Result<Config, (String, Range<usize>)> {
        let table = DeTable::parse(text).map_err(|e| (e.message().to_string(), e.span().unwrap_or(0..0)))?;
        let mut config = Config::default();
        for (key, value) in table.get_ref() {
            let (name, place) = (key.get_ref().as_ref(), value.span());
            if name == "kernel" {
                let DeValue::String(kernel) = value.get_ref() else {
                    return Err(("`kernel` is a text in quotes, such as \"LLC\"".into(), place));
                };
                config.kernel = Some(kernel.to_string());
                continue;
            }
            let Some(which) = NUMBERS.iter().position(|names| names.contains(&name)) else {
                let all = NUMBERS.iter().flatten().copied().chain(["kernel"]);
                let near = sluice_grammar::similar::closest(name, all);
                let near = near.map_or(String::new(), |n| format!("; is it `{n}`?"));
                return Err((format!("there is no key `{name}`{near}"), key.span()));
            };
            let number = match value.get_ref() {
                DeValue::Integer(i) => u64::from_str_radix(i.as_str(), i.radix()).ok(),
                _ => None,
            };
            let Some(number) = number else { return Err((format!("`{name}` is a whole number"), place)) };
            let field = match which {
                0 => &mut config.warps,
                1 => &mut config.ls_units,
                2 => &mut config.cores,
                _ => &mut config.warp_size,
            };
            if field.replace(number).is_some() {
                let [ours, papers] = NUMBERS[which];
                return Err((format!("`{ours}` and `{papers}` are the same: give one"), key.span()));
            }
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_configuration() {
        let text = "kernel = \"lcl\"\nwarp_number = 8\nls_unit_number = 16\ncuda_core_number = 32\nwarp_size = 32\n";
        let ours = "kernel = \"lcl\"\nwarps = 8\nls_units = 0x10\ncores = 32\nwarp_size = 32\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config, Config::parse(ours).unwrap());
        assert_eq!((config.warps, config.ls_units), (Some(8), Some(16)));
    }

    #[test]
    fn faults() {
        let of = |text: &str| Config::parse(text).unwrap_err().0;
        assert_eq!(of("kernel = 3"), "`kernel` is a text in quotes, such as \"LLC\"");
        assert_eq!(of("warps = -1"), "`warps` is a whole number");
        assert_eq!(of("warps = 1.5"), "`warps` is a whole number");
        assert_eq!(of("warp = 1"), "there is no key `warp`; is it `warps`?");
        assert_eq!(of("warps = 1\nwarp_number = 1"), "`warps` and `warp_number` are the same: give one");
        assert!(!of("kernel = ").is_empty());
    }
}
