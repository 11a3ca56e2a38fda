//! Numbers that look random and repeat.

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        let mut d = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678);
        (0..4).for_each(|_| {
            d.roll(2);
        });
        d
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}
