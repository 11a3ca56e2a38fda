//! The codes of lexical and syntax diagnostics.

/// Every code of this crate with a short title, in order.
pub const CODES: &[(&str, &str)] = &[
    ("E0001", "unknown character"),
    ("E0002", "comment that is never closed"),
    ("E0003", "string or character literal that is never closed"),
    ("E0004", "unknown escape in a string or character literal"),
    ("E0005", "malformed number"),
    ("E0006", "number too large"),
    ("E0007", "character literal that is not one character"),
    ("E0008", "unexpected token"),
    ("E0009", "missing semicolon"),
    ("E0010", "bracket without its partner"),
    ("E0011", "keyword used as a name"),
    ("E0012", "array dimension behind the name"),
    ("E0013", "assignment used as a value"),
    ("E0014", "nested too deeply"),
    ("E0015", "latency on something that is no message"),
    ("E0016", "rate given twice or without a number"),
    ("E0017", "`else` without `if`"),
    ("E0018", "type called like a function"),
    ("E0019", "stream without types, or with a name inside another"),
    ("E0020", "part that this declaration cannot have"),
    ("E0021", "declaration or statement in the wrong place"),
    ("E0022", "file too large"),
    ("E0029", "too many syntax errors"),
];
