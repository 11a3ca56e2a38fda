//! Compiled programs, kept for the next run. A file per program, named by a hash of all that it was made from; the least
//! recently used go when the folder grows over its limit. Several processes may use it at the same time: a file appears
//! whole or not at all, and one that vanishes before it is opened is made again, as is one that is not what was written: code carries a seal
//! behind its last byte, which linkers and loaders do not look at.

use crate::exit::Fault;
use crate::interrupt;
use crate::io::sink;
use sha2::{Digest, Sha256};
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes kept where SLUICE_CACHE_LIMIT does not say otherwise.
pub const DEFAULT_LIMIT: u64 = 512 << 20;
/// Unfinished files older than this were left by a run that was killed.
const STALE: Duration = Duration::from_secs(3600);
/// Files that are loaded or linked, which a damaged one would break: they are sealed.
const SEALED: [&str; 2] = ["so", "o"];
/// How a seal begins.
const SEAL: &[u8; 8] = b"\nsluice\n";

/// The folder.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// Where the cache is: SLUICE_CACHE, else XDG_CACHE_HOME/sluice, else ~/.cache/sluice.
pub fn folder() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    var("SLUICE_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").filter(|p| p.is_absolute()).map(|p| p.join("sluice")))
        .or_else(|| var("HOME").map(|p| p.join(".cache").join("sluice")))
}

/// The limit that SLUICE_CACHE_LIMIT sets: bytes, or with K, M, G.
fn limit_from_environment() -> Result<u64, Fault> {
    match std::env::var("SLUICE_CACHE_LIMIT") {
        Err(_) => Ok(DEFAULT_LIMIT),
        Ok(text) => parse_size(&text).ok_or_else(|| {
            Fault::input(format!("SLUICE_CACHE_LIMIT is `{text}`, which is no size"))
                .help("a size is a number of bytes, such as 100M")
        }),
    }
}

/// A number of bytes, perhaps with K, M or G.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A name for what was made from `parts`.
pub fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(20).map(|b| format!("{b:02x}")).collect()
}

/// Is it the name of a file of ours? (So that `clean` and the limit leave others alone.)
fn is_ours(name: &str) -> bool {
    let stem = name.strip_prefix('.').unwrap_or(name);
    let (hash, rest) = stem.split_at_checked(40).unwrap_or(("", ""));
    hash.len() == 40 && hash.bytes().all(|b| b.is_ascii_hexdigit()) && rest.starts_with('.')
}

impl Cache {
    /// The user's cache. A folder that cannot be made is replaced by one among the temporary files.
    pub fn open() -> Result<Cache, Fault> {
        let limit = limit_from_environment()?;
        let wanted = folder();
        if let Some(folder) = &wanted
            && prepare(folder)
        {
            return Ok(Cache { folder: folder.clone(), limit });
        }
        let spare = std::env::temp_dir().join(format!("sluice-{}", rustix::process::getuid().as_raw()));
        if prepare(&spare) {
            return Ok(Cache { folder: spare, limit });
        }
        let shown = wanted.unwrap_or(spare);
        Err(Fault::input(format!("cannot write to the cache folder {}", shown.display()))
            .help("name a folder that can be written in SLUICE_CACHE"))
    }

    /// A cache in a given folder.
    pub fn at(folder: &Path, limit: u64) -> Cache {
        let _ = prepare(folder);
        Cache { folder: folder.to_path_buf(), limit }
    }

    /// The file of a key, made where it is not there. `make` writes the file whose path it is given.
    pub fn get(
        &self,
        key: &str,
        extension: &str,
        make: impl FnOnce(&Path) -> Result<(), Fault>,
    ) -> Result<PathBuf, Fault> {
        // Used now: the last to go.
        if let Some(path) = self.find(key, extension) {
            return Ok(path);
        }
        let path = self.folder.join(format!("{key}.{extension}"));
        let temporary = self.temporary(key, extension);
        interrupt::add_temporary(&temporary);
        let made = make(&temporary)
            .and_then(|()| if SEALED.contains(&extension) { seal(&temporary) } else { Ok(()) })
            .and_then(|()| std::fs::rename(&temporary, &path).map_err(|e| Fault::file("write", path.display(), &e)));
        if made.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        interrupt::forget_temporary(&temporary);
        made?;
        self.shrink(&path);
        Ok(path)
    }

    /// The file of a key, where there is one; it counts as used now.
    pub fn find(&self, key: &str, extension: &str) -> Option<PathBuf> {
        let path = self.folder.join(format!("{key}.{extension}"));
        let file = std::fs::File::open(&path).ok()?;
        if SEALED.contains(&extension) && !is_whole(&path) {
            return None;
        }
        let _ = file.set_modified(SystemTime::now());
        Some(path)
    }

    /// Keeps a file under a key, in place of one that was there.
    pub fn put(&self, key: &str, extension: &str, bytes: &[u8]) -> Result<PathBuf, Fault> {
        let path = self.folder.join(format!("{key}.{extension}"));
        sink::write_file(&path, bytes).map_err(|e| Fault::file("write", path.display(), &e))?;
        self.shrink(&path);
        Ok(path)
    }

