//! # imports
//!
//! Purpose: which files a file imports, as its tree has it: who imports whom decides which program a document belongs to, and where that is not what the program's analysis finds, the document belongs to none.
//! Input: a name and a text. Output: names of files.

use super::{World, outside};
use sluice_grammar::ast::{Item, Program};
use sluice_grammar::span::FileId;
use sluice_grammar::token::{Spanned, Token, lex};

/// A keyword only where it begins an import: to the lexer it is a name.
const IMPORT: Token<'static> = Token::Ident("import");

impl World {
    /// Where a document's imports lead, as its tree has them; for each change. They stand at the head of nearly every file, and only that is parsed then.
    pub(super) fn imports_now(&self, name: &str, text: &str) -> Vec<String> {
        if !text.contains("import") {
            return Vec::new();
        }
        let tokens = lex(text);
        let mut head = 0;
        while let [IMPORT, Token::Str(_), Token::Semi] = three(&tokens[head..]) {
            head += 3;
        }
        match tokens[head..].iter().any(|t| t.token == IMPORT) {
            true => imports(name, &self.trees.parse(FileId(0), text).0),
            false => {
                let end = head.checked_sub(1).map_or(0, |last| tokens[last].end as usize);
                imports(name, &sluice_grammar::parse(FileId(0), &text[..end]).0)
            }
        }
    }
}

/// Where a file's imports lead.
pub(super) fn imports(name: &str, tree: &Program) -> Vec<String> {
    let path = |item: &Item| match item {
        Item::Import { path, .. } => Some(outside::beside(name, path).display().to_string()),
        _ => None,
    };
    tree.items.iter().filter_map(path).collect()
}

/// The first three tokens.
fn three<'t>(tokens: &[Spanned<'t>]) -> [Token<'t>; 3] {
    let at = |i: usize| tokens.get(i).map_or(Token::Error, |t| t.token);
    [at(0), at(1), at(2)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::Text;
    use crate::world::Listener;
    use crate::world::view::View;

    struct Nobody;

    impl Listener for Nobody {
        fn analysed(&self, _: &str, _: &View) {}
        fn gone(&self, _: &str) {}
        fn scheduled(&self, _: &str) {}
        fn manifest(&self, _: &str, _: Text, _: Vec<tower_lsp::lsp_types::Diagnostic>) {}
        fn failed(&self, _: &str) {}
    }

    #[test]
    fn imports_are_those_of_the_tree() {
        let world = World::new(Box::new(Nobody));
        let b = "import \"b.str\";";
        let filter = "void->void filter A { work { } }";
        let deep = format!("{b} void->void filter A {{ work {{ x = {}1; }} }}", "(".repeat(5000));
        for (text, found) in [
            (format!("{b}\n{filter}"), 1),
            (format!("/* a comment */ {b} // more"), 1),
            (format!("\u{feff}{b}{filter}"), 1),
            (format!("import\n    \"b.str\"\n;{filter}"), 1),
            (format!("{filter} {b}"), 1),
            (format!("{filter}\n{b} {b}"), 2),
            (format!("/*\n{b}\n*/ {filter}"), 0),
            (format!("// {b}\n{filter}"), 0),
            (format!("{filter} // important"), 0),
            (format!("void->void filter A {{ work {{ println(\"import\"); }} }} {b}"), 1),
        ] {
            assert_eq!(world.imports_now("/a.str", &text), vec!["/b.str"; found], "{text}");
        }
        // in what is no program, too, it is what the parser finds
        for text in [
            &deep,
            "import \"b.str\"",
            "import \"b.str\" import \"c.str\";",
            "import \"b.str",
            "import",
            "import; import \"b.str\";",
            "void->void filter A { import \"b.str\"; work { } }",
            "void->void filter A { work { } import \"b.str\";",
            "import \"b.str\"; }}} {{{ \u{1} /*",
            "} import \"b.str\"; \"",
        ] {
            let tree = sluice_grammar::parse(FileId(0), text).0;
            assert_eq!(world.imports_now("/a.str", text), imports("/a.str", &tree), "{text}");
        }
    }
}
