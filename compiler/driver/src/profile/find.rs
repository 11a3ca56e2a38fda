//! Where profiles are: in the cache, under the program's file and the processor, or under what the program does and the GPU; or where the command line says.

use super::gpu::Costs;
use super::{Misfit, NONE, Profile, hash, misfit, this_machine};
use crate::cache::{self, Cache};
use crate::cuda::arch::Arch;
use crate::cuda::run::DeviceName;
use crate::exit::{Exit, Fault};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sluice_schedule::machine::{self, Kind, Machine, SHIPPED};
use std::path::Path;

/// A profile that fits a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The file.
    pub file: String,
    /// What stands there.
    pub profile: Profile,
    /// By node, nanoseconds of a firing, where it was measured.
    pub nanoseconds: Vec<Option<f64>>,
}

/// The largest profile that is read.
const MOST_BYTES: u64 = 256 << 20;

/// The name under which the cache has a program's profile; `None` for a program that is in no file.
pub fn key(checked: &Checked) -> Option<String> {
    let entry = checked.program.graph.hierarchy.first()?;
    let name = &checked.sources.file(entry.decl.file).name;
    let path = std::fs::canonicalize(name).ok()?;
    Some(cache::key(&["profile", path.to_str()?, &entry.display, &this_machine()]))
}