    /// A name of this process in the cache's folder, for files on their way.
    pub fn temporary(&self, key: &str, extension: &str) -> PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!(".{key}.{}-{n}.partial.{extension}", std::process::id()))
    }

    /// Our files with size and time of last use, the oldest first.
    fn files(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut all: Vec<_> = entries
            .flatten()
            .filter(|e| e.file_name().to_str().is_some_and(is_ours))
            .filter_map(|e| {
                let m = e.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((m.modified().ok()?, m.len(), e.path()))
            })
            .collect();
        all.sort();
        all
    }

    /// Removes the least recently used files until the rest fits; `keep` stays.
    fn shrink(&self, keep: &Path) {
        let now = SystemTime::now();
        let files = self.files();
        let mut total: u64 = files.iter().map(|f| f.1).sum();
        for (used, size, path) in files {
            let partial = path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with('.'));
            let stale = now.duration_since(used).is_ok_and(|age| age > STALE);
            if path != keep && (if partial { stale } else { total > self.limit }) && std::fs::remove_file(&path).is_ok()
            {
                total -= size;
            }
        }
    }

    /// Removes everything; gives the number of files and bytes.
    pub fn clean(&self) -> (usize, u64) {
        let removed = self.files().into_iter().filter(|f| std::fs::remove_file(&f.2).is_ok());
        removed.fold((0, 0), |(n, bytes), f| (n + 1, bytes + f.1))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// What the seal of these bytes is.
fn seal_of(bytes: &[u8]) -> Vec<u8> {
    let mut hash = DefaultHasher::new();
    hash.write(bytes);
    [SEAL, &hash.finish().to_le_bytes()[..]].concat()
}

/// Puts a seal behind what a file holds.
fn seal(path: &Path) -> Result<(), Fault> {
    let sealed = std::fs::read(path)
        .and_then(|bytes| std::fs::OpenOptions::new().append(true).open(path)?.write_all(&seal_of(&bytes)));
    sealed.map_err(|e| Fault::file("write", path.display(), &e))
}

/// Does the file hold what was sealed?
fn is_whole(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else { return false };
    bytes.split_last_chunk::<16>().is_some_and(|(held, seal)| seal_of(held) == *seal)
}

/// Makes the folder; says whether it can be used.
fn prepare(folder: &Path) -> bool {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    if std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).is_err() {
        return false;
    }
    // Code is loaded from here: it must be the user's own folder (or root's).
    let me = rustix::process::getuid().as_raw();
    let owned =
        std::fs::metadata(folder).is_ok_and(|m| m.is_dir() && (m.uid() == me || m.uid() == 0) && m.mode() & 0o002 == 0);
    if !owned {
        return false;
    }
    let tag = folder.join("CACHEDIR.TAG");
    tag.exists()
        || std::fs::write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n# Compiled stream programs of sluice.\n")
            .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &Cache, name: &str, size: usize) -> PathBuf {
        cache
            .get(&key(&[name]), "so", |p| std::fs::write(p, vec![0; size]).map_err(|e| Fault::file("write", name, &e)))
            .unwrap()
    }

    #[test]
    fn keys_tell_parts_apart() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["x"]).len(), 40);
        assert!(is_ours(&format!("{}.so", key(&["x"]))));
        assert!(!is_ours("notes.txt") && !is_ours(&"é".repeat(30)));
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("12"), Some(12));
        assert_eq!(parse_size("3k"), Some(3072));
        assert_eq!(parse_size("2G"), Some(2 << 30));
        for bad in ["", "x", "-1", "1.5M", "99999999999999999999G", "é"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        // files and their seals
        let cache = Cache::at(folder.path(), 250);
        std::fs::write(folder.path().join("mine.txt"), [0; 900]).unwrap();
        let old = |p: &Path, s: u64| {
            std::fs::File::open(p).unwrap().set_modified(SystemTime::now() - Duration::from_secs(s)).unwrap();
        };
        let (a, b) = (put(&cache, "a", 100), put(&cache, "b", 100));
        old(&a, 50);
        old(&b, 40);
        put(&cache, "a", 100);
        let c = put(&cache, "c", 100);
        assert!(a.exists() && !b.exists() && c.exists());
        assert_eq!(cache.clean(), (2, 232));
        assert!(folder.path().join("mine.txt").exists());
    }

    #[test]
    fn what_is_put_is_found_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1000);
        assert_eq!(cache.find(&key(&["p"]), "json"), None);
        for text in ["one", "two"] {
            let path = cache.put(&key(&["p"]), "json", text.as_bytes()).unwrap();
            assert_eq!(cache.find(&key(&["p"]), "json"), Some(path.clone()));
            assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        }
        assert_eq!(cache.clean(), (1, 3));
    }

    #[test]
    fn what_is_damaged_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1000);
        let path = put(&cache, "a", 100);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole[..100], [0; 100]);
        let mut other = whole.clone();
        other[50] = 1;
        for damaged in [&[][..], &whole[..60], &whole[..100], &other] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(cache.find(&key(&["a"]), "so"), None);
            assert_eq!(std::fs::read(put(&cache, "a", 100)).unwrap(), whole);
        }
        assert_eq!(cache.find(&key(&["a"]), "so"), Some(path));
    }

    #[test]
    fn a_failure_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1000);
        let fail = |p: &Path| {
            std::fs::write(p, "half").unwrap();
            Err(Fault::internal("no"))
        };
        assert!(cache.get(&key(&["x"]), "so", fail).is_err());
        assert_eq!(cache.clean(), (0, 0));
    }

    #[test]
    fn many_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 300);
        std::thread::scope(|s| {
            for t in 0..8 {
                let cache = &cache;
                s.spawn(move || {
                    for i in 0..40 {
                        put(cache, &format!("{}", (i + t) % 10), 50);
                    }
                });
            }
        });
        assert!(cache.files().iter().map(|f| f.1).sum::<u64>() <= 300 + 8 * 66);
    }
}
