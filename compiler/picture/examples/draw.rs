#![allow(missing_docs)]
use sluice_frontend::*;
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let a = analyse(vec![SourceInput { name: f.clone(), text: std::fs::read_to_string(&f).unwrap() }], &Options::default(), &mut NoImports);
    let p = a.program.unwrap();
    println!("{}", sluice_picture::graph_svg::svg(&p.graph, &p.steady));
}
