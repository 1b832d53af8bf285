//! Progress on the terminal, and the signal to stop.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nicsim_scenarios::sweep::Watch;

use crate::failure::Failure;

/// Somebody wants the program to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// How often what was written is made to survive a loss of power.
const SYNC_EVERY: Duration = Duration::from_secs(2);

/// Watches a sweep from the terminal.
pub(super) struct Terminal<'a> {
    bar: ProgressBar,
    started: Instant,
    frames: AtomicU64,
    failed: AtomicU64,
    /// When records were last made safe [ms since the start].
    synced: AtomicU64,
    /// The error of the disk that ended the sweep: systems tell it once.
    sync_error: OnceLock<io::Error>,
    sync: &'a (dyn Fn() -> io::Result<()> + Sync),
}

impl<'a> Terminal<'a> {
    /// A bar over so many runs, or none; from now on Ctrl-C and a request to end stop the sweep between two records.
    pub(super) fn new(runs: u64, hidden: bool, sync: &'a (dyn Fn() -> io::Result<()> + Sync)) -> Result<Self, Failure> {
        listen()?;
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{bar:30} {human_pos}/{human_len} runs, {msg}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Ok(Self {
            bar: ProgressBar::with_draw_target(Some(runs), target).with_style(style),
            started: Instant::now(),
            frames: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            sync_error: OnceLock::new(),
            sync,
        })
    }

    /// Takes the bar away; an error if what was written could not be made safe.
    pub(super) fn finish(self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.sync_error.into_inner().map_or(Ok(()), Err)
    }

    fn tell(&self) {
        let rate = self.frames.load(Ordering::Relaxed) as f64 / self.started.elapsed().as_secs_f64().max(1e-3);
        let failed = self.failed.load(Ordering::Relaxed);
        self.bar.set_message(format!("{:.2} M frames/s, {failed} failed", rate / 1e6));
    }

    fn make_safe(&self) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.synced.load(Ordering::Relaxed);
        let due = now.saturating_sub(last) >= SYNC_EVERY.as_millis() as u64;
        if due
            && self.synced.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            && let Err(error) = (self.sync)()
        {
            self.sync_error.get_or_init(|| error);
        }
    }
}

impl Watch for Terminal<'_> {
    fn frames(&self, more: u64) {
        self.frames.fetch_add(more, Ordering::Relaxed);
    }

    fn done(&self, failed: bool, stored: bool) {
        self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
        self.bar.inc(1);
        if !self.bar.is_hidden() {
            self.tell();
        }
        if !stored {
            self.make_safe();
        }
    }

    fn left_out(&self) {
        self.bar.inc(1);
    }

    fn goes_on(&self) -> bool {
        !STOP.load(Ordering::Relaxed) && self.sync_error.get().is_none()
    }
}

/// Hears Ctrl-C and requests to end (SIGINT, SIGTERM, SIGHUP), once per process. A second one ends it at once: records
/// are safe at any moment.
fn listen() -> Result<(), Failure> {
    static HEARD: OnceLock<Result<(), String>> = OnceLock::new();
    let heard = HEARD.get_or_init(|| {
        ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })
        .map_err(|error| error.to_string())
    });
    heard.clone().map_err(|error| Failure::input(format!("signals cannot be heard: {error}")))
}
