//! A bounded first-in, first-out queue whose "full" is an outcome of the model, not an error.

use std::collections::VecDeque;

/// A ring of at most a fixed number of entries. It takes memory for the longest queue that it ever held, not for
/// its capacity: a port's rings are long, and what stands in them is mostly short.
#[derive(Debug, Clone)]
pub struct Ring<T> {
    entries: VecDeque<T>,
    capacity: usize,
}

impl<T> Ring<T> {
    /// An empty ring for `capacity` entries.
    pub const fn new(capacity: usize) -> Self {
        Self { entries: VecDeque::new(), capacity }
    }

    /// Appends an entry; `false` when the ring is full and nothing was changed.
    #[must_use]
    #[inline]
    pub fn push(&mut self, entry: T) -> bool {
        if self.is_full() {
            return false;
        }
        self.entries.push_back(entry);
        true
    }

    /// Takes the oldest entry.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.entries.pop_front()
    }

    /// The entry `index` places behind the oldest.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.entries.get(index)
    }

    /// The same entry, to change.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.entries.get_mut(index)
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// No entries?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// No room?
    #[inline]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
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
        assert_eq!((ring.get(0), ring.get(2), ring.get(3)), (Some(&1), Some(&3), None));
        assert_eq!(ring.len(), 3);
    }
}
