//! Splits a text into the pieces of a Unigram vocabulary (Kudo 2018): of all ways to cut a word, the likeliest.
//!
//! Own code, since the `tokenizers` crate keeps 280 MB for the 250,000 pieces of XLM-RoBERTa and takes a second or more to load
//! them; here they are one run of bytes and an index sorted by them, 6 MB.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// Begins a word, as SentencePiece writes it.
const WORD_BEGINS: char = '\u{2581}';
/// What an unknown character costs beyond the rarest piece, as in SentencePiece.
const UNKNOWN_PENALTY: f32 = 10.0;

/// Pieces that stand for no text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) padding: u32,
    pub(super) unknown: u32,
}

/// A vocabulary.
pub(super) struct Unigram {
    bytes: Vec<u8>,
    /// Where each piece begins in `bytes`, and the end of the last.
    offsets: Vec<u32>,
    /// Logarithms of their probabilities.
    scores: Vec<f32>,
    /// The pieces' numbers in the order of their bytes; without the marks, which no text may spell.
    sorted: Vec<u32>,
    unknown_score: f32,
    /// What single characters become before anything else.
    normal: HashMap<char, String>,
    marks: Marks,
}

impl Unigram {
    /// Checks a vocabulary and sorts it.
    pub(super) fn new(
        bytes: Vec<u8>,
        offsets: Vec<u32>,
        scores: Vec<f32>,
        normal: HashMap<char, String>,
        marks: Marks,
    ) -> Result<Unigram, String> {
        let rising = offsets.is_sorted() && offsets.last().is_some_and(|end| *end as usize <= bytes.len());
        if !rising || offsets.len() != scores.len() + 1 {
            return Err("its vocabulary does not add up".to_owned());
        }
        let Marks { begin, end, padding, unknown } = marks;
        if [begin, end, unknown].iter().any(|mark| *mark as usize >= scores.len()) {
            return Err("its marks are not in its vocabulary".to_owned());
        }
        let piece = |number: &u32| &bytes[offsets[*number as usize] as usize..offsets[*number as usize + 1] as usize];
        let spells = |number: &u32| {
            ![begin, end, padding, unknown].contains(number) && !matches!(piece(number), b"" | b"<mask>")
        };
        let mut sorted: Vec<u32> = (0..scores.len() as u32).filter(spells).collect();
        sorted.sort_unstable_by_key(piece);
        let unknown_score = scores.iter().copied().fold(f32::INFINITY, f32::min) - UNKNOWN_PENALTY;
        Ok(Unigram { bytes, offsets, scores, sorted, unknown_score, normal, marks })
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// The numbers of a text's pieces between the two marks, at most `max` in all.
    pub(super) fn encode(&self, text: &str, max: usize) -> Vec<u32> {
        let mut normal = String::with_capacity(text.len());
        for c in text.nfc() {
            match self.normal.get(&c) {
                Some(other) => normal.push_str(other),
                None => normal.push(c),
            }
        }
        let mut ids = vec![self.marks.begin];
        for word in normal.split_whitespace() {
            // No cut crosses a word, so what is beyond the limit need not be looked at.
            if ids.len() >= max {
                break;
            }
            self.split(&format!("{WORD_BEGINS}{word}"), &mut ids);
        }
        ids.truncate(max.saturating_sub(1));
        ids.push(self.marks.end);
        ids
    }

    /// Viterbi over the word's characters.
    fn split(&self, word: &str, ids: &mut Vec<u32>) {
        // By byte: the best score of a cut that ends there, its last piece, and where that begins.
        let mut best = vec![(f32::NEG_INFINITY, self.marks.unknown, 0); word.len() + 1];
        best[0].0 = 0.0;
        for (begin, c) in word.char_indices() {
            let so_far = best[begin].0;
            let mut offer = |end: usize, score: f32, piece: u32| {
                if so_far + score > best[end].0 {
                    best[end] = (so_far + score, piece, begin);
                }
            };
            offer(begin + c.len_utf8(), self.unknown_score, self.marks.unknown);
            self.prefixes(&word.as_bytes()[begin..], |length, piece| {
                offer(begin + length, self.scores[piece as usize], piece);
            });
        }
        let (first, mut end) = (ids.len(), word.len());
        while end > 0 {
            let (_, piece, begin) = best[end];
            // Neighbouring unknown characters are one unknown piece.
            if piece != self.marks.unknown || ids[first..].last() != Some(&piece) {
                ids.push(piece);
            }
            end = begin;
        }
        ids[first..].reverse();
    }

    /// Calls `found` with every piece that `text` begins with.
    fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut range = &self.sorted[..];
        for (at, byte) in text.iter().enumerate() {
            // All of `range` begin with the bytes before `at`; those that end there sort first.
            let next = |number: &u32| self.piece(*number).get(at).copied();
            let from = range.partition_point(|number| next(number) < Some(*byte));
            let to = range.partition_point(|number| next(number) <= Some(*byte));
            range = &range[from..to];
            match range.first() {
                None => return,
                Some(number) if self.piece(*number).len() == at + 1 => found(at + 1, *number),
                Some(_) => {}
            }
        }
    }

    fn piece(&self, number: u32) -> &[u8] {
        let number = number as usize;
        &self.bytes[self.offsets[number] as usize..self.offsets[number + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    //! A text cut otherwise than the model was trained on gets a vector that nothing else gives away.
    use super::*;

    fn vocabulary(pieces: &[(&str, f32)]) -> Unigram {
        let (mut bytes, mut offsets, mut scores) = (Vec::new(), vec![0], Vec::new());
        for (piece, score) in pieces {
            bytes.extend_from_slice(piece.as_bytes());
            offsets.push(bytes.len() as u32);
            scores.push(*score);
        }
        let normal = HashMap::from([('Ａ', "a".to_owned()), ('\u{3000}', " ".to_owned()), ('\u{200b}', String::new())]);
        let marks = Marks { begin: 0, end: 2, padding: 1, unknown: 3 };
        Unigram::new(bytes, offsets, scores, normal, marks).unwrap()
    }

    fn small() -> Unigram {
        vocabulary(&[
            ("<s>", 0.0),
            ("<pad>", 0.0),
            ("</s>", 0.0),
            ("<unk>", 0.0),
            ("▁", -3.0),
            ("▁un", -4.0),
            ("un", -5.0),
            ("able", -4.0),
            ("▁unable", -12.0),
            ("a", -6.0),
            ("b", -6.0),
            ("é", -6.0),
        ])
    }

    #[test]
    fn the_likeliest_cut_wins_not_the_longest_piece() {
        // -4 and -4 beat -12.
        assert_eq!(small().encode("unable", 9), [0, 5, 7, 2]);
    }

    #[test]
    fn characters_are_normalised_first() {
        let unigram = small();
        assert_eq!(unigram.encode("Ａ\u{3000}b\u{200b}", 9), [0, 4, 9, 4, 10, 2]);
        assert_eq!(unigram.encode("e\u{301}", 9), [0, 4, 11, 2], "a letter and its accent are one character");
    }

    #[test]
    fn what_is_unknown_is_one_piece_a_run() {
        assert_eq!(small().encode("zzaz", 9), [0, 4, 3, 9, 3, 2]);
        // A text cannot spell the marks.
        assert!(!small().encode("<s> </s>", 99)[1..].contains(&0));
    }

    #[test]
    fn the_marks_stay_however_short_the_cut() {
        assert_eq!(small().encode("a a a a", 4), [0, 4, 9, 2]);
        assert_eq!(small().encode("", 4), [0, 2]);
    }
}
