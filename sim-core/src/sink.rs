//! Where results go. The engine pushes records into a sink and knows nothing of what becomes of them:
//! statistics, a file, a fingerprint, nothing.

/// Takes records of type `R` in the order in which they come about.
pub trait Sink<R> {
    /// Takes one record.
    fn take(&mut self, record: &R);
}

/// Forgets everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Null;

impl<R> Sink<R> for Null {
    #[inline]
    fn take(&mut self, _: &R) {}
}

/// Gives every record to both.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tee<A, B>(pub A, pub B);

impl<R, A: Sink<R>, B: Sink<R>> Sink<R> for Tee<A, B> {
    #[inline]
    fn take(&mut self, record: &R) {
        self.0.take(record);
        self.1.take(record);
    }
}

impl<R, S: Sink<R> + ?Sized> Sink<R> for &mut S {
    #[inline]
    fn take(&mut self, record: &R) {
        (**self).take(record);
    }
}

impl<R, S: Sink<R>> Sink<R> for Option<S> {
    #[inline]
    fn take(&mut self, record: &R) {
        if let Some(sink) = self {
            sink.take(record);
        }
    }
}

impl<R: Clone> Sink<R> for Vec<R> {
    #[inline]
    fn take(&mut self, record: &R) {
        self.push(record.clone());
    }
}

/// A 64-bit digest of a sequence of records: FNV-1a over the words that each record names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

/// A record that can be digested.
pub trait Digest {
    /// Calls `word` for every number that matters.
    fn words(&self, word: impl FnMut(u64));
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// The digest so far.
    pub fn value(self) -> u64 {
        self.0
    }

    /// Adds the eight bytes of `word`.
    pub fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl<R: Digest> Sink<R> for Fingerprint {
    fn take(&mut self, record: &R) {
        record.words(|word| self.add(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair(u64, u64);
    impl Digest for Pair {
        fn words(&self, mut word: impl FnMut(u64)) {
            word(self.0);
            word(self.1);
        }
    }

    #[test]
    fn a_fingerprint_sees_order_and_every_bit() {
        let digest = |pairs: &[Pair]| {
            let mut sink = Fingerprint::default();
            pairs.iter().for_each(|pair| sink.take(pair));
            sink.value()
        };
        assert_ne!(digest(&[Pair(1, 2)]), digest(&[Pair(2, 1)]));
        assert_ne!(digest(&[Pair(1, 2), Pair(3, 4)]), digest(&[Pair(3, 4), Pair(1, 2)]));
        assert_ne!(digest(&[Pair(0, 0)]), digest(&[Pair(0, 1 << 63)]));
    }
}
