//! # wire
//!
//! Purpose: a question to CBC and its answer as bytes, so that another process can be asked. Input and output: [`Question`], [`Outcome`], their bytes. What does not read back
//! whole is nothing: numbers are little-endian, floats go bit by bit, so that the answer is the one that this process would give.

use super::cbc::{Limits, Outcome, Search, Status};
use super::model::{Column, Model, Row, Var};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub model: Model,
    pub limits: Limits,
    pub search: Search,
}

/// The bytes of a question.
pub(super) fn question(model: &Model, limits: &Limits, search: Search) -> Vec<u8> {
    let mut out = Vec::new();
    whole(&mut out, model.columns.len() as u64);
    for (c, objective) in model.columns.iter().zip(&model.objective) {
        float(&mut out, c.lower);
        float(&mut out, c.upper);
        whole(&mut out, c.integer.into());
        float(&mut out, *objective);
    }
    whole(&mut out, model.rows.len() as u64);
    for r in &model.rows {
        float(&mut out, r.lower);
        float(&mut out, r.upper);
        whole(&mut out, r.terms.len() as u64);
        for (v, a) in &r.terms {
            whole(&mut out, v.0 as u64);
            float(&mut out, *a);
        }
    }
    maybe(&mut out, limits.seconds.map(f64::to_bits));
    maybe(&mut out, limits.nodes);
    float(&mut out, limits.gap);
    whole(
        &mut out,
        match search {
            Search::Plain => 0,
            Search::Careful => 1,
            Search::Binary(attempt) => 2 + u64::from(attempt),
        },
    );
    out
}

/// The question that bytes are; names of rules stay behind, as CBC has no use for them.
pub(super) fn read_question(bytes: &[u8]) -> Option<Question> {
    let mut r = Reader(bytes);
    let mut model = Model::default();
    for _ in 0..r.whole()? {
        let (lower, upper, integer) = (r.float()?, r.float()?, r.whole()? != 0);
        model.columns.push(Column { lower, upper, integer });
        model.objective.push(r.float()?);
    }
    for _ in 0..r.whole()? {
        let (lower, upper, mut terms) = (r.float()?, r.float()?, Vec::new());
        for _ in 0..r.whole()? {
            let v = usize::try_from(r.whole()?).ok().filter(|v| *v < model.columns.len())?;
            terms.push((Var(v), r.float()?));
        }
        model.rows.push(Row { rule: "", terms, lower, upper });
    }
    let limits = Limits { seconds: r.maybe()?.map(f64::from_bits), nodes: r.maybe()?, gap: r.float()? };
    let search = match r.whole()? {
        0 => Search::Plain,
        1 => Search::Careful,
        n => Search::Binary(u32::try_from(n - 2).ok()?),
    };
    r.0.is_empty().then_some(Question { model, limits, search })
}

const STATUS: [Status; 4] = [Status::Optimal, Status::Infeasible, Status::Limit, Status::Failed];

/// The bytes of an answer.
pub(super) fn answer(o: &Outcome) -> Vec<u8> {
    let mut out = Vec::new();
    whole(&mut out, STATUS.iter().position(|s| *s == o.status).unwrap_or(3) as u64);
    float(&mut out, o.bound);
    whole(&mut out, o.values.is_some().into());
    o.values.iter().flatten().for_each(|v| float(&mut out, *v));
    out
}

/// The answer that bytes are.
pub(super) fn read_answer(bytes: &[u8]) -> Option<Outcome> {
    let mut r = Reader(bytes);
    let status = *STATUS.get(usize::try_from(r.whole()?).ok()?)?;
    let (bound, has) = (r.float()?, r.whole()? != 0);
    let mut values = Vec::new();
    while !r.0.is_empty() {
        values.push(r.float()?);
    }
    Some(Outcome { status, bound, values: has.then_some(values) })
}

fn whole(out: &mut Vec<u8>, n: u64) {
    out.extend(n.to_le_bytes());
}

fn float(out: &mut Vec<u8>, x: f64) {
    whole(out, x.to_bits());
}

fn maybe(out: &mut Vec<u8>, n: Option<u64>) {
    whole(out, n.is_some().into());
    whole(out, n.unwrap_or(0));
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn whole(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn float(&mut self) -> Option<f64> {
        self.whole().map(f64::from_bits)
    }

    fn maybe(&mut self) -> Option<Option<u64>> {
        let (has, n) = (self.whole()?, self.whole()?);
        Some((has != 0).then_some(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut model = Model::default();
        let (x, y) = (model.var(0.0, f64::INFINITY, true), model.var(-1.5, 2.0, false));
        model.at_most("", [(x, 1.0), (y, 0.1)], 7.0);
        model.at_least("", [], 0.0);
        model.objective = vec![0.25, -1.0];
        for (seconds, nodes) in [(None, None), (Some(0.3), None), (None, Some(7))] {
            for search in [Search::Plain, Search::Careful, Search::Binary(0), Search::Binary(u32::MAX)] {
                let limits = Limits { seconds, nodes, gap: 0.125 };
                let bytes = question(&model, &limits, search);
                assert_eq!(read_question(&bytes), Some(Question { model: model.clone(), limits, search }));
                for cut in 0..bytes.len() {
                    assert_eq!(read_question(&bytes[..cut]), None);
                }
            }
        }
        for (status, values) in [(Status::Limit, None), (Status::Optimal, Some(vec![1.0, 0.5]))] {
            let out = Outcome { status, values, bound: f64::NEG_INFINITY };
            assert_eq!(read_answer(&answer(&out)), Some(out));
        }
        assert_eq!(read_answer(&[9; 24]), None);
    }
}
