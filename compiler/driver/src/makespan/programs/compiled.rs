//! # compiled
//!
//! Purpose: where instructions are read. Input: the text of kernels. Output: [`Text`]: their machine code as nvdisasm prints it; PTX, where there is no nvdisasm, or no machine code for the architecture;
//! the costs of the kernel IR, where there is no CUDA compiler; and why it is not machine code.

use super::Setting;
use super::extract::Origin;
use crate::cache::{self, Cache};
use crate::cuda::compile::{self, Image, KernelOptions};
use crate::cuda::nvrtc::Nvrtc;
use crate::cuda::toolkit;
use crate::exit::Fault;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::scheduling;
use crate::session::Session;
use sluice_kernel::cost::Cost;
use std::path::Path;
use std::process::Command;

/// Where instructions are read.
pub(super) enum Text {
    Sass(String),
    Ptx(String),
    /// By node.
    Ir(Vec<Cost>),
}

/// Kernels, compiled as far as they can be.
pub(super) struct Compiled {
    pub(super) text: Text,
    /// What NVRTC made of it, where there is one.
    pub(super) image: Option<Image>,
    /// Why not from machine code.
    pub(super) because: Option<String>,
}

impl Compiled {
    pub(super) fn origin(&self) -> Origin {
        match self.text {
            Text::Sass(_) => Origin::Sass,
            Text::Ptx(_) => Origin::Ptx,
            Text::Ir(_) => Origin::Ir,
        }
    }
}

const MISSING_NVDISASM: &str = "there is no nvdisasm, which takes machine code apart: it comes with the CUDA toolkit, and is looked for there, in SLUICE_CUDA_HOME, and on the path";

/// Compiles the kernels of a text, and takes them apart.
pub(super) fn compiled(
    session: &mut Session,
    checked: &Checked,
    text: &str,
    code: &CodeOptions,
    setting: &Setting,
) -> Result<Compiled, Halt> {
    Ok(match read(session, text, code, setting)? {
        Ok((text, image)) => {
            let because = matches!(text, Text::Ptx(_)).then(|| MISSING_NVDISASM.to_string());
            Compiled { text, image: Some(image), because }
        }
        Err(why) => {
            let costs = scheduling::weights(session, checked)?.costs;
            Compiled { text: Text::Ir(costs), image: None, because: Some(why) }
        }
    })
}

/// Machine code, or PTX, and what the compiler made; or why there is neither.
fn read(
    session: &mut Session,
    text: &str,
    code: &CodeOptions,
    setting: &Setting,
) -> Result<Result<(Text, Image), String>, Halt> {
    let nvrtc = match Nvrtc::find(None) {
        Ok(nvrtc) => nvrtc,
        Err(fault) => return Ok(Err(fault.message)),
    };
    let options = KernelOptions { fast_math: code.cc.fast_math, registers: None, debug: false };
    let cache = Cache::open()?;
    let image = session.pass("compile-cuda", || compile::image_by(&nvrtc, &cache, text, setting.arch, options))?;
    // an architecture that the compiler does not know has PTX only
    let is_machine_code = image.bytes.starts_with(b"\x7fELF");
    if is_machine_code && let Some(tool) = toolkit::nvdisasm() {
        let text = session.pass("disassemble", || disassembled(&cache, &tool, &image.bytes))?;
        dump(session, "disassemble", || text.clone())?;
        return Ok(Ok((Text::Sass(text), image)));
    }
    let bytes = match is_machine_code {
        true => session.pass("compile-cuda", || compile::ptx_by(&nvrtc, text, setting.arch, options))?,
        false => image.bytes.clone(),
    };
    let text = String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_string();
    Ok(Ok((Text::Ptx(text), image)))
}

/// What nvdisasm prints, from the cache or made now.
fn disassembled(cache: &Cache, tool: &Path, image: &[u8]) -> Result<String, Fault> {
    let content: String = image.iter().map(|b| format!("{b:02x}")).collect();
    let key = cache::key(&["nvdisasm", &tool.display().to_string(), &content]);
    let file = cache.get(&key, "sass", |target| {
        let cubin = cache.temporary(&key, "cubin");
        crate::interrupt::add_temporary(&cubin);
        let made = std::fs::write(&cubin, image)
            .map_err(|e| Fault::file("write", cubin.display(), &e))
            .and_then(|()| disassemble(tool, &cubin))
            .and_then(|text| std::fs::write(target, text).map_err(|e| Fault::file("write", target.display(), &e)));
        let _ = std::fs::remove_file(&cubin);
        crate::interrupt::forget_temporary(&cubin);
        made
    })?;
    std::fs::read_to_string(&file).map_err(|e| Fault::file("read", file.display(), &e))
}

fn disassemble(tool: &Path, cubin: &Path) -> Result<Vec<u8>, Fault> {
    let output = Command::new(tool).arg("-c").arg(cubin).output();
    let output = output.map_err(|e| Fault::file("run", tool.display(), &e))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it says nothing");
    Err(Fault::input(format!("{} fails: {said}", tool.display()))
        .help("it must be as new as the CUDA compiler")
        .coded("E0984"))
}
