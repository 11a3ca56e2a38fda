//! What the programs are fed with: always the same words.

/// What a program is fed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ints of all sizes.
    Keys,
    /// Ints from 0 to 255: slopes, and some noise.
    Picture,
    /// Floats, or complex numbers, from -1 to 1, evenly spread.
    Noise,
    /// A carrier in the middle, swept by a tone.
    Station,
    /// Bits from 0 (surely 0) to 7 (surely 1), as a noisy channel leaves them of [`message`] in the convolutional code of viterbi.str.
    Codeword,
    /// Echoes of the sweeps of pulsecompression.str from two targets, in noise: complex, 1024 of each pulse.
    Echoes,
    /// Echoes of the coded pulses of radar.str from three targets, two of which move, in noise: complex, 288 of each pulse.
    Targets,
    /// Something like speech at 8 kHz: vowels of half a second with pulses 80, 70, 60 samples apart in turns, and as long sounds without pitch.
    Speech,
    /// A broadcast of stereo.str: a tone on each side, and as data the groups of [`group`] again and again.
    Broadcast,
    /// Blocks of mpeg2.str: every third intra, levels that are small and rare at high frequencies.
    Levels,
}

impl Signal {
    /// So many words.
    pub fn words(self, count: usize) -> Vec<u32> {
        let mut random = Random::new();
        match self {
            Signal::Keys => (0..count).map(|_| random.next()).collect(),
            Signal::Picture => {
                (0..count).map(|i| ((i % 64 * 3 + i / 640 + random.next() as usize % 16) % 256) as u32).collect()
            }
            Signal::Noise => (0..count).map(|_| (random.next() as i32 as f32 / 2147483648.0).to_bits()).collect(),
            Signal::Station => station(count),
            Signal::Codeword => codeword(count),
            Signal::Echoes => echoes(count),
            Signal::Targets => targets(count),
            Signal::Speech => speech(count),
            Signal::Broadcast => broadcast(count),
            Signal::Levels => levels(count),
        }
    }
}

fn station(count: usize) -> Vec<u32> {
    let mut phase = 0f64;
    let sample = |i: usize| {
        if i.is_multiple_of(2) {
            phase += 0.1 * (i as f64 * 0.01).sin();
        }
        let part = if i.is_multiple_of(2) { phase.cos() } else { phase.sin() };
        (part as f32).to_bits()
    };
    (0..count).map(sample).collect()
}

/// The bits that [`Signal::Codeword`] carries.
pub fn message(bits: usize) -> Vec<u32> {
    let mut random = Random::new();
    (0..bits).map(|_| random.next() >> 31).collect()
}

fn codeword(count: usize) -> Vec<u32> {
    let (mut random, mut register) = (Random(0x9E37_79B9_7F4A_7C15), 0u32);
    let mut words = Vec::with_capacity(count + 1);
    for bit in message(count.div_ceil(2)) {
        register = register >> 1 | bit << 6;
        for generator in [0o171, 0o133] {
            let sent = (register & generator).count_ones() % 2;
            // one bit of 27 crosses the middle
            let noise = (random.next() % 3 + random.next() % 3 + random.next() % 3) as i32 - 3;
            words.push((if sent == 1 { 6 } else { 1 } + noise).clamp(0, 7) as u32);
        }
    }
    words.truncate(count);
    words
}

/// Complex noise of a given strength, and `echo` of each sample's number.
fn noisy(count: usize, strength: f64, echo: impl Fn(usize) -> (f64, f64)) -> Vec<u32> {
    let mut random = Random::new();
    let mut noise = || strength * f64::from(random.next() as i32) / 2147483648.0;
    let mut words = Vec::with_capacity(count + 1);
    for i in 0..count.div_ceil(2) {
        let (re, im) = echo(i);
        words.extend([((re + noise()) as f32).to_bits(), ((im + noise()) as f32).to_bits()]);
    }
    words.truncate(count);
    words
}

/// Ranges and amplitudes of the targets in [`Signal::Echoes`].
pub const RANGES: [(usize, f64); 2] = [(100, 1.0), (613, 0.1)];

fn echoes(count: usize) -> Vec<u32> {
    noisy(count, 0.1, |i| {
        RANGES.iter().fold((0.0, 0.0), |(re, im), (range, amplitude)| {
            let t = (i % 1024) as f64 - *range as f64;
            if !(0.0..129.0).contains(&t) {
                return (re, im);
            }
            let phase = std::f64::consts::PI * 0.8 * (t - 64.0) * (t - 64.0) / 129.0;
            (re + amplitude * phase.cos(), im + amplitude * phase.sin())
        })
    })
}

/// Ranges, Doppler shifts (turns in 32 pulses) and amplitudes of the targets in [`Signal::Targets`].
pub const TARGETS: [(usize, usize, f64); 3] = [(40, 0, 1.0), (90, 5, 0.2), (200, 27, 0.05)];

