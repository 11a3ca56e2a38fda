//! Arguments of `sluice profile`.

use crate::schedule_arguments::seconds;
use clap::Args;
use clap::builder::PossibleValuesParser;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::Bindings;
use sluice_driver::profile::take::ProfileOptions;

/// What is measured for how long, and where it is written.
#[derive(Args, Debug)]
pub struct ProfileArgs {
    /// File for the entry's open input; `-` (the default) is standard input
    #[arg(short, long, value_name = "FILE")]
    input: Option<String>,
    /// Format of the input
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::all_names()))]
    input_format: Option<String>,
    /// Run the initialisation and this many steady states, once
    #[arg(short = 'n', long, value_name = "N")]
    iterations: Option<u64>,
    /// Measure so long; files are read again where they are too short. Without --iterations, a second
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<f64>,
    /// Write the profile there instead of into the cache; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl ProfileArgs {
    /// As the driver takes them.
    pub fn options(self) -> ProfileOptions {
        let input_format = self.input_format.and_then(|n| Format::named(&n));
        ProfileOptions {
            bindings: Bindings { input: self.input, input_format, ..Bindings::default() },
            iterations: self.iterations,
            seconds: self.seconds,
            output: self.output,
        }
    }
}
