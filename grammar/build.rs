//! Generates the parser from `src/stream.lalrpop`.

fn main() {
    lalrpop::Configuration::new()
        .use_cargo_dir_conventions()
        .emit_rerun_directives(true)
        .process()
        .expect("src/stream.lalrpop is a valid grammar");
}
