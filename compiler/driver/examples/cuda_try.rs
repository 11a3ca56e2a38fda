#![allow(clippy::disallowed_methods)]
use sluice_driver::cuda::emit::*;
use sluice_driver::options::*;
use sluice_driver::pipeline;
use sluice_driver::session::Session;
use sluice_codegen::cuda::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let options = ProgramOptions { files: vec![a[1].clone()], ..Default::default() };
    let mut session = Session::new(&options, false).unwrap();
    let checked = match pipeline::check(&mut session, &options) { Ok(c) => c, Err(_) => std::process::exit(3) };
    let scheme = Scheme::NAMES.iter().find(|(n, _)| *n == a[3]).unwrap().1;
    let threads = a[5].parse().unwrap();
    let choices = Choices { scheme, coarsen: a[6].parse().unwrap(), processors: a[4].parse().unwrap(), threads,
        machine: sluice_schedule::machine::shipped("h200").unwrap(), method: sluice_schedule::method::Method::Ims, time_limit: 5.0,
        options: CudaOptions { batch_bytes: 1 << 16, ..CudaOptions::default() } };
    let e = match emit(&mut session, &checked, &CodeChoices::default().options(&options), &choices, (sluice_codegen::Flavour::Plugin, "p")) {
        Ok(e) => e, Err(_) => std::process::exit(4) };
    std::fs::write(format!("{}/host.c", a[2]), format!("{}\n", e.program.host.source)).unwrap();
    std::fs::write(format!("{}/engine.c", a[2]), e.program.host.engine.clone().unwrap_or_default()).unwrap();
    std::fs::write(format!("{}/device.cc", a[2]), &e.program.device).unwrap();
    eprintln!("unit {} bytes {} stages {}", e.plan.granularity.batch, e.program.channel_bytes, e.outcome.verified.schedule().stages());
}
