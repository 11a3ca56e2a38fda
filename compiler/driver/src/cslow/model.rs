//! The model for numbers from the command line.

use super::{CslowOptions, short};
use serde::Serialize;
use sluice_schedule::retime::load::{Load, choose};

/// A loop in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// d_C
    pub d_c: f64,
    /// n_RW
    pub n_rw: f64,
    /// d_C with C streams, where it is known.
    pub d_c_slow: Option<f64>,
    /// n_RW with C streams, where it is known.
    pub n_rw_slow: Option<f64>,
}

/// The document.
#[derive(Debug, Serialize)]
pub struct Model {
    schema: &'static str,
    d_c: f64,
    d_m: f64,
    n_rw: f64,
    alpha: f64,
    t1: f64,
    q1: f64,
    c: u64,
    /// Why C is what it is; `given` where it was.
    choice: &'static str,
    /// The same for people.
    #[serde(skip)]
    why: Option<&'static str>,
    d_c_slow: f64,
    n_rw_slow: f64,
    tc: f64,
    qc: f64,
    gain: f64,
}

/// Periods and loads, with one stream and with C.
pub fn model(numbers: &Numbers, options: &CslowOptions) -> Model {
    let machine = &options.machine;
    let one = Load { d_c: numbers.d_c, d_m: machine.d_m, n_rw: numbers.n_rw, alpha: machine.alpha };
    let chosen = choose(&one, 1, machine);
    let (c, choice) = options.c.map_or((chosen.c, chosen.reason.name()), |c| (c, "given"));
    let predicted = one.slowed(c, machine.switch);
    let slow = Load {
        d_c: numbers.d_c_slow.unwrap_or(predicted.d_c),
        n_rw: numbers.n_rw_slow.unwrap_or(predicted.n_rw),
        ..predicted
    };
    Model {
        schema: "sluice-cslow-model-1",
        d_c: one.d_c,
        d_m: one.d_m,
        n_rw: one.n_rw,
        alpha: one.alpha,
        t1: one.period(),
        q1: one.load(),
        c,
        choice,
        why: options.c.is_none().then(|| chosen.reason.sentence()),
        d_c_slow: slow.d_c,
        n_rw_slow: slow.n_rw,
        tc: slow.period(),
        qc: slow.load(),
        gain: one.gain(&slow, c),
    }
}

/// For people.
pub fn model_table(m: &Model) -> String {
    let rows = [
        ["streams".to_string(), "d_C".into(), "n_RW".into(), "T".into(), "Q".into()],
        ["1".into(), short(m.d_c), short(m.n_rw), short(m.t1), short(m.q1)],
        [m.c.to_string(), short(m.d_c_slow), short(m.n_rw_slow), short(m.tc), short(m.qc)],
    ];
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().map(|c| format!("{c:>7}")).collect();
        text.push_str(&format!("{}\n", cells.join("  ")));
    }
    text.push_str(&format!(
        "\nd_M = {}, alpha = {}; {} {:.2}\n",
        short(m.d_m),
        short(m.alpha),
        if m.c == 1 { "1 stream gains".to_string() } else { format!("{} streams gain", m.c) },
        m.gain
    ));
    if let Some(why) = m.why {
        text.push_str(&format!("C = {}: {why}\n", m.c));
    }
    text
}
