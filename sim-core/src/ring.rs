//! A bounded first-in, first-out queue whose "full" is an outcome of the model, not an error.

/// A ring of at most a fixed number of entries. It takes memory for the longest queue that it ever held, not for
/// its capacity: a port's rings are long, and what stands in them is mostly short.
#[derive(Debug, Clone)]
pub struct Ring<T> {
    /// A power of two of them, or none yet.
    slots: Vec<T>,
    /// Slot of the oldest entry.
    first: usize,
    len: usize,
    capacity: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring for `capacity` entries.
    pub const fn new(capacity: usize) -> Self {
        Self { slots: Vec::new(), first: 0, len: 0, capacity }
    }

    /// Appends an entry; `false` when the ring is full and nothing was changed.
    #[must_use]
    #[inline]
    pub fn push(&mut self, entry: T) -> bool {
        if self.is_full() {
            return false;
        }
        if self.len == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len);
        self.slots[slot] = entry;
        self.len += 1;
        true
    }

    /// Twice the slots. They take no entry, so that one is written straight into its slot.
    #[cold]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        self.slots.resize((2 * self.slots.len()).max(4), T::default());
    }

    /// Slot of the entry `index` places behind the oldest.
    #[inline]
    fn slot(&self, index: usize) -> usize {
        (self.first + index) & self.slots.len().wrapping_sub(1)
    }

    /// Takes the oldest entry.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let entry = *self.get(0)?;
        self.first = self.slot(1);
        self.len -= 1;
        Some(entry)
    }

    /// The entry `index` places behind the oldest.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len { self.slots.get(self.slot(index)) } else { None }
    }

    /// The same entry, to change.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let slot = self.slot(index);
        if index < self.len { self.slots.get_mut(slot) } else { None }
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// No entries?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// No room?
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len >= self.capacity
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

    #[test]
    fn a_ring_grows_while_it_wraps() {
        let mut ring = Ring::new(100);
        assert!((0..3).all(|k| ring.push(k)) && ring.pop() == Some(0) && ring.pop() == Some(1));
        assert!((3..40).all(|k| ring.push(k)));
        assert!((2..40).all(|k| ring.pop() == Some(k)) && ring.is_empty());
    }
}
