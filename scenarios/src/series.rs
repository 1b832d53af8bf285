//! A quantity over the frame number, reduced to one minimum and one maximum per column of a plot.

/// At most this many columns.
const COLUMNS: u64 = 1_200;

/// A reduced series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The metric.
    pub metric: String,
    /// Frames per column.
    pub per_column: u64,
    /// Smallest and largest value of each column \[ns\]; `None` where it has none.
    pub columns: Vec<Option<(f64, f64)>>,
}

impl Series {
    /// An empty series over `frames` frames.
    pub fn new(metric: &str, frames: u64) -> Self {
        let per_column = frames.div_ceil(COLUMNS).max(1);
        Self { metric: metric.to_owned(), per_column, columns: vec![None; frames.div_ceil(per_column) as usize] }
    }

    /// Takes the value of a frame \[ns\].
    pub fn take(&mut self, frame: u64, value: f64) {
        if let Some(column) = self.columns.get_mut((frame / self.per_column) as usize) {
            let (low, high) = column.unwrap_or((value, value));
            *column = Some((low.min(value), high.max(value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_every_extreme() {
        let mut series = Series::new("wire_interval", 12_000);
        (0..12_000).for_each(|frame| series.take(frame, (frame % 100) as f64));
        series.take(5, -7.0);
        assert_eq!(series.columns.len(), 1_200);
        assert_eq!(series.columns[0], Some((-7.0, 9.0)));
        assert_eq!(series.columns[9], Some((90.0, 99.0)));
    }
}
