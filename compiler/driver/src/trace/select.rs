//! Which firings a trace shows: streams by name, path or pattern, and by kind; ranges of firings.

use crate::exit::Fault;
use crate::streams::Stream;
use std::str::FromStr;

/// Firings of a stream, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiringRange {
    first: u64,
    last: u64,
}

impl FiringRange {
    /// Does it hold this firing?
    pub fn holds(self, firing: u64) -> bool {
        (self.first..=self.last).contains(&firing)
    }
}

impl FromStr for FiringRange {
    type Err = String;

    /// `7`, `3..9`, `3..` or `..9`.
    fn from_str(text: &str) -> Result<FiringRange, String> {
        let number = |t: &str, open: u64| -> Result<u64, String> {
            match t.trim() {
                "" => Ok(open),
                t => t.parse().map_err(|_| format!("`{t}` is not the number of a firing: such as 7, 3..9, 3.. or ..9")),
            }
        };
        let (first, last) = match text.split_once("..") {
            _ if text.trim().is_empty() => return Err("such as 7, 3..9, 3.. or ..9".into()),
            Some((first, last)) => (number(first, 1)?, number(last.strip_prefix('=').unwrap_or(last), u64::MAX)?),
            None => (number(text, 1)?, number(text, 1)?),
        };
        match (first, last) {
            (0, _) | (_, 0) => Err("firings are counted from 1".into()),
            _ if first > last => Err(format!("the first firing, {first}, comes after the last, {last}")),
            _ => Ok(FiringRange { first, last }),
        }
    }
}

/// By stream: is it chosen? All are, where nothing is said. A pattern that chooses nothing is a fault.
pub fn streams(all: &[Stream], patterns: &[String], kinds: &[String]) -> Result<Vec<bool>, Fault> {
    let parts: Vec<Vec<&str>> = all.iter().map(|s| s.path.split('.').collect()).collect();
    let mut chosen = vec![patterns.is_empty(); all.len()];
    for pattern in patterns {
        let wanted: Vec<&str> = pattern.split('.').collect();
        // the path of one stream means that one, even where others have the same name with a number
        let whole = parts.iter().any(|p| p.starts_with(&wanted));
        let mut any = false;
        for (path, chosen) in parts.iter().zip(&mut chosen) {
            let fits = if whole {
                path.starts_with(&wanted)
            } else {
                path.windows(wanted.len()).any(|w| wanted.iter().zip(w).all(|(p, name)| component(p, name)))
            };
            if fits {
                (*chosen, any) = (true, true);
            }
        }
        if !any {
            return Err(unknown(pattern, &parts, all));
        }
    }
    if !kinds.is_empty() {
        all.iter().zip(&mut chosen).for_each(|(s, c)| *c &= kinds.iter().any(|k| k == s.kind));
    }
    if !chosen.contains(&true) && !all.is_empty() {
        let what = if patterns.is_empty() { "the program has" } else { "among the streams chosen there is" };
        let fault = Fault::usage(format!("the trace would show nothing: {what} no {}", kinds.join(" and no ")));
        return Err(fault.help("`sluice rates` shows which kinds there are"));
    }
    Ok(chosen)
}

fn unknown(pattern: &str, parts: &[Vec<&str>], all: &[Stream]) -> Fault {
    let names = parts.iter().flatten().copied();
    let near = sluice_grammar::similar::closest(pattern, names.chain(all.iter().map(|s| s.path.as_str())));
    let fault = Fault::usage(format!("the program has no stream `{pattern}`"));
    match near {
        Some(near) => fault.help(format!("is it `{near}`?")),
        None => fault.help("`sluice rates` lists them; * stands for any letters of a name, ? for one"),
    }
}

/// Does a part of a pattern stand for a part of a path? Without a number it stands for all numbers.
fn component(pattern: &str, name: &str) -> bool {
    let plain = name.split_once('#').map_or(name, |(plain, _)| plain);
    glob(pattern, name) || !pattern.contains('#') && glob(pattern, plain)
}

