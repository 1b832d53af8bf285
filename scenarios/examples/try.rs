//! scratch
#![allow(clippy::all, missing_docs)]
use nicsim_core::sink::Null;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let load = |n: &str| std::fs::read_to_string(n).map_err(|e| e.to_string());
    let scenario =
        nicsim_scenarios::scenario::Scenario::open(&args[0], &args[2..], &load).unwrap_or_else(|e| panic!("{e}"));
    for seed in 1..=args[1].parse::<u64>().unwrap() {
        let t = std::time::Instant::now();
        let o = nicsim_scenarios::run::run(
            &scenario,
            nicsim_scenarios::run::RunOptions { seed, ..Default::default() },
            &mut Null,
            &mut |_| true,
        )
        .unwrap();
        let el = t.elapsed();
        println!(
            "seed {seed} {:?} {:?} {:?} ns/frame {:.1}",
            o.report.counts,
            o.report.stamps,
            el,
            el.as_nanos() as f64 / scenario.frames() as f64
        );
        for (n, m) in &o.report.metrics {
            let s = &m.summary;
            println!(
                "  {n:22} n {} mean {:.4} std {:.3} min {:.2} max {:.2} range {:.2} w {:.2} lag1 {:.3}",
                s.count,
                s.mean_ns.unwrap_or(f64::NAN),
                s.std_ns.unwrap_or(f64::NAN),
                s.min_ns.unwrap_or(f64::NAN),
                s.max_ns.unwrap_or(f64::NAN),
                s.range_ns.unwrap_or(f64::NAN),
                s.p99_5_ns.unwrap_or(0.) - s.p0_5_ns.unwrap_or(0.),
                s.lag1.unwrap_or(f64::NAN)
            );
        }
    }
}
