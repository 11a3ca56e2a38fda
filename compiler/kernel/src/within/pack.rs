//! Values become vectors, from what is given to what is taken.

use super::values::{Source, Value, Values};
use super::{Vector, Within};
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use std::collections::HashMap;

/// How often squares lie behind squares, at most.
const MOST_TURNS: usize = 8;

/// Values of the lanes.
type Lanes = Vec<Value>;

/// How a vector comes about.
enum How {
    /// As these vectors' operands, or from outside.
    Plain,
    /// Its lanes do different things.
    Apart,
    /// It is a row of a square.
    Turned(usize, u32),
}

struct Packer<'a> {
    values: &'a Values,
    how: HashMap<Lanes, How>,
    /// Those that are apart, and have not been turned.
    apart: Vec<Lanes>,
    /// The vectors that are turned round, by square.
    squares: Vec<Vec<Lanes>>,
}

/// The values in vectors of so many lanes.
pub(super) fn pack(values: &Values, width: u32) -> Option<Within> {
    let width = width as usize;
    let mut p = Packer { values, how: HashMap::new(), apart: Vec::new(), squares: Vec::new() };
    let rows: Vec<Lanes> = values.given.chunks_exact(width).map(<[Value]>::to_vec).collect();
    rows.iter().try_for_each(|row| p.visit(row.clone(), true))?;
    for _ in 0..MOST_TURNS {
        if p.apart.is_empty() {
            return p.emit(rows, width);
        }
        p.turn(width)?;
    }
    None
}

/// The values that what is given is made of.
pub(super) fn live(values: &Values) -> Vec<Value> {
    let mut live = vec![false; values.all.len()];
    values.given.iter().for_each(|v| live[*v] = true);
    // operands come before what is made of them
    for v in (0..live.len()).rev() {
        if let (true, Source::Made(_, of)) = (live[v], values.source(v)) {
            of.iter().for_each(|o| live[*o] = true);
        }
    }
    (0..live.len()).filter(|v| live[*v]).collect()
}