/// `*` any letters, `?` one.
fn glob(pattern: &str, name: &str) -> bool {
    let (p, n): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut i, mut j) = (0, 0);
    // where the last star stands, and how much it has taken
    let mut star = None;
    while j < n.len() {
        if i < p.len() && p[i] == '*' {
            star = Some((i, j));
            i += 1;
        } else if i < p.len() && (p[i] == '?' || p[i] == n[j]) {
            i += 1;
            j += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            i = at + 1;
            j = taken + 1;
        } else {
            return false;
        }
    }
    p[i..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::Place;

    fn program() -> Vec<Stream> {
        [
            ("input", "reader"),
            ("Main.Source", "filter"),
            ("Main.Eq.split", "splitter"),
            ("Main.Eq.Band", "filter"),
            ("Main.Eq.Band#2", "filter"),
            ("Main.Eq#2.Band", "filter"),
            ("Main.Eq#2.Bandwidth", "filter"),
        ]
        .iter()
        .map(|(path, kind)| {
            let place = Place { file: "a.str".into(), line: 1 };
            Stream { id: "n".into(), path: path.to_string(), kind, place }
        })
        .collect()
    }

    fn chosen(patterns: &[&str], kinds: &[&str]) -> Result<Vec<usize>, Fault> {
        let words = |w: &[&str]| w.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        let all = streams(&program(), &words(patterns), &words(kinds))?;
        Ok((0..all.len()).filter(|i| all[*i]).collect())
    }

    #[test]
    fn names_paths_and_patterns() {
        let is = |patterns: &[&str], want: &[usize]| assert_eq!(chosen(patterns, &[]).unwrap(), want, "{patterns:?}");
        is(&[], &[0, 1, 2, 3, 4, 5, 6]);
        is(&["Source"], &[1]);
        is(&["Band"], &[3, 4, 5]);
        is(&["Band#2"], &[4]);
        is(&["Band*"], &[3, 4, 5, 6]);
        is(&["Ban?"], &[3, 4, 5]);
        is(&["Eq.Band"], &[3, 4, 5]);
        is(&["Main.Eq.Band"], &[3]);
        is(&["Main.Eq"], &[2, 3, 4]);
        is(&["Eq"], &[2, 3, 4, 5, 6]);
        is(&["Eq#2"], &[5, 6]);
        is(&["*"], &[0, 1, 2, 3, 4, 5, 6]);
        is(&["split", "input"], &[0, 2]);
        is(&["M*.E*.B*h"], &[6]);
    }

    #[test]
    fn kinds_and_faults() {
        assert_eq!(chosen(&[], &["filter"]).unwrap(), [1, 3, 4, 5, 6]);
        assert_eq!(chosen(&["Eq"], &["splitter", "reader"]).unwrap(), [2]);
        let help = |patterns: &[&str]| chosen(patterns, &[]).unwrap_err().help.unwrap();
        assert_eq!(help(&["Band", "Suorce"]), "is it `Source`?");
        assert!(help(&["Xyz"]).contains("sluice rates"));
        assert!(chosen(&["Source"], &["joiner"]).unwrap_err().message.contains("no joiner"));
        assert!(chosen(&[""], &[]).is_err());
    }

    #[test]
    fn globs() {
        for (pattern, name, want) in [
            ("", "", true),
            ("*", "", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("??", "ab", true),
            ("??", "a", false),
            ("*é", "Cafeé", true),
            ("**", "x", true),
        ] {
            assert_eq!(glob(pattern, name), want, "{pattern} {name}");
        }
    }

    #[test]
    fn ranges() {
        let range = |t: &str| t.parse::<FiringRange>().map(|r| (r.first, r.last));
        assert_eq!(range("7"), Ok((7, 7)));
        assert_eq!(range("3..9"), Ok((3, 9)));
        assert_eq!(range("3..=9"), Ok((3, 9)));
        assert_eq!(range("..9"), Ok((1, 9)));
        assert_eq!(range("3.."), Ok((3, u64::MAX)));
        assert_eq!(range(".."), Ok((1, u64::MAX)));
        for bad in ["", "x", "0", "0..3", "5..2", "-1", "1..x", "99999999999999999999"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
