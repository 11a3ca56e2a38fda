//! Options that choose one of a few: their names on the command line and their help.

use clap::ValueEnum;
use sluice_driver::options::*;
use sluice_driver::testing::spec::BackEnds;

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum MessageArg {
    /// For people
    #[default]
    Human,
    /// JSON lines, as docs/json.md describes
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum RatesArg {
    /// For people
    #[default]
    Table,
    /// One document, as docs/json.md describes
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum BackEndArg {
    /// Native code and the interpreter
    #[default]
    Both,
    /// Native code
    Native,
    /// The reference interpreter
    Interpret,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum RunnerArg {
    /// Whichever is expected to be done sooner
    #[default]
    Auto,
    /// Sluice itself, in memory, within milliseconds
    Jit,
    /// The C compiler: slower to start, faster to run
    Cc,
    /// The reference interpreter
    Interpret,
}

impl RunnerArg {
    pub(crate) fn back_end(self) -> BackEnd {
        match self {
            RunnerArg::Auto | RunnerArg::Interpret => BackEnd::Auto,
            RunnerArg::Jit => BackEnd::Jit,
            RunnerArg::Cc => BackEnd::Cc,
        }
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum TargetArg {
    /// The CPU
    #[default]
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum GraphArg {
    /// A picture
    Svg,
    /// Text for Graphviz
    Dot,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum EmitArg {
    /// C text
    C,
    /// The C header of the native functions
    NativeHeader,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum ScheduleArg {
    /// Small code: each filter appears once
    SingleAppearance,
    /// Small buffers
    MinimumLatency,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum TakeApartArg {
    /// Leave them whole
    Never,
    /// What an estimate says is a quarter faster
    Auto,
    /// Whatever can be
    Always,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum InnerArg {
    /// What measures faster
    Auto,
    /// Leave them as they are
    None,
    /// Write out the turns of short loops, and four turns to one of the others
    Unroll,
    /// Load what the next turn needs ahead of the arithmetic of this one
    Pipeline,
    /// Unroll, then load ahead
    Both,
}

impl InnerArg {
    pub(crate) fn inner(self) -> Inner {
        match self {
            InnerArg::Auto => Inner::Auto,
            InnerArg::None => Inner::None,
            InnerArg::Unroll => Inner::Unroll,
            InnerArg::Pipeline => Inner::Pipeline,
            InnerArg::Both => Inner::Both,
        }
    }
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum LinearArg {
    /// Combine them, and go to the frequency domain, where the cost model finds it cheaper
    Auto,
    /// Leave them as they are, delays and products with zeroes too
    Off,
    /// Combine them; compute item by item
    Direct,
    /// Combine them; compute in the frequency domain wherever that can be done
    Frequency,
}

impl LinearArg {
    pub(crate) fn linear(self) -> Linear {
        match self {
            LinearArg::Auto => Linear::Auto,
            LinearArg::Off => Linear::Off,
            LinearArg::Direct => Linear::Direct,
            LinearArg::Frequency => Linear::Frequency,
        }
    }
}

impl From<RatesArg> for RatesFormat {
    fn from(format: RatesArg) -> RatesFormat {
        match format {
            RatesArg::Table => RatesFormat::Table,
            RatesArg::Json => RatesFormat::Json,
        }
    }
}

impl From<MessageArg> for MessageFormat {
    fn from(format: MessageArg) -> MessageFormat {
        match format {
            MessageArg::Human => MessageFormat::Human,
            MessageArg::Json => MessageFormat::Json,
        }
    }
}

impl From<BackEndArg> for BackEnds {
    fn from(kind: BackEndArg) -> BackEnds {
        match kind {
            BackEndArg::Both => BackEnds::Both,
            BackEndArg::Native => BackEnds::Native,
            BackEndArg::Interpret => BackEnds::Interpret,
        }
    }
}
