//! What linear analysis has found, and made of it, for people.

use super::choose::Mode;
use super::extract::Why;
use super::streams::Piece;
use sluice_frontend::Elaborated;
use sluice_frontend::typed::Rates;
use std::fmt;

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was asked for.
    pub mode: Mode,
    /// Why nothing was looked at.
    pub refused: Option<Why>,
    /// Filters that the program has.
    pub found: Vec<Found>,
    /// What became of them.
    pub made: Vec<Made>,
}

/// What is known of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name with arguments.
    pub filter: String,
    /// How many nodes it has.
    pub times: usize,
    /// Its rates.
    pub rates: Rates,
    /// Coefficients of its map; or why it has none.
    pub coefficients: Result<u64, Why>,
}

/// A filter that took the place of streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The first of the streams and the last, by their nodes.
    pub streams: (String, String),
    /// How many filters they had.
    pub filters: usize,
    /// Its rates: items looked at, taken, given.
    pub rates: [u64; 3],
    /// Coefficients.
    pub coefficients: u64,
    /// Points of its transforms, in the frequency domain.
    pub points: Option<u64>,
    /// Estimated nanoseconds of a steady state, before and after.
    pub costs: (f64, f64),
}

impl Made {
    /// What a piece is.
    pub fn of(program: &Elaborated, p: &Piece) -> Made {
        let graph = &program.graph;
        let of = |v| graph.node(v).path.clone();
        let within = &graph.nodes[p.nodes.0.index()..=p.nodes.1.index()];
        let steps = &p.steps;
        Made {
            streams: (of(p.nodes.0), of(p.nodes.1)),
            filters: within.iter().filter(|n| super::plain_code(&n.kind).is_some()).count(),
            rates: [steps.peek, steps.pop, steps.rows.len() as u64],
            coefficients: steps.rows.iter().map(|r| r.taps.len() as u64).sum(),
            points: p.way.log2.map(|l| 1 << l),
            costs: p.costs,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = self.refused {
            return writeln!(f, "nothing was looked at: {why}");
        }
        writeln!(f, "filters:")?;
        for found in &self.found {
            let Rates { peek, pop, push } = found.rates;
            write!(f, "  {}", found.filter)?;
            if found.times > 1 {
                write!(f, " x{}", found.times)?;
            }
            match &found.coefficients {
                Ok(n) => writeln!(f, ": linear, peek {peek} pop {pop} push {push}, {n} coefficients")?,
                Err(why) => writeln!(f, ": left alone, {why}")?,
            }
        }
        if self.made.is_empty() {
            return writeln!(f, "nothing becomes cheaper");
        }
        writeln!(f, "one filter each:")?;
        for m in &self.made {
            let [peek, pop, push] = m.rates;
            match &m.streams {
                (a, b) if a == b => write!(f, "  {a}")?,
                (a, b) => write!(f, "  {a} to {b} ({} filters)", m.filters)?,
            }
            write!(f, ": peek {peek} pop {pop} push {push}, {} coefficients", m.coefficients)?;
            match m.points {
                Some(n) => write!(f, ", in the frequency domain by {n} points")?,
                None => write!(f, ", item by item")?,
            }
            writeln!(f, "; {:.1} ns of a steady state before, {:.1} after, as estimated", m.costs.0, m.costs.1)?;
        }
        Ok(())
    }
}
