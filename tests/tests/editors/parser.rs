//! The tree-sitter grammar: made from `grammar.js`, and the same language as the compiler's.

use super::*;
use sluice_grammar::ast::{BinaryOp, Expr, ExprKind, Item, Member, StmtKind, StreamBody};
use sluice_grammar::span::FileId;
use sluice_grammar::token::{Token, lex_with_comments};
use sluice_tests::{generate, mangle};
use tree_sitter_generate::{OptLevel, generate_parser_in_directory};

/// The newest version of the tables that Neovim 0.10 and Helix 24.07 read.
const ABI: usize = 14;
const MADE: [&str; 6] = [
    "parser.c",
    "node-types.json",
    "grammar.json",
    "tree_sitter/alloc.h",
    "tree_sitter/array.h",
    "tree_sitter/parser.h",
];

fn generate_from(grammar: &Path) {
    generate_parser_in_directory::<_, PathBuf, _>(
        grammar.parent().expect("a folder"),
        None,
        Some(grammar),
        ABI,
        None,
        None,
        true,
        OptLevel::default(),
    )
    .unwrap_or_else(|e| panic!("{}: {e}", grammar.display()));
}

#[test]
fn the_parser_is_made_from_the_grammar() {
    let home = editors().join("tree-sitter-sluice");
    let there = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(there.path().join("src")).expect("a folder");
    let copy = |name: &str| std::fs::copy(home.join(name), there.path().join(name)).expect("copied");
    copy("tree-sitter.json");
    if has_node() {
        copy("grammar.js");
        generate_from(&there.path().join("grammar.js"));
    } else {
        skip("without Node.js the parser is made from grammar.json, and that from nothing");
        copy("src/grammar.json");
        generate_from(&there.path().join("src/grammar.json"));
    }
    for name in MADE {
        let text = std::fs::read_to_string(there.path().join("src").join(name)).expect("made");
        golden(&home.join("src").join(name), &text);
    }
}

/// What an editor colours alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Keyword,
    Identifier,
    Integer,
    Real,
    Imaginary,
    Character,
    Text,
    Comment,
    Sign,
}

/// The compiler's tokens and comments: where, and what.
fn compiler_tokens(text: &str) -> Vec<(usize, usize, Class)> {
    let (tokens, comments) = lex_with_comments(text);
    let mut out: Vec<_> = tokens
        .iter()
        .chain(&comments)
        .map(|t| {
            let class = match t.token {
                // The lexer leaves to the parser what this word is.
                Token::Ident("import") => Class::Keyword,
                Token::Ident(_) => Class::Identifier,
                Token::Int(_) => Class::Integer,
                Token::Real(_) => Class::Real,
                Token::Imaginary(_) => Class::Imaginary,
                Token::Char(_) => Class::Character,
                Token::Str(_) => Class::Text,
                Token::LineComment(_) | Token::BlockComment(_) => Class::Comment,
                token if token.is_keyword() => Class::Keyword,
                _ => Class::Sign,
            };
            (t.start as usize, t.end as usize, class)
        })
        .collect();
    out.sort_by_key(|t| t.0);
    out
}

