//! Typed indices; each prints with a prefix (`n3`, `c7`), so that a dump says what a number counts.

/// Makes a typed index with a prefix for dumps.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a vector.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(i: usize) -> $name {
                $name(i as u32)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A node of the SDF graph.
    NodeId, "n");
id!(
    /// A channel of the SDF graph.
    ChannelId, "c");
id!(
    /// A stream instance in the hierarchy.
    HierId, "h");
id!(
    /// A specialised filter: a declaration with its arguments.
    CodeId, "code");
id!(
    /// A stream declaration (named or anonymous) of the compilation.
    DeclId, "decl");
id!(
    /// A struct.
    StructId, "struct");
id!(
    /// A variable of a `static` block.
    StaticId, "static");
id!(
    /// A function of a `helper` group.
    HelperId, "helper");
id!(
    /// A function of a `native` group.
    NativeId, "native");
id!(
    /// A function of a filter (init, work, helper functions, handlers).
    FnId, "fn");
id!(
    /// A field of a filter.
    FieldId, "field");
id!(
    /// A local variable or parameter of a function.
    LocalId, "local");
id!(
    /// A portal instance.
    PortalId, "portal");
id!(
    /// Something with a name, in [`crate::resolve`].
    SymbolId, "sym");
