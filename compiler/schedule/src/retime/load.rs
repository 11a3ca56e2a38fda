//! The load model of C-slow: how many cycles an iteration of a loop takes on one unit that computes and waits for memory, and how much of that
//! it computes. Source: "Method for Software Pipelining on GPUs", section 5, equations (1) to (3):
//!
//! ```text
//! (1)  T = max(d_C, d_M + n_RW − 1 − α·d_C)        (2)  Q = d_C / T        gain = C·T_1 / T_C
//! ```

/// One loop as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// d_C: cycles that an iteration computes.
    pub d_c: f64,
    /// d_M: cycles from asking memory to having.
    pub d_m: f64,
    /// n_RW: reads and writes of memory in an iteration.
    pub n_rw: f64,
    /// α: the part of d_C that hides d_M.
    pub alpha: f64,
}

impl Load {
    /// T: cycles per iteration.
    pub fn period(&self) -> f64 {
        // without memory nothing waits for it
        let waits = if self.n_rw > 0.0 { self.d_m + self.n_rw - 1.0 - self.alpha * self.d_c } else { 0.0 };
        self.d_c.max(waits)
    }

    /// Q: how much of the period is computing.
    pub fn load(&self) -> f64 {
        let t = self.period();
        if t > 0.0 { self.d_c / t } else { 1.0 }
    }

    /// The loop when `c` streams take turns in it, and each turn costs `switch` cycles more (registers that change places; the paper's
    /// example goes from 5 to 12 with two streams: 1 each).
    pub fn slowed(&self, c: u64, switch: f64) -> Load {
        let each = if c > 1 { self.d_c + switch } else { self.d_c };
        Load { d_c: each * c as f64, n_rw: self.n_rw * c as f64, ..*self }
    }

    /// What `c` streams gain over one after the other: C·T_1 / T_C.
    pub fn gain(&self, slow: &Load, c: u64) -> f64 {
        let t = slow.period();
        if t > 0.0 { c as f64 * self.period() / t } else { 1.0 }
    }
}