/// The leaves of the tree, strings as a whole.
fn tree_tokens(tree: &tree_sitter::Tree, text: &str) -> Vec<(usize, usize, Class)> {
    let mut out = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let range = node.byte_range();
        let class = match node.kind() {
            "string" => Some(Class::Text),
            "character" => Some(Class::Character),
            "comment" => Some(Class::Comment),
            "identifier" if &text[range.clone()] == "import" => Some(Class::Keyword),
            "identifier" => Some(Class::Identifier),
            "integer" => Some(Class::Integer),
            "real" => Some(Class::Real),
            "imaginary" => Some(Class::Imaginary),
            "true" | "false" | "pi" => Some(Class::Keyword),
            word if !node.is_named() && word.starts_with(|c: char| c.is_ascii_lowercase()) => Some(Class::Keyword),
            _ if !node.is_named() => Some(Class::Sign),
            _ => None,
        };
        if let Some(class) = class {
            out.push((range.start, range.end, class));
        } else if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

/// Where a tree first differs from the grammar.
fn first_error(root: tree_sitter::Node) -> String {
    let mut node = root;
    while let Some(child) = (0..node.child_count() as u32).filter_map(|i| node.child(i)).find(|n| n.has_error()) {
        node = child;
    }
    format!("{} at line {}: {}", node.kind(), node.start_position().row + 1, node.to_sexp())
}

/// Reads a text as the compiler and as editors do, and compares if it is a program. Tells whether it is.
fn compare(parser: &mut tree_sitter::Parser, name: &str, text: &str) -> bool {
    let tree = parser.parse(text, None).expect("a tree, whatever the text");
    if !well_formed(text) {
        return false;
    }
    let root = tree.root_node();
    assert!(!root.has_error(), "{name} is a program, but not for editors: {}\n{text}", first_error(root));
    assert_eq!(tree_tokens(&tree, text), compiler_tokens(text), "{name}");
    true
}

#[test]
fn every_program_is_read_as_the_compiler_reads_it() {
    let mut parser = tree_parser();
    let broken: Vec<String> =
        programs().into_iter().filter(|(name, text)| !compare(&mut parser, name, text)).map(|(name, _)| name).collect();
    assert!(
        broken.iter().all(|name| name.starts_with("tests/errors/E00") || name == "tests/fix/syntax.str"),
        "{broken:?}"
    );
    assert!(broken.len() > 10);
}

#[test]
fn random_programs_and_random_texts() {
    let stack = std::thread::Builder::new().stack_size(256 << 20);
    let run = || {
        let mut parser = tree_parser();
        for seed in 0..300 {
            assert!(
                compare(&mut parser, &format!("seed {seed}"), &generate::case(seed).source),
                "seed {seed} is no program"
            );
        }
        let programs = mangle::programs(&root());
        let mut good = 0;
        for number in 0..3000 {
            let text = sluice_grammar::decode(&mangle::text(number, &programs)).0;
            good += u32::from(compare(&mut parser, &format!("text {number}"), &text));
        }
        assert!(good > 20, "only {good} of the texts are programs");
    };
    stack.spawn(run).expect("a thread").join().expect("no failure");
}

/// The places of an expression's parts, by the compiler.
fn compiler_shape(e: &Expr, out: &mut Vec<(usize, usize)>) {
    out.push((e.span().start as usize, e.span().end as usize));
    match &e.kind {
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| compiler_shape(e, out)),
        ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| compiler_shape(e, out)),
        ExprKind::Unary(_, e) | ExprKind::Cast(_, e) | ExprKind::Index(e, _) | ExprKind::Member(e, _) => {
            compiler_shape(e, out)
        }
        ExprKind::IncDec { target, .. } => compiler_shape(target, out),
        _ => {}
    }
}

/// The same, by the tree.
fn tree_shape(node: tree_sitter::Node, out: &mut Vec<(usize, usize)>) {
    out.push((node.start_byte(), node.end_byte()));
    let parts: &[&str] = match node.kind() {
        "binary_expression" => &["left", "right"],
        "ternary_expression" => &["condition", "consequence", "alternative"],
        "unary_expression" | "update_expression" => &["operand"],
        "cast_expression" => &["value"],
        "index_expression" => &["array"],
        "member_expression" => &["object"],
        _ => &[],
    };
    parts.iter().for_each(|part| tree_shape(node.child_by_field_name(part).expect("a part"), out));
}

#[test]
fn operators_bind_as_the_compiler_binds_them() {
    const ALL: [BinaryOp; 18] = {
        use BinaryOp::*;
        [Mul, Div, Rem, Shl, Shr, Add, Sub, Lt, Le, Gt, Ge, Eq, Ne, BitAnd, BitOr, BitXor, And, Or]
    };
    let mut expressions = Vec::new();
    for a in ALL {
        for b in ALL {
            expressions.push(format!("x {} y {} z", a.symbol(), b.symbol()));
        }
        let a = a.symbol();
        expressions.extend(
            ["x A y ? z A x : y A z", "-x A !y", "(int)x A y", "x++ A ++y", "x[1] A y.z", "a ? b : c ? d A e : f"]
                .map(|e| e.replace('A', a)),
        );
    }
    expressions.extend(["-x.y", "-x[1]", "(float)x.y", "(int)-x++", "-(int)x", "!~x", "++x.y"].map(String::from));
    let mut parser = tree_parser();
    for e in expressions {
        let text = format!("int->void filter F {{ work pop 1 {{ x = {e}; }} }}");
        let (program, told) = sluice_grammar::parse(FileId(0), &text);
        assert!(told.is_empty(), "{e}: {told:?}");
        let [Item::Stream(stream)] = &program.items[..] else { panic!("one stream") };
        let StreamBody::Filter(members) = &stream.body else { panic!("a filter") };
        let [Member::Work(work)] = &members[..] else { panic!("its work") };
        let StmtKind::Assign { value, .. } = &work.body.stmts[0].kind else { panic!("an assignment") };
        let mut wanted = Vec::new();
        compiler_shape(value, &mut wanted);
        let tree = parser.parse(&text, None).expect("a tree");
        let mut node = tree.root_node();
        while node.kind() != "assignment" {
            let at = (value.span().start as usize, value.span().end as usize);
            let inner = (0..node.child_count() as u32).filter_map(|i| node.child(i));
            node = inner.into_iter().find(|n| n.start_byte() <= at.0 && n.end_byte() >= at.1).expect("the assignment");
        }
        let mut found = Vec::new();
        tree_shape(node.child_by_field_name("right").expect("a value"), &mut found);
        assert_eq!(found, wanted, "{e}");
    }
}
