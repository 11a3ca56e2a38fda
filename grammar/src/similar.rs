//! "Did you mean ...?"

/// The number of letters to insert, delete, change or swap with a neighbour to come from `a` to `b`, if it is at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|found| *found <= limit)
}

/// The candidate that looks most like `name`, if one looks like a slip of the finger: one letter off in short names, two in
/// names of six letters and more, or the same but for upper and lower case. Of equals the first.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = match name.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == name {
            continue;
        }
        let found = if candidate.eq_ignore_ascii_case(name) { Some(0) } else { distance(name, candidate, limit) };
        if let Some(found) = found
            && best.is_none_or(|(least, _)| found < least)
        {
            best = Some((found, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_slips_and_nothing_else() {
        assert_eq!(closest("filtr", ["pipeline", "filter"]), Some("filter"));
        assert_eq!(closest("wrok", ["work", "prework"]), Some("work"));
        assert_eq!(closest("Work", ["work"]), Some("work"));
        assert_eq!(closest("piplien", ["pipeline"]), Some("pipeline"));
        assert_eq!(closest("x", ["y"]), None);
        assert_eq!(closest("add", ["and", "add"]), Some("and"));
        assert_eq!(closest("banana", ["work"]), None);
    }
}
