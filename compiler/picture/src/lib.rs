//! Graphs and charts as SVG and DOT text.
