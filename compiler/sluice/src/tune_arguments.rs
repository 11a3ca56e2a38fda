//! Arguments of `sluice tune`.

use crate::schedule_arguments::seconds;
use clap::Args;
use clap::builder::PossibleValuesParser;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::Bindings;
use sluice_driver::tune::take::TuneOptions;

/// On what, and for how long.
#[derive(Args, Debug)]
pub struct TuneArgs {
    /// File for the entry's open input; without, items are made that the program takes
    #[arg(short, long, value_name = "FILE")]
    input: Option<String>,
    /// Format of the input
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::all_names()))]
    input_format: Option<String>,
    /// Let all ways run for so long together, about; compiling comes on top
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "3")]
    seconds: f64,
    /// Compile as usual again
    #[arg(long)]
    forget: bool,
}

impl TuneArgs {
    /// As the driver takes them.
    pub fn options(self, json: bool) -> TuneOptions {
        let input_format = self.input_format.and_then(|n| Format::named(&n));
        TuneOptions {
            bindings: Bindings { input: self.input, input_format, ..Bindings::default() },
            seconds: Some(self.seconds),
            forget: self.forget,
            json,
        }
    }
}
