//! A line on the terminal that says how far a run is and how fast. Silent where standard error is no terminal, and where
//! standard output is one, since the program's own lines go there.

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between looks at the clock's hand.
const PERIOD: Duration = Duration::from_millis(200);

/// The line.
pub struct Progress {
    bar: Option<ProgressBar>,
    start: Instant,
    shown: Instant,
}

impl Progress {
    /// A line, where it disturbs nobody.
    pub fn start() -> Progress {
        let wanted = std::io::stderr().is_terminal() && !std::io::stdout().is_terminal();
        let bar = wanted.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        let now = Instant::now();
        Progress { bar, start: now, shown: now }
    }

    /// Shows the counts of items read and written, now and then.
    pub fn show(&mut self, read: u64, written: u64) {
        let Some(bar) = &self.bar else { return };
        let now = Instant::now();
        if now.duration_since(self.shown) < PERIOD {
            return;
        }
        self.shown = now;
        let seconds = now.duration_since(self.start).as_secs_f64();
        let speed = |n: u64| HumanCount((n as f64 / seconds) as u64);
        let mut parts = Vec::new();
        if read > 0 {
            parts.push(format!("{} items in ({}/s)", HumanCount(read), speed(read)));
        }
        if written > 0 {
            parts.push(format!("{} items out ({}/s)", HumanCount(written), speed(written)));
        }
        bar.set_message(parts.join(", "));
        bar.tick();
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
