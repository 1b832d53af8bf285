//! Speed and memory of nicsim, measured as ratios within one run: `cargo bench -p nicsim-benches --bench speed`.
