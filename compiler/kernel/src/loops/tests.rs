//! What the tests of this room share: kernels from the text of a body.

use crate::ir::*;

/// A kernel whose work function has these statements: `$0`, `$1` ints, `$2`, `$3` floats, `$4`, `$5` arrays of 32 floats, `state0` a float,
/// `state1` an array of 32 floats; 64 items in the window and 32 on the output.
pub fn kernel(body: &str) -> Kernel {
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 float -> float peek 64 pop 64 push 32 work func0
state0 \"s\" float = 0f
state1 \"t\" float[32] = zero
func0 \"work\" (0) -> void @0:0-1 {{
local0 \"i\" int
local1 \"j\" int
local2 \"x\" float
local3 \"y\" float
local4 \"a\" float[32]
local5 \"b\" float[32]
{}
}}
",
        body.replace(" @0:0-1 ", " @0:0-1\n").replace("{ ", "{\n").replace(" }", "\n}")
    );
    let kernel = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    crate::verify::verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

/// The only loop of a function.
pub fn only_loop(f: &Function) -> &For {
    let mut found = None;
    crate::walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            found = Some(&**l);
        }
    });
    found.expect("the function has a loop")
}
