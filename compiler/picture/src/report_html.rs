//! # report-html
//!
//! Purpose: one page that explains a program's schedule: the graph, the chart of the kernel, bounds, rates, the source. A filter that is
//! pointed at is shown in all of them; a click holds it. Input: the pictures and tables as data. Output: HTML text that needs nothing
//! else, no network either.

use crate::text::escape;
use std::fmt::Write;

/// What the page shows.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// Figures: name, value, remark.
    pub figures: Vec<[String; 3]>,
    /// What binds, and what would help.
    pub bottleneck: [String; 2],
    /// Of [`crate::graph_svg`].
    pub graph: String,
    /// Of [`crate::gantt_svg`].
    pub gantt: String,
    /// Files: name and text.
    pub sources: Vec<(String, String)>,
    /// A row for each node of the graph, in program order.
    pub nodes: Vec<Row>,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its path.
    pub path: String,
    /// Filter, splitter, ...
    pub kind: String,
    /// Pop, peek and push.
    pub rates: String,
    /// Firings in a steady state.
    pub repetitions: u64,
    /// The task that it belongs to in the chart.
    pub task: Option<usize>,
    /// Cycles of its task's instance, and its part of all work in percent.
    pub cost: String,
    /// Index of the file, and line from 1, of what added it.
    pub place: Option<(usize, u32)>,
}

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The page.
pub fn html(page: &Page) -> String {
    let mut out = String::new();
    let title = escape(&page.title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1><table class=\"figures\">"
    );
    for [name, value, remark] in &page.figures {
        let _ = write!(out, "<tr><th>{}</th><td>{}</td><td>{}</td></tr>", escape(name), escape(value), escape(remark));
    }
    let [why, help] = &page.bottleneck;
    let _ = write!(
        out,
        "</table><p class=\"why\"><b>Bound by</b> {}</p><p class=\"why\"><b>To lower it:</b> {}</p>\
         <p id=\"shown\">Point at a filter in the graph, the chart, the table or the source; click to hold it, Escape to let go.</p></header>\n<main>\n",
        escape(why),
        escape(help)
    );
    let _ = writeln!(
        out,
        "<section id=\"graph\"><h2>Graph</h2><div class=\"scroll\">{}</div></section>",
        scoped(&page.graph, "#graph")
    );
    let _ = writeln!(
        out,
        "<section id=\"gantt\"><h2>Kernel</h2><div class=\"scroll\">{}</div></section>",
        scoped(&page.gantt, "#gantt")
    );
    nodes(&mut out, page);
    sources(&mut out, page);
    let _ = write!(out, "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

fn nodes(out: &mut String, page: &Page) {
    out.push_str("<section id=\"nodes\"><h2>Streams</h2><div class=\"scroll\"><table><thead><tr><th>stream</th><th>kind</th><th>rates</th><th>firings</th><th>cycles</th></tr></thead><tbody>\n");
    for (i, n) in page.nodes.iter().enumerate() {
        let task = n.task.map_or(String::new(), |t| format!(" data-task=\"{t}\""));
        let line = n.place.map_or(String::new(), |(file, line)| format!(" data-line=\"s{file}-{line}\""));
        let _ = writeln!(
            out,
            "<tr data-node=\"n{i}\"{task}{line}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&n.path),
            escape(&n.kind),
            escape(&n.rates),
            n.repetitions,
            escape(&n.cost)
        );
    }
    out.push_str("</tbody></table></div></section>\n");
}

fn sources(out: &mut String, page: &Page) {
    out.push_str("<section id=\"source\"><h2>Source</h2><div class=\"scroll\">");
    for (i, (name, text)) in page.sources.iter().enumerate() {
        let _ = write!(out, "<h3>{}</h3><pre>", escape(name));
        for (line, text) in text.lines().enumerate() {
            let line = line + 1;
            // blocks: an end of line between them would be a line of its own
            let _ = write!(out, "<span class=\"line\" id=\"s{i}-{line}\"><i>{line}</i>{}</span>", source_line(text));
        }
        out.push_str("</pre>");
    }
    out.push_str("</div></section>\n");
}

/// A line for a `pre`: tabs stay.
fn source_line(text: &str) -> String {
    text.split('\t').map(escape).collect::<Vec<_>>().join("\t")
}

/// A picture whose style rules hold within one element only.
fn scoped(svg: &str, within: &str) -> String {
    let (Some(start), Some(end)) = (svg.find("<style>"), svg.find("</style>")) else { return svg.to_string() };
    let rules = &svg[start + "<style>".len()..end];
    let each = rules.split_inclusive('}').map(|rule| format!("{within} svg {}", rule.trim_start()));
    format!("{}<style>{}{}", &svg[..start], each.collect::<String>(), &svg[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_kept_apart() {
        let svg = "<svg><style>text{a:b}.t{c:d}</style><g/></svg>";
        assert_eq!(scoped(svg, "#x"), "<svg><style>#x svg text{a:b}#x svg .t{c:d}</style><g/></svg>");
        assert_eq!(scoped("<svg/>", "#x"), "<svg/>");
    }

    #[test]
    fn texts_are_escaped() {
        let page = Page {
            title: "a<b".into(),
            sources: vec![("f&g.str".into(), "\tx < y && z;\n".into())],
            nodes: vec![Row { path: "Main.<A>".into(), place: Some((0, 1)), task: Some(3), ..Row::default() }],
            ..Page::default()
        };
        let text = html(&page);
        assert!(text.contains("<h1>a&lt;b</h1>") && text.contains("<i>1</i>\tx &lt; y &amp;&amp; z;"));
        assert!(text.contains("<tr data-node=\"n0\" data-task=\"3\" data-line=\"s0-1\"><td>Main.&lt;A&gt;</td>"));
        assert!(!text.contains("http://") && !text.contains("https://"), "nothing comes from elsewhere");
    }
}
