//! Graphs and charts as SVG and DOT text: data in, text out.

pub mod bars_svg;
pub mod gantt_svg;
pub mod graph_dot;
pub mod graph_svg;
pub mod layout;
pub mod lines_svg;
pub mod makespan_svg;
pub mod pareto_svg;
pub mod report_html;
mod text;