fn load(path: &Path, checked: &Checked) -> Result<Found, (String, Misfit)> {
    let small = std::fs::metadata(path).is_ok_and(|m| m.len() <= MOST_BYTES);
    let text = if small { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    let fitted = Profile::read(&text).and_then(|profile| {
        let nanoseconds = profile.fit(&text, &checked.program)?;
        Ok(Found { file: path.display().to_string(), profile, nanoseconds })
    });
    fitted.map_err(|misfit| (text, misfit))
}

/// The one in the cache, or why what is there is of no use; `None` where there is none.
pub fn in_cache(checked: &Checked) -> Option<Result<Found, String>> {
    let key = key(checked)?;
    // A cache that cannot be used has none.
    let path = Cache::open().ok()?.find(&key, "json")?;
    let shown = path.display().to_string();
    Some(load(&path, checked).map_err(|(_, m)| {
        format!("the profile in the cache is ignored: {} ({shown}); `sluice profile` measures again", m.sentence())
    }))
}

/// The names under which the cache has a GPU's profile of a program of this hash. Those that were measured have the GPU's name, its architecture and its driver in it; those that were
/// modelled the architecture. Machines that programs are scheduled for are found by their own names, too.
pub fn gpu_keys(profile: &Profile, machine: &str) -> Vec<String> {
    let Some(on) = &profile.gpu else { return Vec::new() };
    let (hash, none) = (profile.hash.as_str(), String::new());
    let arch = on.arch.as_ref().unwrap_or(&none);
    match on.costs {
        Costs::Emulated => vec![emulated_key(hash)],
        Costs::Modelled => vec![modelled_key(arch, hash), machine_key(machine, on.costs, hash)],
        Costs::Measured => {
            let name = profile.machine.name.as_str();
            let shipped = SHIPPED.iter().filter_map(|(n, _)| machine::shipped(n)).map(|m| m.name);
            let like = shipped.filter(|m| name != m && name.starts_with(m.as_str()));
            let machines = std::iter::once(name.to_string()).chain(like);
            let mut keys = vec![measured_key(name, arch, on.driver.as_ref().unwrap_or(&none), hash)];
            keys.extend(machines.map(|m| machine_key(&m, on.costs, hash)));
            keys
        }
    }
}

fn gpu_key(parts: &[&str]) -> String {
    let mut all = vec!["gpu-profile", env!("CARGO_PKG_VERSION")];
    all.extend(parts);
    cache::key(&all)
}

fn measured_key(name: &str, arch: &str, driver: &str, hash: &str) -> String {
    gpu_key(&["measured", name, arch, driver, hash])
}

fn modelled_key(arch: &str, hash: &str) -> String {
    gpu_key(&["modelled", arch, hash])
}

fn emulated_key(hash: &str) -> String {
    gpu_key(&["emulated", hash])
}

fn machine_key(machine: &str, costs: Costs, hash: &str) -> String {
    gpu_key(&["machine", machine, if costs == Costs::Measured { "measured" } else { "modelled" }, hash])
}

/// The first of these that the cache has. One that does not fit is none: its name has in it what it depends on.
fn first_of(checked: &Checked, keys: &[String]) -> Option<Found> {
    let cache = Cache::open().ok()?;
    keys.iter().find_map(|key| load(&cache.find(key, "json")?, checked).ok())
}

/// The cache's profile of a program on a GPU that is scheduled for: measured, else modelled.
pub fn of_machine(checked: &Checked, machine: &Machine) -> Option<Found> {
    let hash = hash(&checked.program)?;
    first_of(checked, &[Costs::Measured, Costs::Modelled].map(|costs| machine_key(&machine.name, costs, &hash)))
}

/// The profile that code for a GPU is made by: the one that somebody named (`none`: none), else the cache's. The code is for these architectures, or for the emulated GPU where there
/// are none.
pub fn on_device(
    session: &Session,
    checked: &Checked,
    named: Option<&str>,
    device: Option<&DeviceName>,
    archs: &[Arch],
) -> Result<Option<Found>, Halt> {
    let Some(file) = named else {
        let Some(hash) = hash(&checked.program) else { return Ok(None) };
        let mut keys: Vec<String> = Vec::new();
        let names = || archs.iter().rev().map(|a| a.sm());
        keys.extend(device.iter().flat_map(|d| names().map(|a| measured_key(&d.name, &a, &d.driver, &hash))));
        keys.extend(names().map(|a| modelled_key(&a, &hash)));
        keys.extend(archs.is_empty().then(|| emulated_key(&hash)));
        return Ok(first_of(checked, &keys));
    };
    if file == NONE {
        return Ok(None);
    }
    let fits = |text: &str, profile: &Profile| {
        let machine = device.map_or("a GPU", |d| d.name.as_str());
        let Some(on) = &profile.gpu else { return Err(misfit::other_kind(text, profile, machine)) };
        // the emulated GPU runs what is for any
        if archs.is_empty() || archs.iter().any(|a| on.arch.as_deref() == Some(&a.sm())) {
            return Ok(());
        }
        let names: Vec<String> = archs.iter().map(|a| a.sm()).collect();
        Err(misfit::other_arch(text, profile, &names.join(" and ")))
    };
    read(session, checked, file, fits).map(Some)
}

/// The one in a file that somebody named, for this machine.
pub fn given(session: &Session, checked: &Checked, file: &str, machine: &Machine) -> Result<Found, Halt> {
    read(session, checked, file, |text, profile| match (machine.kind == Kind::Gpu) == profile.is_gpu() {
        true => Ok(()),
        false => Err(misfit::other_kind(text, profile, &machine.name)),
    })
}

/// The one in a file, if it is also what is asked for.
fn read(
    session: &Session,
    checked: &Checked,
    file: &str,
    fits: impl FnOnce(&str, &Profile) -> Result<(), Misfit>,
) -> Result<Found, Halt> {
    let path = Path::new(file);
    let text = match std::fs::metadata(path) {
        Ok(m) if m.is_file() && m.len() > MOST_BYTES => {
            return Err(Fault::input(format!("{file} is larger than any profile")).into());
        }
        _ => std::fs::read_to_string(path).map_err(|e| Fault::file("read", file, &e))?,
    };
    let found = Profile::read(&text).and_then(|profile| {
        fits(&text, &profile)?;
        let nanoseconds = profile.fit(&text, &checked.program)?;
        Ok(Found { file: file.to_string(), profile, nanoseconds })
    });
    found.or_else(|misfit| {
        let (map, diagnostic) = misfit.diagnostic(file, &text);
        session.report(&map, &[diagnostic])?;
        Err(Halt::Done(Exit::Input))
    })
}
