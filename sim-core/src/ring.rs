//! A bounded first-in, first-out queue whose "full" is an outcome of the model, not an error.

/// A ring of at most a fixed number of entries; never reallocates.
#[derive(Debug, Clone)]
pub struct Ring<T> {
    entries: Vec<T>,
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring for `capacity` entries.
    pub fn new(capacity: usize) -> Self {
        Self { entries: vec![T::default(); capacity], head: 0, len: 0 }
    }

    /// Appends an entry; `false` when the ring is full and nothing was changed.
    #[must_use]
    pub fn push(&mut self, entry: T) -> bool {
        if self.is_full() {
            return false;
        }
        let slot = self.slot(self.len);
        self.entries[slot] = entry;
        self.len += 1;
        true
    }

    /// Takes the oldest entry.
    pub fn pop(&mut self) -> Option<T> {
        let first = self.get(0)?;
        self.head = self.slot(1);
        self.len -= 1;
        Some(first)
    }

    /// The entry `index` places behind the oldest.
    pub fn get(&self, index: usize) -> Option<T> {
        (index < self.len).then(|| self.entries[self.slot(index)])
    }

    /// The same entry, to change.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let slot = self.slot(index);
        (index < self.len).then(|| &mut self.entries[slot])
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No entries?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// No room?
    pub fn is_full(&self) -> bool {
        self.len == self.entries.len()
    }

    fn slot(&self, index: usize) -> usize {
        let slot = self.head + index;
        if slot >= self.entries.len() { slot - self.entries.len() } else { slot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_refuses_and_keeps_order_over_the_wrap() {
        let mut ring = Ring::new(3);
        for k in 0..10 {
            assert!(ring.push(k));
            assert!(ring.push(k + 100));
            assert_eq!(ring.pop(), Some(k));
            assert_eq!(ring.pop(), Some(k + 100));
        }
        assert!(ring.push(1) && ring.push(2) && ring.push(3));
        assert!(!ring.push(4));
        assert_eq!((ring.get(0), ring.get(2), ring.get(3)), (Some(1), Some(3), None));
        assert_eq!(ring.len(), 3);
    }
}
