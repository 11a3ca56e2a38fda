//! # machine
//!
//! Purpose: Cranelift, set up for this processor and joined to the engine. Input: functions in Cranelift's form, bytes. Output: code and
//! data in memory, their addresses.

#![allow(unsafe_code)]

use crate::Refusal;
use crate::raw::{Engine, Places};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, GlobalValue, Signature, Type, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module, ModuleError, default_libcall_names};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Addresses, as a type.
pub const PTR: Type = types::I64;

/// Code and data of one program.
pub struct Machine {
    module: JITModule,
    context: Context,
    /// Functions of the engine that have been asked for.
    imports: BTreeMap<&'static str, FuncId>,
    /// Texts that code prints.
    texts: BTreeMap<Arc<str>, DataId>,
    engine: Engine,
    text: Option<String>,
}

/// A failure of Cranelift.
pub fn failed(e: &ModuleError) -> Refusal {
    Refusal::Cranelift(format!("{e:?}").lines().take(8).collect::<Vec<_>>().join("\n"))
}

fn isa() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // our own checks come before whatever could trap
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(|e| e.to_string())?;
    }
    let builder = cranelift_native::builder()?;
    builder.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
}

/// Says why there is no code for this processor, where that is so.
pub fn unknown_processor() -> Option<&'static str> {
    let known = cfg!(target_pointer_width = "64") && cfg!(target_endian = "little") && isa().is_ok();
    (!known).then_some("no machine code can be made in memory for this processor")
}

impl Machine {
    /// An empty one, joined to the engine that counts or does not.
    pub fn new(counts: bool, show: bool) -> Result<Machine, Refusal> {
        let isa = isa().map_err(Refusal::Cranelift)?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        let engine = Engine::get(counts);
        builder.symbols(engine.symbols.iter().copied());
        let module = JITModule::new(builder);
        let context = module.make_context();
        let text = show.then(String::new);
        Ok(Machine { module, context, imports: BTreeMap::new(), texts: BTreeMap::new(), engine, text })
    }

    /// Where things are in an instance.
    pub fn places(&self) -> Places {
        self.engine.places
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What Cranelift's helpers ask for.
    pub fn config(&self) -> TargetFrontendConfig {
        self.module.target_config()
    }

    /// A signature.
    pub fn signature(&self, params: &[Type], ret: Option<Type>) -> Signature {
        let mut s = self.module.make_signature();
        s.params.extend(params.iter().map(|t| AbiParam::new(*t)));
        s.returns.extend(ret.map(AbiParam::new));
        s
    }

    /// Declares a function of the program.
    pub fn declare(&mut self, name: &str, params: &[Type], ret: Option<Type>) -> Result<FuncId, Refusal> {
        let signature = self.signature(params, ret);
        self.module.declare_function(name, Linkage::Local, &signature).map_err(|e| failed(&e))
    }

    /// A function of the program, for another one to call.
    pub fn reference(&mut self, id: FuncId, function: &mut Function) -> FuncRef {
        self.module.declare_func_in_func(id, function)
    }

    /// A function of the engine, for one of the program to call.
    pub fn import(
        &mut self,
        name: &'static str,
        params: &[Type],
        ret: Option<Type>,
        function: &mut Function,
    ) -> Result<FuncRef, Refusal> {
        let id = match self.imports.get(name) {
            Some(id) => *id,
            None => {
                let signature = self.signature(params, ret);
                let id = self.module.declare_function(name, Linkage::Import, &signature).map_err(|e| failed(&e))?;
                self.imports.insert(name, id);
                id
            }
        };
        Ok(self.module.declare_func_in_func(id, function))
    }

    /// Data that code reads.
    pub fn data(&mut self, bytes: Vec<u8>) -> Result<DataId, Refusal> {
        let id = self.module.declare_anonymous_data(false, false).map_err(|e| failed(&e))?;
        let mut description = DataDescription::new();
        description.set_align(16);
        // there is no data of no bytes
        description.define(if bytes.is_empty() { Box::new([0]) } else { bytes.into_boxed_slice() });
        self.module.define_data(id, &description).map_err(|e| failed(&e))?;
        Ok(id)
    }

    /// A text as data.
    pub fn text(&mut self, text: &Arc<str>) -> Result<DataId, Refusal> {
        if let Some(id) = self.texts.get(text) {
            return Ok(*id);
        }
        let id = self.data(text.as_bytes().to_vec())?;
        self.texts.insert(text.clone(), id);
        Ok(id)
    }

    /// Data, for a function to read.
    pub fn data_reference(&self, id: DataId, function: &mut Function) -> GlobalValue {
        self.module.declare_data_in_func(id, function)
    }

    /// Begins a function: its empty form, and what its builder works with.
    pub fn begin(&mut self, id: FuncId) -> (Context, FunctionBuilderContext) {
        let mut context = std::mem::replace(&mut self.context, Context::new());
        self.module.clear_context(&mut context);
        let declaration = self.module.declarations().get_function_decl(id);
        context.func.signature = declaration.signature.clone();
        context.func.name = cranelift_codegen::ir::UserFuncName::user(0, id.as_u32());
        (context, FunctionBuilderContext::new())
    }

    /// Ends a function: it becomes machine code. `what` is said of it in the text.
    pub fn end(&mut self, id: FuncId, mut context: Context, what: &str) -> Result<(), Refusal> {
        if let Some(text) = &mut self.text {
            let _ = writeln!(text, "; {what}\n{}", context.func.display());
        }
        let done = self.module.define_function(id, &mut context).map_err(|e| failed(&e));
        self.context = context;
        done
    }

    /// The same for a function that holds addresses, which differ from run to run: it is not shown.
    pub fn end_quietly(&mut self, id: FuncId, mut context: Context) -> Result<(), Refusal> {
        let done = self.module.define_function(id, &mut context).map_err(|e| failed(&e));
        self.context = context;
        done
    }

    /// Makes all of it executable.
    pub fn finish(&mut self) -> Result<(), Refusal> {
        self.module.finalize_definitions().map_err(|e| failed(&e))
    }

    /// Where a function is, after [`Machine::finish`].
    pub fn address(&self, id: FuncId) -> *const u8 {
        self.module.get_finalized_function(id)
    }

    /// The code as text, where it was asked for.
    pub fn take_text(&mut self) -> String {
        self.text.take().unwrap_or_default()
    }

    /// Gives the memory back.
    pub fn free(self) {
        // SAFETY: the program that owned it is being dropped: nothing runs its code any more, and nobody keeps addresses in it.
        unsafe { self.module.free_memory() };
    }
}
