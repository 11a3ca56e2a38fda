//! Section 1 of the language page: characters, comments, numbers, strings.

mod common;

use common::{codes, expr, good, in_work, mend, only};
use sluice_grammar::ast::ExprKind;
use sluice_grammar::token::{Token, lex, lex_with_comments};
use sluice_grammar::{Encoding, decode};

fn tokens(text: &str) -> Vec<Token<'_>> {
    lex(text).into_iter().map(|spanned| spanned.token).collect()
}

#[test]
fn space_line_ends_and_byte_order_mark() {
    let program = good("\u{feff}void->void\tfilter F\r\n{\r\n\x0b\x0c work { } // end\r\n}\r\n");
    assert_eq!(program, good("void->void filter F { work { } }"));
    assert_eq!(lex("\u{feff}a")[0].start, 3);
    assert_eq!(good("void->void filter F { work { } }\r\n\u{1a}\r\n"), program);
}

#[test]
fn comments() {
    assert_eq!(good("// only a comment, without a line end").items, []);
    assert_eq!(good("/* a */ /** b **/ /* // */ // /* c").items, []);
    assert_eq!(good("/***/").items, []);
    assert_eq!(tokens("a/**/b // c\n/* d\n e */f"), [Token::Ident("a"), Token::Ident("b"), Token::Ident("f")]);
    // Blocks do not nest.
    assert_eq!(tokens("/* /* */ x"), [Token::Ident("x")]);
    assert_eq!(good("// gr\u{fc}n \u{4e2d}\n/* \u{e9} */").items, []);
    let (_, comments) = lex_with_comments("a // b\r\n/* c */ d");
    let texts: Vec<&str> = comments.iter().map(|comment| comment.token.spelling().trim_end()).collect();
    assert_eq!(texts, ["// b", "/* c */"]);
    assert_eq!((comments[1].start, comments[1].end), (8, 15));
}

#[test]
fn open_comment() {
    let text = "void->void filter F { work { } }\n/* never closed";
    let diagnostic = only(text);
    assert_eq!(diagnostic.code, "E0002");
    assert_eq!((diagnostic.span().start, diagnostic.span().end), (33, 35));
    assert_eq!(common::parse(text).0.items.len(), 1);
    assert_eq!(codes("/*/"), ["E0002"]);
}

#[test]
fn eight_bit_characters() {
    let (text, encoding) = decode(b"// gr\xfcn\nvoid->void filter F { work { print(\"\xe9\\351\"); } }");
    assert_eq!(encoding, Encoding::Latin1);
    let program = good(&text);
    let printed = sluice_grammar::print(&program);
    assert!(printed.contains("\"\u{e9}\\351\""), "{printed}");
    assert_eq!(decode("gr\u{fc}n".as_bytes()), ("gr\u{fc}n".to_string(), Encoding::Utf8));
    // a byte-order mark stays one, also before text that is not UTF-8
    assert_eq!(decode(b"\xef\xbb\xbf// gr\xfcn").0, "\u{feff}// gr\u{fc}n");
    assert_eq!(decode(b""), (String::new(), Encoding::Utf8));
    assert_eq!(decode(b"\0\xff").0, "\0\u{ff}");
}

#[test]
fn integers() {
    let int = |text: &str| match expr(text).kind {
        ExprKind::Int { value, hex, .. } => (value, hex),
        other => panic!("{other:?}"),
    };
    assert_eq!(int("0"), (0, false));
    assert_eq!(int("007"), (7, false));
    assert_eq!(int("2147483648"), (2147483648, false));
    assert_eq!(int("0xFF"), (255, true));
    assert_eq!(int("0XffffFFFF"), (0xffff_ffff, true));
    assert_eq!(int("0x123456789ABCDEF0"), (0x9abc_def0, true));
    // More digits than 64 bits hold still wrap.
    assert_eq!(int("0xFFFFFFFFFFFFFFFFFFFFFFFF12345678"), (0x1234_5678, true));
}

#[test]
fn integers_too_large() {
    for text in ["2147483649", "4294967295", "99999999999999999999999999"] {
        assert_eq!(codes(&in_work(&format!("x = {text};"))), ["E0006"], "{text}");
    }
    let meant: Vec<String> =
        only(&in_work("x = 4294967295;")).fixes.into_iter().map(|f| f.edits[0].text.clone()).collect();
    assert_eq!(meant, ["0xFFFFFFFF"]);
}