impl Packer<'_> {
    /// A vector and all that it is made of. `may_turn`: may its lanes do different things?
    fn visit(&mut self, lanes: Lanes, may_turn: bool) -> Option<()> {
        let mut todo = vec![(lanes, may_turn)];
        while let Some((lanes, may_turn)) = todo.pop() {
            if let Some(how) = self.how.get(&lanes) {
                if !may_turn && !matches!(how, How::Plain) {
                    return None;
                }
                continue;
            }
            if self.together(&lanes) {
                for k in 0..self.operands(&lanes) {
                    todo.push((self.operand(&lanes, k), true));
                }
                self.how.insert(lanes, How::Plain);
            } else if may_turn {
                self.apart.push(lanes.clone());
                self.how.insert(lanes, How::Apart);
            } else {
                return None;
            }
        }
        Some(())
    }

    /// Do all lanes do the same, or come from neighbours?
    fn together(&self, lanes: &[Value]) -> bool {
        let ty = self.values.ty(lanes[0]);
        if lanes.iter().any(|v| self.values.ty(*v) != ty) {
            return false;
        }
        let same = lanes.iter().all(|v| *v == lanes[0]);
        match self.values.source(lanes[0]) {
            Source::Known(_) => {
                *ty != Ty::Bool && lanes.iter().all(|v| matches!(self.values.source(*v), Source::Known(_)))
            }
            Source::Word(first) => {
                let next = |(i, v): (usize, &Value)| *self.values.source(*v) == Source::Word(first + i as u32);
                same || lanes.iter().enumerate().all(next)
            }
            Source::Made(op, of) => {
                let alike = |v: &Value| match self.values.source(*v) {
                    Source::Made(other, others) => {
                        let types = of.iter().zip(others).all(|(a, b)| self.values.ty(*a) == self.values.ty(*b));
                        other == op && others.len() == of.len() && types
                    }
                    _ => false,
                };
                lanes.iter().all(alike)
            }
        }
    }

    fn operands(&self, lanes: &[Value]) -> usize {
        match self.values.source(lanes[0]) {
            Source::Made(_, of) => of.len(),
            _ => 0,
        }
    }

    fn operand(&self, lanes: &[Value], k: usize) -> Lanes {
        let one = |v: &Value| match self.values.source(*v) {
            Source::Made(_, of) => of[k],
            _ => *v,
        };
        lanes.iter().map(one).collect()
    }

    /// Makes squares of the vectors that are apart: their columns have to be together.
    fn turn(&mut self, width: usize) -> Option<()> {
        let mut apart = std::mem::take(&mut self.apart);
        if !width.is_power_of_two() || !apart.len().is_multiple_of(width) {
            return None;
        }
        // words in their order, values in the order in which the firing computes them: columns of neighbours are neighbours
        apart.sort_by_key(|lanes| match self.values.source(lanes[0]) {
            Source::Word(at) => (0, *at as usize),
            _ => (1, lanes[0]),
        });
        for rows in apart.chunks_exact(width) {
            let columns: Vec<Lanes> = (0..width).map(|l| rows.iter().map(|row| row[l]).collect()).collect();
            for column in &columns {
                self.visit(column.clone(), false)?;
            }
            for (i, row) in rows.iter().enumerate() {
                self.how.insert(row.clone(), How::Turned(self.squares.len(), i as u32));
            }
            self.squares.push(columns);
        }
        Some(())
    }

    /// The vectors in an order in which each comes after what it is made of.
    fn emit(&self, given: Vec<Lanes>, width: usize) -> Option<Within> {
        #[derive(PartialEq, Eq, Hash, Clone)]
        enum Which {
            Lanes(Lanes),
            Square(usize),
        }
        let mut done: HashMap<Which, Option<usize>> = HashMap::new();
        let mut vectors: Vec<(Vector, Ty)> = Vec::new();
        for row in &given {
            let mut stack = vec![Which::Lanes(row.clone())];
            while let Some(which) = stack.last().cloned() {
                if done.get(&which).is_some_and(Option::is_some) {
                    stack.pop();
                    continue;
                }
                let needs: Vec<Which> = match &which {
                    Which::Square(s) => self.squares[*s].iter().cloned().map(Which::Lanes).collect(),
                    Which::Lanes(lanes) => match self.how.get(lanes)? {
                        How::Plain => (0..self.operands(lanes)).map(|k| Which::Lanes(self.operand(lanes, k))).collect(),
                        How::Turned(s, _) => vec![Which::Square(*s)],
                        How::Apart => return None,
                    },
                };
                let missing: Vec<Which> =
                    needs.iter().filter(|n| done.get(*n).is_none_or(Option::is_none)).cloned().collect();
                if !missing.is_empty() {
                    // a square that waits for one of its own rows
                    if done.insert(which, None).is_some() {
                        return None;
                    }
                    stack.extend(missing.into_iter().rev());
                    continue;
                }
                let of: Vec<usize> = needs.iter().filter_map(|n| done.get(n).copied().flatten()).collect();
                let vector = match &which {
                    Which::Square(s) => (Vector::Square(of), self.values.ty(self.squares[*s][0][0]).clone()),
                    Which::Lanes(lanes) => (self.vector(lanes, of), self.values.ty(lanes[0]).clone()),
                };
                done.insert(which, Some(vectors.len()));
                vectors.push(vector);
                stack.pop();
            }
        }
        let given = given
            .into_iter()
            .map(|row| done.get(&Which::Lanes(row)).copied().flatten())
            .collect::<Option<Vec<usize>>>()?;
        Some(Within { width: width as u32, vectors, given })
    }

    fn vector(&self, lanes: &[Value], of: Vec<usize>) -> Vector {
        if let Some(How::Turned(_, row)) = self.how.get(lanes) {
            return Vector::Row(of[0], *row);
        }
        match self.values.source(lanes[0]) {
            Source::Known(_) => {
                let known = |v: &Value| match self.values.source(*v) {
                    Source::Known(c) => c.clone(),
                    _ => Const::Int(0),
                };
                Vector::Known(lanes.iter().map(known).collect())
            }
            Source::Word(at) if lanes.len() > 1 && lanes[1] == lanes[0] => Vector::Word(*at),
            Source::Word(at) => Vector::Words(*at),
            Source::Made(op, _) => Vector::Made(*op, of),
        }
    }
}
