//! # toolkit
//!
//! Purpose: where CUDA's compilers are. Input: the environment. Output: paths of NVRTC, in the order in which they are tried, and of nvcc.
//!
//! `SLUICE_NVRTC` names the library; `SLUICE_CUDA_HOME` a folder into which pip has installed the wheels (`pip install --target`), or a toolkit; else
//! the system's own libraries are tried, and the toolkit's folder: `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`.

use std::path::{Path, PathBuf};

/// Names of NVRTC, the newest first.
const NVRTC: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// Where the wheels put libraries: of CUDA 13, and of CUDA 12.
const WHEELS: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];

/// A variable that says something.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.trim().is_empty())
}

/// A place where NVRTC may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A path, or a name for the system to find.
    pub file: PathBuf,
    /// Who named it, for messages.
    pub from: String,
    /// The user has named it: no other one will do.
    pub insisted: bool,
}

/// Folders of a toolkit, or of wheels, that may have libraries.
fn library_folders(home: &Path) -> Vec<PathBuf> {
    let target = format!("targets/{}-linux/lib", if cfg!(target_arch = "aarch64") { "sbsa" } else { "x86_64" });
    WHEELS.iter().copied().chain(["lib64", "lib", target.as_str()]).map(|f| home.join(f)).collect()
}

/// Where NVRTC may be, in the order to try.
pub fn nvrtc_places() -> Vec<Place> {
    places(variable)
}

/// Those of a folder only.
pub fn nvrtc_places_in(home: &Path) -> Vec<Place> {
    let home = home.display().to_string();
    let all = places(|name| (name == "SLUICE_CUDA_HOME").then(|| home.clone()));
    all.into_iter().filter(|p| p.from == "SLUICE_CUDA_HOME").collect()
}

fn places(variable: impl Fn(&str) -> Option<String>) -> Vec<Place> {
    if let Some(path) = variable("SLUICE_NVRTC") {
        return vec![Place { file: PathBuf::from(path), from: "SLUICE_NVRTC".into(), insisted: true }];
    }
    let in_folders = |home: &str, from: &str, all: &mut Vec<Place>| {
        for folder in library_folders(Path::new(home)) {
            // of those that are not there, the folder itself is told, once
            let there = NVRTC.iter().map(|n| folder.join(n)).filter(|p| p.exists());
            all.extend(there.map(|file| Place { file, from: from.into(), insisted: false }));
        }
    };
    let mut all = Vec::new();
    if let Some(home) = variable("SLUICE_CUDA_HOME") {
        in_folders(&home, "SLUICE_CUDA_HOME", &mut all);
    }
    let system =
        |name: &&str| Place { file: PathBuf::from(name), from: "the system's libraries".into(), insisted: false };
    all.extend(NVRTC.iter().map(system));
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(home) = variable(name) {
            in_folders(&home, name, &mut all);
        }
    }
    in_folders("/usr/local/cuda", "the CUDA toolkit", &mut all);
    all
}

/// nvcc of a folder with wheels, or of a toolkit.
pub fn nvcc_in(home: &Path) -> Option<PathBuf> {
    tool_in(home, "nvcc")
}

fn tool_in(home: &Path, name: &str) -> Option<PathBuf> {
    [home.join("nvidia/cu13/bin").join(name), home.join("bin").join(name)].into_iter().find(|p| p.is_file())
}

/// The compiler driver nvcc, where there is one: of `SLUICE_CUDA_HOME`, of a toolkit, or on the path.
pub fn nvcc() -> Option<PathBuf> {
    tool("nvcc")
}

/// nvdisasm, which takes machine code apart; in the same places.
pub fn nvdisasm() -> Option<PathBuf> {
    tool("nvdisasm")
}

fn tool(name: &str) -> Option<PathBuf> {
    let homes = ["SLUICE_CUDA_HOME", "CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    let homes = homes.chain(["/usr/local/cuda".to_string()]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).map(|p| p.join(name)).collect();
    homes.filter_map(|h| tool_in(Path::new(&h), name)).chain(on_path).find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_asked_first() {
        let folder = tempfile::tempdir().unwrap();
        let lib = folder.path().join("nvidia/cu13/lib");
        std::fs::create_dir_all(&lib).unwrap();
        std::fs::write(lib.join("libnvrtc.so.13"), "").unwrap();
        let home = folder.path().display().to_string();
        let found = places(|name| (name == "SLUICE_CUDA_HOME").then(|| home.clone()));
        assert_eq!((found[0].file.clone(), found[0].insisted), (lib.join("libnvrtc.so.13"), false));
        assert_eq!(found[1].file, PathBuf::from("libnvrtc.so.13"));
        let both = ["SLUICE_CUDA_HOME", "SLUICE_NVRTC"];
        let found = places(|name| both.contains(&name).then(|| "/x/libnvrtc.so".to_string()));
        assert_eq!(found, [Place { file: "/x/libnvrtc.so".into(), from: "SLUICE_NVRTC".into(), insisted: true }]);
    }
}