#[test]
fn reals() {
    let real = |text: &str| match expr(text).kind {
        ExprKind::Real { value, .. } => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(real("1.0"), 1.0);
    assert_eq!(real("1e3"), 1000.0);
    assert_eq!(real("2.5e-3"), 0.0025);
    assert_eq!(real("2.5E+3"), 2500.0);
    assert_eq!(real("1f"), 1.0);
    assert_eq!(real("1.5f"), 1.5);
    assert_eq!(real(".5"), 0.5);
    assert_eq!(real("3.4028235e38"), 3.4028235e38);
    assert_eq!(codes(&in_work("x = 1e999;")), ["E0006"]);
}

#[test]
fn imaginary_numbers() {
    for (text, expected) in [("4i", 4.0), ("2.5i", 2.5), ("1e2i", 100.0)] {
        match expr(text).kind {
            ExprKind::Imaginary { value, .. } => assert_eq!(value, expected, "{text}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(expr("3+4i").kind, ExprKind::Binary(..)));
}

#[test]
fn malformed_numbers() {
    for text in ["1.", "1.f", "1.e5", "1..2", "1.2.3", "1e", "1e+", "0x", "0xfg", "3x", "10L", "1fi", "0x10i"] {
        let found = codes(&in_work(&format!("x = {text};")));
        assert_eq!(found.first(), Some(&"E0005"), "{text}: {found:?}");
    }
    let text = in_work("x = 1.;");
    assert!(mend(&text, &only(&text)).contains("x = 1.0;"));
    let text = in_work("x = 1.f;");
    assert!(mend(&text, &only(&text)).contains("x = 1.0f;"));
}

#[test]
fn characters() {
    let char_value = |text: &str| match expr(text).kind {
        ExprKind::Char { value, .. } => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(char_value("'a'"), b'a');
    assert_eq!(char_value(r"'\n'"), 10);
    assert_eq!(char_value(r"'\0'"), 0);
    assert_eq!(char_value(r"'\101'"), b'A');
    assert_eq!(char_value(r"'\x41'"), b'A');
    assert_eq!(char_value(r"'\377'"), 255);
    assert_eq!(char_value(r"'\''"), b'\'');
    assert_eq!(char_value("'\"'"), b'"');
    assert_eq!(char_value("'\u{e9}'"), 0xe9);
    for bad in ["''", "'ab'", "'\u{4e2d}'"] {
        assert_eq!(codes(&in_work(&format!("x = {bad};"))), ["E0007"], "{bad}");
    }
    assert!(codes(&in_work("x = 'a;\n y = 3;")).contains(&"E0003"));
}

#[test]
fn strings() {
    let string = |text: &str| match expr(text).kind {
        ExprKind::Str { value, .. } => value.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(string(r#""""#), "");
    assert_eq!(string(r#""a\tb\\\"\'\?""#), "a\tb\\\"'?");
    assert_eq!(string(r#""\a\b\f\v\r\n""#), "\x07\x08\x0c\x0b\r\n");
    assert_eq!(string(r#""\1019\08\x41g""#), "A9\x008Ag");
    assert_eq!(string("\"a\\\nb\\\r\nc\""), "abc");
    assert_eq!(string("\"// no /* comment */\""), "// no /* comment */");
}

#[test]
fn bad_strings() {
    for bad in [r#""\q""#, r#""\x""#, r#""\400""#, r#""\x100""#] {
        assert_eq!(codes(&in_work(&format!("print({bad});"))), ["E0004"], "{bad}");
    }
    // The string ends with its line; what follows is read as usual.
    let found = codes(&in_work("print(\"abc);\n x = 3 +;\n"));
    assert!(found.contains(&"E0003") && found.contains(&"E0008"), "{found:?}");
}

#[test]
fn keywords_and_names() {
    for (text, token) in [("filter", Token::Filter), ("float4", Token::Float4), ("pi", Token::Pi), ("to", Token::To)] {
        assert_eq!(tokens(text), [token]);
        assert!(token.is_keyword());
    }
    for name in ["print", "println", "min", "max", "real", "imag", "x", "_a1", "Filter", "filters", "float5", "import"]
    {
        assert_eq!(tokens(name), [Token::Ident(name)]);
        assert!(!Token::Ident(name).is_keyword());
    }
}

/// The list of the definition, word by word.
#[test]
fn the_keywords_of_the_definition() {
    let words = "filter pipeline splitjoin feedbackloop stateful portal to handler iter add split join duplicate \
        roundrobin body loop enqueue init prework work peek pop push boolean float bit int void double complex float2 \
        float3 float4 struct native static helper if else while for do switch case default break continue return \
        pi true false template";
    for word in words.split_whitespace() {
        let found = tokens(word);
        assert!(found.len() == 1 && found[0].is_keyword(), "{word}: {found:?}");
        assert!(!codes(&in_work(&format!("int {word} = 1;"))).is_empty(), "{word}");
        good(&in_work(&format!("int {word}_ = 1;")));
    }
}

#[test]
fn operators_are_the_longest_possible() {
    use Token::*;
    assert_eq!(tokens("a<<=b"), [Ident("a"), ShlAssign, Ident("b")]);
    assert_eq!(tokens("--->"), [Decrement, Arrow]);
    assert_eq!(tokens("a+++b"), [Ident("a"), Increment, Plus, Ident("b")]);
    assert_eq!(tokens("!==~"), [Ne, Assign, Tilde]);
    assert_eq!(tokens("&&&|||^"), [AndAnd, And, OrOr, Or, Xor]);
}

#[test]
fn unknown_characters() {
    // Where an operand lacks, the character stands for it; elsewhere it is passed over. One message in either case.
    for body in ["x = @;", "x = 3 @;", "x @ = 3;", "x = a $ b;", "x = #3;", "@@@ x = 3;", "x = \u{201c};", "\0"] {
        let found = codes(&in_work(body));
        assert_eq!(found.first(), Some(&"E0001"), "{body}: {found:?}");
        assert!(found.len() <= 2, "{body}: {found:?}");
    }
    let text = in_work("x = 3 \u{2212} 4;");
    assert!(mend(&text, &common::parse(&text).1[0]).contains("3 - 4"));
}
