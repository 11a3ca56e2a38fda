//! Numbers in sentences for people.

/// A number and what it counts, by its noun for one and for several of them.
pub fn count(n: u64, one: &str, several: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {several}") }
}

/// Bytes in millions, or in thousands where there are few.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000_000 => format!("{} kB", n.div_ceil(1000)),
        _ => format!("{} MB", n.div_ceil(1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_several() {
        let tries = |n| count(n, "try", "tries");
        assert_eq!([0, 1, 2].map(tries), ["0 tries", "1 try", "2 tries"]);
        assert_eq!([1, 999_999, 1_000_001].map(bytes), ["1 kB", "1000 kB", "2 MB"]);
    }
}
