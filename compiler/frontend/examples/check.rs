use sluice_frontend::*;
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let o = Options { no_entry: std::env::args().nth(2).is_some(), ..Options::default() };
    let a = analyse(vec![SourceInput { name: f.clone(), text: std::fs::read_to_string(&f).unwrap() }], &o, &mut NoImports);
    for d in &a.diagnostics {
        println!("{} {:?}: {}", d.code, d.severity, d.title);
        for l in &d.labels { println!("    {} : {}", a.sources.describe(l.span), l.text); }
        if let Some(h) = &d.help { println!("    help: {h}"); }
        for n in &d.notes { println!("    note: {n}"); }
    }
    if let Some(p) = &a.program { println!("{} nodes, reps {:?}", p.graph.nodes.len(), p.steady.repetitions); }
}
