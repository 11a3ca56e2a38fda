//! Text in pictures: escaping, and how wide it will be.

use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::ChannelId;

/// What a channel's producer gives and its consumer takes in a firing, `*` where a firing decides.
pub fn rates(graph: &SdfGraph, id: ChannelId) -> (String, String) {
    let c = graph.channel(id);
    let rate = |n: Option<u32>| n.map_or("*".to_string(), |n| n.to_string());
    let takes = rate(graph.takes(id));
    let takes = if c.peek > c.consume && takes != "*" { format!("{takes} peek {}", c.peek) } else { takes };
    (rate(graph.gives(id)), takes)
}

/// For XML text and attributes.
pub fn escape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if (c as u32) < 32 => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Width in pixels of a text of this size in a sans-serif face, rather too wide than too narrow.
pub fn width(s: &str, size: f64) -> f64 {
    s.chars()
        .map(|c| if c.is_ascii_uppercase() || c == 'm' || c == 'w' || !c.is_ascii() { 0.78 } else { 0.6 })
        .sum::<f64>()
        * size
}

/// At most `max` characters, the end replaced by an ellipsis.
pub fn shorten(s: &str, max: usize) -> String {
    if s.chars().count() <= max {
        s.to_string()
    } else {
        s.chars().take(max.saturating_sub(1)).collect::<String>() + "…"
    }
}
