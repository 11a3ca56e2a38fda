//! What commands show on standard output: a JSON document, or rows in columns.

use serde::Serialize;

/// One JSON document, with a line end.
pub fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// Rows in columns, two spaces apart; those that `left` names begin at the left, the others end at the right. All rows are as long as the first.
pub fn columns(rows: &[impl AsRef<[String]>], left: &[usize]) -> String {
    let count = rows.first().map_or(0, |r| r.as_ref().len());
    let width = |i: usize| rows.iter().map(|r| r.as_ref()[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - cell.chars().count());
            line += &if left.contains(&i) { format!("{cell}{pad}  ") } else { format!("{pad}{cell}  ") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["name", "n", ""], ["é", "1234", "x"]].map(|r| r.map(String::from));
        assert_eq!(columns(&rows, &[0]), "name     n\né     1234  x\n");
        assert_eq!(columns(&[[]; 0] as &[[String; 0]], &[]), "");
    }
}
