//! What is measured, and what with: programs of a given size for the front end; the suite of programs; others that run beside them; small
//! programs that everybody has.

pub mod arithmetic;
pub mod beside;
pub mod child;
pub mod command;
pub mod gpu;
pub mod kept;
pub mod kinds;
pub mod measure;
pub mod peers;
pub mod racing;
pub mod scaling;
pub mod suite;
pub mod thousand;

use std::fmt::Write;

/// A program of at least so many lines, as people write them: filters with fields, init and loops, pipelines and splitjoins,
/// every stream used.
pub fn long_program(lines: usize) -> String {
    let mut out = String::from(
        "void->float filter Source {\n    float x = 0.0;\n    work push 1 {\n        push(x);\n        x += 1.0;\n    }\n}\n\n\
         float->void filter Sink {\n    work pop 1 {\n        println(pop());\n    }\n}\n\n",
    );
    let mut stages = 0;
    while out.lines().count() + stages + 8 < lines {
        let n = stages;
        let _ = write!(
            out,
            "// Stage {n}: a low-pass with a table made at start-up, between a gain and a delay.
float->float filter LowPass{n}(int taps, float cutoff) {{
    float[taps] h;
    int rounds;

    init {{
        for (int i = 0; i < taps; i++) {{
            float t = i - (taps - 1) / 2.0;
            float w = 0.54 - 0.46 * cos(2 * pi * i / (taps - 1));
            h[i] = t == 0 ? 2 * cutoff : w * sin(2 * pi * cutoff * t) / (pi * t);
        }}
    }}

    work push 1 pop 1 peek taps {{
        float sum = 0;
        for (int i = 0; i < taps; i++)
            sum += h[i] * peek(i);
        if (rounds++ % 2 == 0 && sum > {n}.5)
            sum = -sum * 0.5 + abs(peek(0)) / (1.0 + {n});
        push(sum);
        pop();
    }}
}}

float->float splitjoin Stage{n}(float gain) {{
    split duplicate;
    add LowPass{n}(8, 0.{n}25);
    add pipeline {{
        add float->float filter {{
            work push 1 pop 1 {{
                push(gain * pop());
            }}
        }};
        add Identity<float>;
    }};
    join roundrobin(1, 1);
}}

float->float filter Mix{n} {{
    work push 1 pop 2 {{
        float a = pop();
        float b = pop();
        push(a + b);
    }}
}}

"
        );
        stages += 1;
    }
    out.push_str("void->void pipeline Main {\n    add Source;\n");
    for n in 0..stages {
        let _ = writeln!(out, "    add Stage{n}({n}.0 + 0.5); add Mix{n};");
    }
    out.push_str("    add Sink;\n}\n");
    out
}

/// A short program that elaborates to about so many filters: nested splitjoins of pipelines.
pub fn wide_program(filters: usize) -> String {
    let branches = 100;
    let each = filters / branches;
    format!(
        "void->int filter Source {{ int n; work push 1 {{ push(n++); }} }}
int->int filter Add(int k) {{ work pop 1 push 1 {{ push(pop() + k); }} }}
int->void filter Sink {{ work pop {branches} {{ int s = 0; for (int i = 0; i < {branches}; i++) s += pop(); println(s); }} }}
void->void pipeline Main {{
    add Source;
    add splitjoin {{
        split duplicate;
        for (int i = 0; i < {branches}; i++)
            add pipeline {{ for (int j = 0; j < {each}; j++) add Add(i + j % 7); }}
        join roundrobin;
    }}
    add Sink;
}}
"
    )
}

/// Analyses a program that has no errors.
pub fn analyse(text: &str) -> sluice_frontend::Elaborated {
    let input = sluice_frontend::SourceInput { name: "program.str".into(), text: text.into() };
    let options = sluice_frontend::Options::default();
    let analysis = sluice_frontend::analyse(vec![input], &options, &mut sluice_frontend::NoImports);
    match analysis.program {
        Some(program) => program,
        None => panic!("the program has errors: {:?}", analysis.diagnostics.first().map(|d| &d.title)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_as_large_as_they_say() {
        let text = long_program(5000);
        assert!((5000..5100).contains(&text.lines().count()), "{}", text.lines().count());
        assert!(analyse(&text).graph.nodes.len() > 300);
        let thousand = analyse(&thousand::program());
        let filter =
            |n: &&sluice_frontend::graph::Node| matches!(n.kind, sluice_frontend::graph::NodeKind::Filter { .. });
        assert_eq!((thousand.graph.nodes.iter().filter(filter).count(), thousand.codes.len()), (1000, 1000));
        let wide = analyse(&wide_program(10_000));
        assert!(wide.graph.nodes.len() > 10_000 && wide.steady.repetitions.iter().all(|r| *r == 1));
    }
}
