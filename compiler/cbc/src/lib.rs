//! # cbc
//!
//! Purpose: the C interface of COIN-OR CBC, as `coin_cbc` wants it, by a library that is loaded when the first integer program is solved. Nobody else waits for it: it and the fourteen
//! libraries that only it needs take 6 to 11 ms of each start of a command that is linked to them. And nobody else needs it: where there is none, [`loaded`] says so.
//!
//! Output: the functions that `coin_cbc` calls, by the names, arguments and results of `Cbc_C_Interface.h` (version 2.10). Whoever calls one has asked [`loaded`] before: without a library
//! there is no answer, and they panic.

#![allow(unsafe_code)] // foreign functions, whose callers promise what CBC asks for
#![allow(non_snake_case, non_camel_case_types)] // CBC's names
#![allow(clippy::missing_safety_doc)] // CBC's header says what its functions ask for
#![allow(clippy::too_many_arguments)] // CBC's

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use std::error::Error;
use std::ffi::OsString;
use std::os::raw::{c_char, c_int};
use std::sync::OnceLock;

/// What the library is called: the interface's version, then whatever is installed to build with.
const NAMES: [&str; 2] = ["libCbcSolver.so.3", "libCbcSolver.so"];

/// A problem and what became of it; CBC's own.
#[repr(C)]
pub struct Cbc_Model {
    _private: [u8; 0],
}

static NAMED: OnceLock<OsString> = OnceLock::new();

/// From now on the library is this file, and no other. Only what is said first counts, and only before the library is loaded.
pub fn look_at(file: OsString) {
    let _ = NAMED.set(file);
}

/// Loads the library, if it is not yet loaded. Errors: what was looked for, and why it does not do.
pub fn loaded() -> Result<(), &'static str> {
    functions().as_ref().map(|_| ()).map_err(String::as_str)
}

fn functions() -> &'static Result<Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let names: Vec<OsString> = NAMED.get().map_or_else(|| NAMES.map(OsString::from).to_vec(), |n| vec![n.clone()]);
        let mut why = Vec::new();
        for name in names {
            // SAFETY: what runs when CBC is loaded are constructors of its own objects.
            match unsafe { Library::open(Some(&name), RTLD_LAZY | RTLD_LOCAL) }.and_then(Functions::of) {
                Ok(found) => return Ok(found),
                // the reason is the loader's own message, which names the file
                Err(e) => why.push(e.source().map_or_else(|| e.to_string(), ToString::to_string)),
            }
        }
        Err(why.join("; "))
    })
}

/// A table of the functions, how it is found in a library, and functions of the same names that call by it.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $of:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($of),*) $(-> $result)?,)*
            /// What they are in stays loaded.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Result<Functions, libloading::Error> {
                // SAFETY: the types are those of the header.
                unsafe {
                    Ok(Functions {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        _library: library,
                    })
                }
            }
        }

        $(
            /// CBC's function of this name.
            pub unsafe fn $name($($argument: $of),*) $(-> $result)? {
                let functions = functions().as_ref().unwrap_or_else(|why| panic!("CBC was not asked for before: {why}"));
                // SAFETY: the caller's promise.
                unsafe { (functions.$name)($($argument),*) }
            }
        )*
    };
}

