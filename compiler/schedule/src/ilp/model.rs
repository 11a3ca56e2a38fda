//! # model
//!
//! Purpose: a mixed-integer linear program as data, and a check of its solutions that does not trust who found them.
//!
//! ```text
//! minimise Σ c·x   with   lower ≤ Σ a·x ≤ upper for each row,   lower ≤ x ≤ upper,   some x whole
//! ```
//!
//! Coefficients are meant to lie around 1: then [`TOLERANCE`] is small against all of them.

/// How far a row may be off, and an integer from a whole number.
pub const TOLERANCE: f64 = 1e-6;

/// A variable: its place among the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub usize);

/// Bounds of a variable, and whether it is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its least value.
    pub lower: f64,
    /// Its largest value, possibly infinite.
    pub upper: f64,
    /// Only whole numbers?
    pub integer: bool,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The rule that it stands for, as `(2)`: many rows have one rule.
    pub rule: &'static str,
    /// Coefficients, each variable at most once.
    pub terms: Vec<(Var, f64)>,
    /// The least value of the sum.
    pub lower: f64,
    /// Its largest value.
    pub upper: f64,
}

/// A program; its objective is to be as small as possible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The variables.
    pub columns: Vec<Column>,
    /// The constraints.
    pub rows: Vec<Row>,
    /// By variable, its coefficient in the objective; as long as `columns`.
    pub objective: Vec<f64>,
}

/// What is wrong with a solution.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// Not one value for each variable.
    Shape,
    /// A value that is out of its bounds, or not whole.
    Column(usize, f64),
    /// A row with this rule and sum.
    Row(&'static str, usize, f64),
}

impl Model {
    /// A new variable.
    pub fn var(&mut self, lower: f64, upper: f64, integer: bool) -> Var {
        self.columns.push(Column { lower, upper, integer });
        self.objective.push(0.0);
        Var(self.columns.len() - 1)
    }

    /// A new variable that is 0 or 1.
    pub fn binary(&mut self) -> Var {
        self.var(0.0, 1.0, true)
    }

    /// Σ terms ≥ `lower`. Terms with the same variable are added up.
    pub fn at_least(&mut self, rule: &'static str, terms: impl IntoIterator<Item = (Var, f64)>, lower: f64) {
        self.row(rule, terms, lower, f64::INFINITY);
    }

    /// Σ terms ≤ `upper`. Terms with the same variable are added up.
    pub fn at_most(&mut self, rule: &'static str, terms: impl IntoIterator<Item = (Var, f64)>, upper: f64) {
        self.row(rule, terms, f64::NEG_INFINITY, upper);
    }

    /// Σ terms = `value`. Terms with the same variable are added up.
    pub fn equal(&mut self, rule: &'static str, terms: impl IntoIterator<Item = (Var, f64)>, value: f64) {
        self.row(rule, terms, value, value);
    }

    fn row(&mut self, rule: &'static str, terms: impl IntoIterator<Item = (Var, f64)>, lower: f64, upper: f64) {
        let mut terms: Vec<(Var, f64)> = terms.into_iter().collect();
        terms.sort_by_key(|(v, _)| *v);
        terms.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 += b.1;
            }
            same
        });
        terms.retain(|(_, a)| *a != 0.0);
        self.rows.push(Row { rule, terms, lower, upper });
    }

    /// The value of the objective.
    pub fn value(&self, values: &[f64]) -> f64 {
        self.objective.iter().zip(values).map(|(c, x)| c * x).sum()
    }

    /// Checks every bound and every row.
    pub fn check(&self, values: &[f64]) -> Result<(), Broken> {
        if values.len() != self.columns.len() {
            return Err(Broken::Shape);
        }
        for (i, (c, x)) in self.columns.iter().zip(values).enumerate() {
            let whole = !c.integer || (x - x.round()).abs() <= TOLERANCE;
            // Written so that a NaN fails.
            if !(whole && *x >= c.lower - TOLERANCE && *x <= c.upper + TOLERANCE) {
                return Err(Broken::Column(i, *x));
            }
        }
        for (i, r) in self.rows.iter().enumerate() {
            let sum: f64 = r.terms.iter().map(|(v, a)| a * values[v.0]).sum();
            let size: f64 = r.terms.iter().map(|(v, a)| (a * values[v.0]).abs()).fold(1.0, f64::max);
            let off = TOLERANCE * size;
            if !(sum >= r.lower - off && sum <= r.upper + off) {
                return Err(Broken::Row(r.rule, i, sum));
            }
        }
        Ok(())
    }

    /// Rounds what has to be whole, and keeps the rest within its bounds.
    pub fn rounded(&self, values: &[f64]) -> Vec<f64> {
        let of = |(c, x): (&Column, &f64)| if c.integer { x.round() } else { x.clamp(c.lower, c.upper) };
        self.columns.iter().zip(values).map(of).collect()
    }

    /// The model without the rows of one rule: what the tests show each rule to be needed with.
    pub fn without(mut self, rule: &str) -> Model {
        self.rows.retain(|r| r.rule != rule);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> (Model, Var, Var) {
        let mut m = Model::default();
        let (x, y) = (m.var(0.0, 5.0, true), m.var(0.0, f64::INFINITY, false));
        m.at_most("(a)", [(x, 1.0), (y, 2.0), (x, 1.0)], 8.0);
        m.at_least("(b)", [(y, 1.0)], 1.0);
        m.objective[x.0] = -1.0;
        (m, x, y)
    }

    #[test]
    fn terms_with_one_variable_are_added() {
        let (m, x, y) = small();
        assert_eq!(m.rows[0].terms, [(x, 2.0), (y, 2.0)]);
    }

    #[test]
    fn each_fault_is_found() {
        let (m, ..) = small();
        assert_eq!(m.check(&[3.0, 1.0]), Ok(()));
        assert_eq!(m.value(&[3.0, 1.0]), -3.0);
        assert_eq!(m.check(&[3.0]), Err(Broken::Shape));
        assert_eq!(m.check(&[2.5, 1.0]), Err(Broken::Column(0, 2.5)));
        assert_eq!(m.check(&[6.0, 1.0]), Err(Broken::Column(0, 6.0)));
        assert_eq!(m.check(&[3.0, 1.5]), Err(Broken::Row("(a)", 0, 9.0)));
        assert_eq!(m.check(&[3.0, 0.5]), Err(Broken::Row("(b)", 1, 0.5)));
        assert!(m.check(&[3.0, f64::NAN]).is_err());
        assert_eq!(m.clone().without("(a)").check(&[3.0, 1.5]), Ok(()));
    }
}
