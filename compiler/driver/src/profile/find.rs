//! Where profiles are: in the cache, under the program's file and the processor; or where the command line says.

use super::{Misfit, Profile, misfit, this_machine};
use crate::cache::{self, Cache};
use crate::exit::{Exit, Fault};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sluice_schedule::machine::{Kind, Machine};
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

/// The one in a file that somebody named, for this machine.
pub fn given(session: &Session, checked: &Checked, file: &str, machine: &Machine) -> Result<Found, Halt> {
    let path = Path::new(file);
    let text = match std::fs::metadata(path) {
        Ok(m) if m.is_file() && m.len() > MOST_BYTES => {
            return Err(Fault::input(format!("{file} is larger than any profile")).into());
        }
        _ => std::fs::read_to_string(path).map_err(|e| Fault::file("read", file, &e))?,
    };
    let found = Profile::read(&text).and_then(|profile| {
        if machine.kind == Kind::Gpu {
            return Err(misfit::other_kind(&text, &profile, &machine.name));
        }
        let nanoseconds = profile.fit(&text, &checked.program)?;
        Ok(Found { file: file.to_string(), profile, nanoseconds })
    });
    found.or_else(|misfit| {
        let (map, diagnostic) = misfit.diagnostic(file, &text);
        session.report(&map, &[diagnostic])?;
        Err(Halt::Done(Exit::Input))
    })
}