functions! {
    fn Cbc_newModel() -> *mut Cbc_Model;
    fn Cbc_deleteModel(model: *mut Cbc_Model);
    fn Cbc_getVersion() -> *const c_char;
    fn Cbc_loadProblem(
        model: *mut Cbc_Model,
        numcols: c_int,
        numrows: c_int,
        start: *const c_int,
        index: *const c_int,
        value: *const f64,
        collb: *const f64,
        colub: *const f64,
        obj: *const f64,
        rowlb: *const f64,
        rowub: *const f64
    );
    fn Cbc_readMps(model: *mut Cbc_Model, filename: *const c_char) -> c_int;
    fn Cbc_writeMps(model: *mut Cbc_Model, filename: *const c_char);
    fn Cbc_setInitialSolution(model: *mut Cbc_Model, sol: *const f64);
    fn Cbc_getNumElements(model: *mut Cbc_Model) -> c_int;
    fn Cbc_getVectorStarts(model: *mut Cbc_Model) -> *const c_int;
    fn Cbc_getIndices(model: *mut Cbc_Model) -> *const c_int;
    fn Cbc_getElements(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_maxNameLength(model: *mut Cbc_Model) -> usize;
    fn Cbc_getNumRows(model: *mut Cbc_Model) -> c_int;
    fn Cbc_getNumCols(model: *mut Cbc_Model) -> c_int;
    fn Cbc_setObjSense(model: *mut Cbc_Model, sense: f64);
    fn Cbc_getObjSense(model: *mut Cbc_Model) -> f64;
    fn Cbc_getRowLower(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_setRowLower(model: *mut Cbc_Model, index: c_int, value: f64);
    fn Cbc_getRowUpper(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_setRowUpper(model: *mut Cbc_Model, index: c_int, value: f64);
    fn Cbc_getObjCoefficients(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_setObjCoeff(model: *mut Cbc_Model, index: c_int, value: f64);
    fn Cbc_getColLower(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_setColLower(model: *mut Cbc_Model, index: c_int, value: f64);
    fn Cbc_getColUpper(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_setColUpper(model: *mut Cbc_Model, index: c_int, value: f64);
    fn Cbc_isInteger(model: *mut Cbc_Model, i: c_int) -> c_int;
    fn Cbc_setContinuous(model: *mut Cbc_Model, iColumn: c_int);
    fn Cbc_setInteger(model: *mut Cbc_Model, iColumn: c_int);
    fn Cbc_addSOS(
        model: *mut Cbc_Model,
        numRows: c_int,
        rowStarts: *const c_int,
        colIndices: *const c_int,
        weights: *const f64,
        type_: c_int
    );
    fn Cbc_printModel(model: *mut Cbc_Model, argPrefix: *const c_char);
    fn Cbc_clone(model: *mut Cbc_Model) -> *mut Cbc_Model;
    fn Cbc_setParameter(model: *mut Cbc_Model, name: *const c_char, value: *const c_char);
    fn Cbc_setLogLevel(model: *mut Cbc_Model, logLevel: c_int);
    fn Cbc_solve(model: *mut Cbc_Model) -> c_int;
    fn Cbc_sumPrimalInfeasibilities(model: *mut Cbc_Model) -> f64;
    fn Cbc_numberPrimalInfeasibilities(model: *mut Cbc_Model) -> c_int;
    fn Cbc_checkSolution(model: *mut Cbc_Model);
    fn Cbc_getIterationCount(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isAbandoned(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isProvenOptimal(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isProvenInfeasible(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isContinuousUnbounded(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isNodeLimitReached(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isSecondsLimitReached(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isSolutionLimitReached(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isInitialSolveAbandoned(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isInitialSolveProvenOptimal(model: *mut Cbc_Model) -> c_int;
    fn Cbc_isInitialSolveProvenPrimalInfeasible(model: *mut Cbc_Model) -> c_int;
    fn Cbc_getRowActivity(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_getColSolution(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_getReducedCost(model: *mut Cbc_Model) -> *const f64;
    fn Cbc_getObjValue(model: *mut Cbc_Model) -> f64;
    fn Cbc_getBestPossibleObjValue(model: *mut Cbc_Model) -> f64;
    fn Cbc_printSolution(model: *mut Cbc_Model);
    fn Cbc_status(model: *mut Cbc_Model) -> c_int;
    fn Cbc_secondaryStatus(model: *mut Cbc_Model) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process asks for one library, once: this is the only test here.
    #[test]
    fn a_file_that_is_none_is_named() {
        look_at("/no/such/library".into());
        let why = loaded().unwrap_err();
        assert!(why.contains("/no/such/library"), "{why}");
    }
}
