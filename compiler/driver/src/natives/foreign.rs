//! # foreign
//!
//! Purpose: native functions as the interpreter calls them. Input: a library that sluice made of the user's files and of one caller for each
//! function (`sluice_codegen::c::natives::callers`). Output: [`Foreign::call`].
//!
//! One of the two modules of the driver with `unsafe`: it loads machine code and calls it.

#![allow(unsafe_code)]

use super::marshal::{self, Arguments};
use super::sources::{self, Natives};
use crate::cc::Compiler;
use crate::compiled;
use crate::exit::Fault;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use sluice_frontend::eval::Value;
use sluice_frontend::ids::NativeId;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;

/// `void sluice_native_<id>(void *const *args, void *result)`
type Caller = extern "C" fn(*const *mut c_void, *mut c_void);

/// Functions in memory.
pub struct Foreign {
    callers: BTreeMap<NativeId, Caller>,
    /// Keeps the code in memory; dropped last.
    _library: Option<Library>,
}

impl Foreign {
    /// No functions: for programs that call none.
    pub fn none() -> Foreign {
        Foreign { callers: BTreeMap::new(), _library: None }
    }

    /// Compiles the callers and the user's files (or finds them in the cache), and loads them.
    pub fn load(
        session: &mut Session,
        checked: &Checked,
        natives: &Natives,
        code: &CodeOptions,
    ) -> Result<Foreign, Halt> {
        if natives.called.is_empty() {
            return Ok(Foreign::none());
        }
        let text = sluice_codegen::c::natives::callers(&checked.program.globals, natives.called.keys().copied());
        let object = compiled::shared_object(session, checked, &Compiler::find()?, natives, (&text, None), code)?;
        let open = session.pass("load", || Foreign::open(&object, natives));
        Ok(open?)
    }

    fn open(path: &Path, natives: &Natives) -> Result<Foreign, Fault> {
        let fault = |e: libloading::Error| sources::cannot_load(path, &e.to_string());
        // All symbols are resolved now: one that is missing is an error here, not the end of the process later.
        // SAFETY: the file was made of code that the user asks to be run in this process; initialisers are the user's own.
        let library =
            unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | natives.load_flags()) }.map_err(fault)?;
        let mut callers = BTreeMap::new();
        for id in natives.called.keys() {
            let name = format!("sluice_native_{}\0", id.0);
            // SAFETY: the callers have this type; the code generator made them.
            let caller = unsafe { library.get::<Caller>(name.as_bytes()) }.map_err(fault)?;
            callers.insert(*id, *caller);
        }
        Ok(Foreign { callers, _library: Some(library) })
    }

    /// Calls a function. Arrays among the arguments take over what it leaves in them.
    pub fn call(&mut self, id: NativeId, args: &[Value], globals: &Globals) -> Result<Value, String> {
        let (Some(caller), Some(n)) = (self.callers.get(&id), globals.natives.get(id.index())) else {
            return Err("a native function that was not loaded".into());
        };
        let types: Vec<&Ty> = n.params.iter().map(|(_, t)| t).collect();
        let mut arguments = Arguments::new(args, &types, globals)?;
        let mut result = marshal::block(&n.ret, globals)?;
        let starts: Vec<*mut u8> = arguments.blocks.iter_mut().map(|b| b.as_mut_ptr().cast::<u8>()).collect();
        // the places are within their blocks: the layout of a part lies within that of the whole
        let pointers: Vec<*mut c_void> =
            arguments.places.iter().map(|(block, at)| starts[*block].wrapping_add(*at).cast()).collect();
        // The caller reads and writes as much as the types of the declaration say, as asserted in its C text; what the user's function
        // does beyond that is the user's affair, as in C.
        caller(pointers.as_ptr(), result.as_mut_ptr().cast());
        arguments.take_back(globals)?;
        marshal::result(&n.ret, &result, globals)
    }
}
