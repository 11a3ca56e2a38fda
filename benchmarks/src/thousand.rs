//! A program of a thousand filters, each with a declaration of its own, and how long the whole flow takes for it: from its text to a
//! schedule, by heuristics.

#![allow(clippy::disallowed_methods)] // it starts sluice and reads the clock

use crate::measure::seconds;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Steps of the program, and branches of each: with the filter after them, 1,000 filters.
const STEPS: usize = 40;
const BRANCHES: usize = 24;

/// Its text: steps of branches that each weigh the last samples in their own way, with a mean after them.
pub fn program() -> String {
    let mut text = String::from("// A thousand filters.\n");
    for step in 0..STEPS {
        for branch in 0..BRANCHES {
            let taps = 2 + (step * 7 + branch * 5) % 30;
            let _ = write!(
                text,
                "float->float filter Branch{step}_{branch} {{
    float[{taps}] weights;
    init {{
        for (int i = 0; i < {taps}; i++) {{
            weights[i] = sin((i + 1) * {branch}.25 + {step});
        }}
    }}
    work push 1 pop 1 peek {taps} {{
        float sum = 0;
        for (int i = 0; i < {taps}; i++) {{
            sum += peek(i) * weights[i];
        }}
        pop();
        push(sum);
    }}
}}
"
            );
        }
        let _ = write!(
            text,
            "float->float filter Mean{step} {{
    work push 1 pop 1 peek {n} {{
        float sum = 0;
        for (int i = 0; i < {n}; i++) {{
            sum += peek(i);
        }}
        pop();
        push(sum / {n});
    }}
}}
",
            n = 2 + step % 5
        );
    }
    text.push_str("float->float pipeline Thousand {\n");
    for step in 0..STEPS {
        let _ = writeln!(text, "    add splitjoin {{\n        split roundrobin({});", 1 + step % 3);
        (0..BRANCHES).for_each(|branch| text += &format!("        add Branch{step}_{branch};\n"));
        let _ = writeln!(text, "        join roundrobin({});\n    }};\n    add Mean{step};", 1 + step % 3);
    }
    text + "}\n"
}

/// How long it took, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// Reading, parsing, checking, elaboration, the steady state.
    pub front_end: f64,
    /// Lowering to kernels, and the passes over them, which give the costs.
    pub kernels: f64,
    /// The problem and its bounds.
    pub plan: f64,
    /// The method.
    pub method: f64,
    /// From the start of the process to its end, writing the result included.
    pub whole: f64,
}

/// Schedules it once; the command is `schedule` or `report`. Gives the times, and how many bytes were written.
pub fn run(sluice: &str, command: &str, machine: &str, method: &str) -> Result<(Parts, usize), String> {
    let text = program();
    let mut parts = Parts::default();
    let mut out = Err("it was not run".to_string());
    parts.whole = seconds(|| out = output(sluice, &[command, "-", "--machine", machine, "--method", method], &text));
    let (written, said) = out?;
    for line in said.lines() {
        let Some((time, pass)) = line.trim().split_once(" ms  ") else { continue };
        let part = match pass {
            "read" | "analyse" => &mut parts.front_end,
            "plan" => &mut parts.plan,
            "total" | "draw" => continue,
            pass if pass == method => &mut parts.method,
            _ => &mut parts.kernels,
        };
        *part += time.parse::<f64>().map_err(|e| format!("{line}: {e}"))? / 1e3;
    }
    Ok((parts, written))
}

/// Bytes on standard output, text on standard error.
fn output(sluice: &str, arguments: &[&str], text: &str) -> Result<(usize, String), String> {
    let fault = |e: std::io::Error| format!("{sluice}: {e}");
    let mut command = Command::new(sluice);
    command.args(arguments).arg("--time-passes");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(fault)?;
    // All of its input is read before it writes anything.
    child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes())).map_err(fault)?;
    let out = child.wait_with_output().map_err(fault)?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if out.status.success() { Ok((out.stdout.len(), said)) } else { Err(said) }
}
