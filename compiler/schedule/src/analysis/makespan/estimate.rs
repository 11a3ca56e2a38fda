//! # estimate
//!
//! Purpose: the paper's tractable estimate (paper 002, equations (42) and (43)): with exact worst cases T(1), …, T(x) for few warps, min over y of
//! ⌈W/y⌉·T(y). Input: those and W. Output: the estimate, and all on the way.
//!
//! The paper calls it safe. It is not: `LCLCL` has T(2) = 6, which makes 12 of four warps, and four warps can take 14. The step behind it, that
//! W warps take no longer than ⌈W/y⌉ groups of y one after the other, does not hold for work-conserving schedules. So it is never used as a bound.

/// The estimate after each y, for `worst[y − 1]` = T(y): T(W) ≈ min over y' ≤ y of ⌈W/y'⌉·T(y').
pub fn convergence(worst: &[u64], warps: u32) -> Vec<u64> {
    let each = worst.iter().enumerate().map(|(i, t)| u64::from(warps).div_ceil(i as u64 + 1) * t);
    each.scan(u64::MAX, |least, t| {
        *least = t.min(*least);
        Some(*least)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::convergence;

    #[test]
    fn figures_6_and_7_of_the_paper() {
        assert_eq!(convergence(&[5, 9, 13, 17, 21, 25], 600), [3000, 2700, 2600, 2550, 2520, 2500]);
        assert_eq!(convergence(&[5, 6], 4), [20, 12], "below 14, which four warps can take");
        assert_eq!(convergence(&[], 4), []);
    }
}
