//! Numbers and texts that look random and are the same in every run.

/// xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed; zero would give zeros for ever.
    pub fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    /// From 0 to 1.
    pub fn uniform(&mut self) -> f32 {
        (self.next() >> 7) as f32 / (1 << 24) as f32
    }

    /// About normal in every dimension.
    pub fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| (0..3).map(|_| 2.0 * self.uniform() - 1.0).sum()).collect()
    }

    /// A word of its own spelling, by Zipf's law among 30,000 from a rank on.
    pub fn word(&mut self, from: f32) -> String {
        let rank = (from.ln() + self.uniform() * (30_000.0 / from).ln()).exp() as u32;
        let letters = (0..4).map(|i| char::from(b'a' + (rank.wrapping_mul(2_654_435_761) >> (7 * i)) as u8 % 26));
        letters.chain(rank.to_string().chars().map(|c| (c as u8 - b'0' + b'k') as char)).collect()
    }

    /// Words of any rank.
    pub fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word(1.0)).collect::<Vec<_>>().join(" ")
    }

    /// Half of the words belong to a topic, the others come by Zipf's law among 20,000.
    pub fn text_on(&mut self, topic: usize, words: usize) -> String {
        let word = |random: &mut Self, at: usize| match at % 2 {
            0 => format!("t{topic}x{}", random.below(30)),
            _ => format!("w{}", (f64::from(random.uniform()) * 20_000_f64.ln()).exp() as u64),
        };
        (0..words).map(|at| word(self, at)).collect::<Vec<_>>().join(" ")
    }
}
