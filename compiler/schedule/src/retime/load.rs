//! The load model of C-slow: how many cycles an iteration of a loop takes on one unit that computes and waits for memory, and how much of that
//! it computes. Source: "Method for Software Pipelining on GPUs", section 5, equations (1) to (3):
//!
//! ```text
//! (1)  T = max(d_C, d_M + n_RW − 1 − α·d_C)        (2)  Q = d_C / T        gain = C·T_1 / T_C
//! ```

/// The most streams that [`choose`] thinks of: as many as may be asked for.
pub const MOST: u64 = 4096;

/// The machine as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// d_M: cycles from asking memory to having.
    pub d_m: f64,
    /// α: the part of d_C that hides d_M.
    pub alpha: f64,
    /// Cycles that each turn costs more where streams take turns.
    pub switch: f64,
    /// Registers of a thread.
    pub registers: u64,
}

impl Default for Machine {
    /// The paper's: local memory and α of its example, with the registers of a thread on today's GPUs.
    fn default() -> Machine {
        Machine { d_m: 10.0, alpha: 0.6, switch: 1.0, registers: 255 }
    }
}

/// Why there are so many streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The unit is loaded fully without.
    Loaded,
    /// The fewest with which it is (Q = 1).
    Full,
    /// More would not fit into the registers.
    Registers,
    /// No number of streams up to [`MOST`] loads it fully: memory sets the pace.
    Memory,
}

impl Reason {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Loaded => "loaded",
            Reason::Full => "full",
            Reason::Registers => "registers",
            Reason::Memory => "memory",
        }
    }

    /// A sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Reason::Loaded => "one stream is enough",
            Reason::Full => "the fewest with which Q is 1",
            Reason::Registers => "more streams would not fit into the registers",
            Reason::Memory => "memory sets the pace, however many streams there are",
        }
    }
}

/// C, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The number of streams.
    pub c: u64,
    /// Why not fewer or more.
    pub reason: Reason,
}

/// The fewest streams with which the unit computes all the time, as long as the live scalars of all fit into the registers; where that cannot be,
/// the fewest that gain the most.
pub fn choose(one: &Load, live: u64, machine: &Machine) -> Choice {
    let full = |l: &Load| l.period() <= l.d_c;
    if full(one) {
        return Choice { c: 1, reason: Reason::Loaded };
    }
    let most = (machine.registers / live.max(1)).clamp(1, MOST);
    let slow = |c: u64| one.slowed(c, machine.switch);
    if let Some(c) = (2..=most).find(|c| full(&slow(*c))) {
        return Choice { c, reason: Reason::Full };
    }
    let gain = |c: u64| one.gain(&slow(c), c);
    let best = (2..=most).fold(1, |best, c| if gain(c) > gain(best) { c } else { best });
    // Registers are in the way only where more of them would do.
    let later = most < MOST && (most..=MOST).any(|c| full(&slow(c)));
    Choice { c: best, reason: if later { Reason::Registers } else { Reason::Memory } }
}

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
