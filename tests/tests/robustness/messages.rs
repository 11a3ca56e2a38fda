//! Portals and messages that make no sense, clash, or are too many.

use super::cases::{Case, case, each, main_with};

const RECEIVER: &str =
    "int->int filter R { int k; work pop 1 push 1 { push(pop() + k); } handler set(int n) { k = n; } }\n";

/// A sender with this statement before the receivers.
fn sent(statement: &str) -> String {
    with(statement, "add R to p;", "")
}

/// A sender with this statement, these receivers, and declarations.
fn with(statement: &str, receivers: &str, more: &str) -> String {
    let sender = format!("int->int filter S(portal<R> p) {{ work pop 1 push 1 {{ {statement} push(pop()); }} }}\n");
    main_with(&format!("portal<R> p; add S(p); {receivers}"), &format!("{RECEIVER}{sender}{more}"))
}

/// A sender behind the receiver.
fn upstream(latency: &str) -> String {
    let sender =
        format!("int->int filter S(portal<R> p) {{ work pop 1 push 1 {{ p.set(1) {latency}; push(pop()); }} }}\n");
    main_with("portal<R> p; add R to p; add S(p);", &format!("{RECEIVER}{sender}"))
}

pub fn cases() -> Vec<Case> {
    vec![
        case("latency", "", sent("p.set(1) [0:3];")),
        case("latency_largest", "E0314", sent("p.set(1) [2147483647:2147483647];")),
        case("latency_least", "E0314", sent("p.set(1) [-2147483648:-2147483648];")),
        case("latency_overflows", "E0310", sent("p.set(1) [0:2147483647 + 1];")),
        case("latency_too_large", "E0006", sent("p.set(1) [0:99999999999];")),
        case("latency_reversed", "E0310", sent("p.set(1) [3:1];")),
        case("latency_of_floats", "E0201", sent("p.set(1) [0.5:1.5];")),
        case("latency_of_items", "E0310", sent("p.set(1) [0:peek(0)];")),
        case("latency_divided_by_zero", "E0227", sent("p.set(1) [0:1 / 0];")),
        case("latency_half", "E0008", sent("p.set(1) [0:];")),
        case("latency_star_half", "E0015", sent("p.set(1) [*:3];")),
        case("upstream_largest", "E0314", upstream("[2147483647:2147483647]")),
        case("upstream_far", "", upstream("[1000000:1000000]")),
        case("upstream_least", "E0314", upstream("[-2147483648:-2147483648]")),
        case("upstream_at_once", "E0312", upstream("[-1:-1]")),
        case("huge_rates", "E0314", {
            let fast = "int->int filter F { work pop 1 push 1000000 { int n = pop(); for (int i = 0; i < 1000000; i++) push(n); } }";
            with("p.set(1) [1000:1000];", "add F; add R to p;", fast)
        }),
        case("unknown_handler", "E0114", sent("p.zork(1);")),
        case("handler_of_another", "E0114", {
            with(
                "p.other(1);",
                "add R to p;",
                "int->int filter Q { work pop 1 push 1 { push(pop()); } handler other(int n) { } }",
            )
        }),
        case("work_as_a_handler", "E0011 E0114", sent("p.work(1);")),
        case("too_many_arguments", "E0204", sent("p.set(1, 2, 3);")),
        case("argument_of_another_type", "E0200", sent("p.set(\"a\");")),
        case("portal_as_an_argument", "E0200", sent("p.set(p);")),
        case("portal_of_nothing", "E0103", main_with("portal<Zork> p;", "")),
        case(
            "portal_of_a_pipeline",
            "E0420",
            main_with("portal<P> p; add P to p;", "int->int pipeline P { add Identity<int>; }"),
        ),
        case("portal_of_an_int", "E0008", main_with("portal<int> p;", "")),
        case("portal_array", "", {
            let sender = "int->int filter S(portal<R>[2] p) { work pop 1 push 1 { p[1].set(1); push(pop()); } }\n";
            main_with("portal<R>[2] p; add S(p); add R to p[0]; add R to p[1];", &format!("{RECEIVER}{sender}"))
        }),
        case("portal_array_outside", "E0225", main_with("portal<R>[2] p; add R to p[2];", RECEIVER)),
        case("portal_array_huge", "E0209", main_with("portal<R>[2147483647] p; add R to p[0];", RECEIVER)),
        case("portal_field", "E0220", {
            let field = "int->int filter F { portal<R> p; work pop 1 push 1 { p.set(1); push(pop()); } }";
            main_with("add F;", &format!("{RECEIVER}{field}"))
        }),
        case("portal_items", "E0220 E0222", {
            let item = "int->portal<R> filter F { portal<R> p; work pop 1 push 1 { push(p); } }";
            main_with("add F;", &format!("{RECEIVER}{item}"))
        }),
        case("registered_with_a_number", "E0222", main_with("int p = 3; add R to p;", RECEIVER)),
        case(
            "registered_with_another",
            "E0422",
            with("p.set(1);", "add Q to p;", "int->int filter Q { work pop 1 push 1 { push(pop()); } }"),
        ),
        case("registered_twice", "", with("p.set(1);", "add R to p, p;", "")),
        case("nobody_registered", "", with("p.set(1);", "add R;", "")),
        case("many_receivers", "", with("p.set(1);", "for (int i = 0; i < 5000; i++) add R to p;", "")),
        case("many_portals", "", {
            let portals = each(500, |i| format!("portal<R> p{i}; add R to p{i}; add S(p{i}); "));
            let sender = "int->int filter S(portal<R> p) { work pop 1 push 1 { p.set(1) [*]; push(pop()); } }\n";
            main_with(&portals, &format!("{RECEIVER}{sender}"))
        }),
        case("many_senders_and_receivers", "", {
            let sender = "int->int filter S(portal<R> p) { work pop 1 push 1 { p.set(1) [1:1]; push(pop()); } }\n";
            let adds = "portal<R> p; for (int i = 0; i < 100; i++) { add S(p); add R to p; }";
            main_with(adds, &format!("{RECEIVER}{sender}")).replace("[1:1]", "[*]")
        }),
        case("many_messages", "", with("for (int i = 0; i < 100000; i++) p.set(i);", "add R to p;", "")),
        case("messages_without_end", "", sent("while (true) p.set(1) [1:1];")),
        case("to_itself", "", {
            let own = "int->int filter Own(portal<Own> p) { int k; work pop 1 push 1 { p.set(k) [1:1]; push(pop()); } handler set(int n) { k = n; } }";
            main_with("portal<Own> p; add Own(p) to p;", own)
        }),
        case("to_itself_at_once", "E0312", {
            let own = "int->int filter Own(portal<Own> p) { int k; work pop 1 push 1 { p.set(k); push(pop()); } handler set(int n) { k = n; } }";
            main_with("portal<Own> p; add Own(p) to p;", own)
        }),
        case("handlers_that_answer", "", {
            let own = "int->int filter Own(portal<Own> p) { int k; work pop 1 push 1 { p.set(k) [1:1]; push(pop()); } \
                       handler set(int n) { p.set(n) [1:1]; p.set(n) [1:1]; } }";
            main_with("portal<Own> p; add Own(p) to p;", own)
        }),
        case("handler_that_pops", "E0221", {
            let own = "int->int filter Own(portal<Own> p) { work pop 1 push 1 { p.set(1) [1:1]; push(pop()); } handler set(int n) { pop(); } }";
            main_with("portal<Own> p; add Own(p) to p;", own)
        }),
        case("handler_without_end", "", {
            let r = RECEIVER.replace("k = n;", "while (true) k = n;");
            sent("p.set(1);").replace(RECEIVER, &r)
        }),
        case("huge_arguments", "E0209", {
            let r = RECEIVER.replace("handler set(int n) { k = n; }", "handler set(int[100000000] n) { k = n[0]; }");
            sent("int[100000000] a; p.set(a);").replace(RECEIVER, &r)
        }),
        case("from_init", "E0220", {
            let sender = "int->int filter S(portal<R> p) { init { p.set(1); } work pop 1 push 1 { push(pop()); } }\n";
            main_with("portal<R> p; add S(p); add R to p;", &format!("{RECEIVER}{sender}"))
        }),
        case("across_dynamic_rates", "E0316", {
            let some = "int->int filter Some { work pop 1 push [0, 1] { int n = pop(); if (n % 2 == 0) push(n); } }";
            with("p.set(1) [1:1];", "add Some; add R to p;", some)
        }),
    ]
}