fn targets(count: usize) -> Vec<u32> {
    const BARKER: [f64; 13] = [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
    noisy(count, 0.1, |i| {
        TARGETS.iter().fold((0.0, 0.0), |(re, im), (range, turns, amplitude)| {
            let Some(chip) = (i % 288).checked_sub(*range).and_then(|t| BARKER.get(t / 2)) else { return (re, im) };
            let phase = std::f64::consts::TAU * (turns * (i / 288) % 32) as f64 / 32.0;
            (re + amplitude * chip * phase.cos(), im + amplitude * chip * phase.sin())
        })
    })
}

/// Pulses or noise through three resonances, as of an open vowel.
fn speech(count: usize) -> Vec<u32> {
    const PART: usize = 4000;
    let (mut random, mut since, mut state) = (Random::new(), 0, [(0.0, 0.0); 3]);
    let sample = |t: usize| {
        let (part, noise) = (t / PART, f64::from(random.next() as i32) / 2147483648.0);
        since += 1;
        let mut x = 0.05 * noise;
        if part % 2 == 0 {
            x *= 0.1;
            if since >= [80, 70, 60][part / 2 % 3] {
                (x, since) = (0.5, 0);
            }
        }
        for ((frequency, radius), (y1, y2)) in
            [(700.0, 0.96), (1220.0, 0.95), (2600.0, 0.93)].into_iter().zip(&mut state)
        {
            let turn = std::f64::consts::TAU * frequency / 8000.0;
            let y = x * (1.0 - radius) + 2.0 * radius * f64::cos(turn) * *y1 - radius * radius * *y2;
            (*y2, *y1, x) = (*y1, y, y + 0.3 * x);
        }
        (x as f32).to_bits()
    };
    (0..count).map(sample).collect()
}

/// The four words of a group of the Radio Data System: of type 0A, a part of the name `SLUICE`.
pub fn group(number: usize) -> [u32; 4] {
    let (name, part) = (b"SLUICE  ", number % 4);
    let letters = u32::from(name[2 * part]) << 8 | u32::from(name[2 * part + 1]);
    [0xD3A1, 0x0400 | part as u32, 0xE0CD, letters]
}

/// The bits of all groups: each word, and its check word with the offset of its place (IEC 62106, annexes A and B).
fn data_bit(number: usize) -> bool {
    let place = number / 26 % 4;
    let word = group(number / 104)[place] << 10;
    let rest = (10..26).rev().fold(word, |rest, i| if rest >> i & 1 == 1 { rest ^ 0x5B9 << (i - 10) } else { rest });
    (word | rest ^ [0x0FC, 0x198, 0x168, 0x1B4][place]) >> (25 - number % 26) & 1 == 1
}

/// Frequencies of the tones left and right in [`Signal::Broadcast`].
pub const TONES: [f64; 2] = [400.0, 1000.0];

fn broadcast(count: usize) -> Vec<u32> {
    use std::f64::consts::TAU;
    let (mut phase, mut sent, mut last) = (0f64, false, usize::MAX);
    let mut words = Vec::with_capacity(count + 1);
    for t in 0..count.div_ceil(2) {
        let (seconds, number) = (t as f64 / 228_000.0, (t + 77) / 192);
        if number != last {
            (sent, last) = (sent ^ data_bit(number), number);
        }
        let [left, right] = TONES.map(|f| (TAU * f * seconds).sin());
        let pilot = TAU * (t % 12) as f64 / 12.0;
        let bit = (TAU * ((t + 77) % 192) as f64 / 192.0).sin() * if sent { 1.0 } else { -1.0 };
        let multiplex = 0.225 * (left + right)
            + 0.225 * (left - right) * (2.0 * pilot).sin()
            + 0.1 * pilot.sin()
            + 0.05 * bit * (3.0 * pilot).sin();
        phase += TAU * 75_000.0 / 228_000.0 * multiplex;
        words.extend([(phase.cos() as f32).to_bits(), (phase.sin() as f32).to_bits()]);
    }
    words.truncate(count);
    words
}

fn levels(count: usize) -> Vec<u32> {
    let mut random = Random::new();
    let mut intra = false;
    let mut item = |i: usize| {
        let (block, at, number) = (i / 66, i % 66, random.next());
        match at {
            0 => {
                intra = block % 3 == 0;
                u32::from(intra)
            }
            1 => 1 + number % 12,
            2 if intra => number % 256,
            _ if number % 64 + 2 < at as u32 => 0,
            _ => {
                let size = (40 / (at as u32 + 2)).max(1);
                ((number >> 8) % (2 * size + 1)).wrapping_sub(size)
            }
        }
    };
    (0..count).map(&mut item).collect()
}

/// Marsaglia's xorshift (2003) with 64 bits; the upper half of the state.
struct Random(u64);

impl Random {
    fn new() -> Random {
        Random(0x2545_F491_4F6C_DD15)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}
