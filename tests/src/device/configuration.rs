//! Ways to run on an emulated device, or on this computer's GPU: what the command line would say.

#![allow(clippy::disallowed_methods)] // which of them comes from outside

use crate::generate::random::Random;
use crate::message::Message;
use sluice_codegen::cuda::Scheme;
use sluice_driver::options::CudaOptions;

/// Where devices are: on this computer's GPU where `SLUICE_ON_GPU` says something, else emulated.
pub fn on_gpu() -> bool {
    std::env::var_os("SLUICE_ON_GPU").is_some_and(|v| !v.is_empty())
}

/// One way to run on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What the driver is told.
    pub cuda: CudaOptions,
    /// Streams that take turns in the program.
    pub streams: Option<u32>,
    /// Nodes have different numbers of threads, as a profile might say; which, follows from this number.
    pub resting: Option<u32>,
}

impl Configuration {
    /// The schemes that are tried: all there are.
    pub fn schemes() -> Vec<Scheme> {
        Scheme::NAMES.map(|(_, s)| s).to_vec()
    }

    /// That of a seed.
    pub fn of(seed: u64, scheme: Scheme) -> Configuration {
        let mut r = Random::new(seed ^ 0xDE_71CE);
        let coarsen = *r.pick(&[None, None, None, Some(1), Some(2), Some(3)]);
        Configuration {
            cuda: CudaOptions {
                emulate: !on_gpu(),
                scheme: Some(scheme),
                coarsen,
                processors: Some(r.range(1, 6)),
                block_threads: Some(32 * *r.pick(&[1, 1, 2, 2, 3, 4])),
                tile: *r.pick(&[None, None, Some(1), Some(2), Some(8), Some(48)]),
                gpu: None,
                method: None,
                time_limit: None,
                // none that somebody has taken
                profile: Some("none".into()),
            },
            streams: r.chance(30).then(|| *r.pick(&[2, 3, 8, 33])),
            resting: r.chance(40).then(|| r.range(1, 1000)),
        }
    }

    /// Puts it into a job.
    pub fn with(&self, job: Message) -> Message {
        let CudaOptions { scheme, coarsen, processors, block_threads, tile, .. } = &self.cuda;
        let numbers = [
            ("coarsen", coarsen),
            ("sms", processors),
            ("block-threads", block_threads),
            ("tile", tile),
            ("streams", &self.streams),
            ("resting", &self.resting),
        ];
        let job = job.with("scheme", scheme.map_or("", Scheme::name));
        numbers.into_iter().fold(job, |job, (name, n)| match n {
            Some(n) => job.with(name, n.to_string()),
            None => job,
        })
    }

    /// Gets it out of a job.
    pub fn from(job: &Message) -> Configuration {
        let number = |name| job.number(name).map(|n| n as u32);
        let scheme = Scheme::NAMES.iter().find(|(name, _)| *name == job.text("scheme"));
        Configuration {
            cuda: CudaOptions {
                emulate: !on_gpu(),
                scheme: scheme.map(|(_, s)| *s),
                coarsen: number("coarsen"),
                processors: number("sms"),
                block_threads: number("block-threads"),
                tile: number("tile"),
                gpu: None,
                method: None,
                time_limit: None,
                // none that somebody has taken
                profile: Some("none".into()),
            },
            streams: number("streams"),
            resting: number("resting"),
        }
    }
}

impl std::fmt::Display for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CudaOptions { scheme, coarsen, processors, block_threads, tile, .. } = &self.cuda;
        write!(
            f,
            "--target cuda{} --scheme {}",
            if on_gpu() { "" } else { " --emulate" },
            scheme.map_or("auto", Scheme::name)
        )?;
        let numbers = [("coarsen", coarsen), ("sms", processors), ("block-threads", block_threads), ("tile", tile)];
        for (name, n) in numbers.into_iter().chain([("streams", &self.streams)]) {
            n.iter().try_for_each(|n| write!(f, " --{name} {n}"))?;
        }
        self.resting.iter().try_for_each(|n| write!(f, ", threads of nodes by {n}"))?;
        Ok(())
    }
}
