//! The folder of a sweep: what is kept while it runs, and the results when it is done.
//!
//! | file | holds |
//! |---|---|
//! | `sweep.json` | what the results depend on, the part, the columns |
//! | `rows.bin`, `errors.bin` | records as they come in (`nicsim_scenarios::sweep::store`) |
//! | `results.csv`, `results.parquet` | the table, when all runs are done |
//! | `report.html`, `*.svg` | its page and the pictures on it |
//! | `sweep.log` | times, host, threads and memory, one JSON object per line: nothing that results depend on |
//! | `lock` | locked while a process writes into the folder; the system unlocks it when that ends, however it ends |

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use nicsim_scenarios::sweep::{Column, Definition, End, Shard, Storage, Store, Survey, Sweep, table};
use nicsim_scenarios::view::{self, Pictures, SweepHead};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::OutputFolder;

const MANIFEST: &str = "sweep.json";
const ROWS: &str = "rows.bin";
const ERRORS: &str = "errors.bin";
pub(super) const CSV: &str = "results.csv";
const PARQUET: &str = "results.parquet";
const REPORT: &str = "report.html";
const LOG: &str = "sweep.log";
const LOCK: &str = "lock";

/// `sweep.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Manifest {
    #[serde(flatten)]
    pub(super) definition: Definition,
    /// Digest of the definition.
    pub(super) hash: String,
    /// Number of points, those that the constraints leave out included.
    pub(super) points: u64,
    /// Runs per point.
    pub(super) repeat: u64,
    /// The part that is in this folder.
    pub(super) shard: Shard,
    /// Columns of the results.
    pub(super) columns: Vec<Column>,
}

impl Manifest {
    fn new(sweep: &Sweep, shard: Shard) -> Self {
        Self {
            definition: sweep.definition().clone(),
            hash: format!("{:016x}", sweep.hash()),
            points: sweep.plan().points(),
            repeat: sweep.plan().repeat(),
            shard,
            columns: table::columns(sweep),
        }
    }

    /// Reads the manifest of a folder; none where the folder has none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::input(format!("{}: cannot be read: {error}", path.display()))),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            Failure::input(format!(
                "{}: this is no sweep of this version of nicsim ({error}); name the folder of a sweep that this version wrote, or an empty one for --out",
                path.display()
            ))
        })
    }
}

/// A file of records.
#[derive(Debug)]
pub(super) struct Records(File);

#[cfg(unix)]
impl Storage for Records {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;
        read_fully(buffer, offset, |buffer, offset| self.0.read_at(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        self.0.write_all_at(bytes, offset)
    }
}

#[cfg(windows)]
impl Storage for Records {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::os::windows::fs::FileExt;
        read_fully(buffer, offset, |buffer, offset| self.0.seek_read(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        let mut written = 0;
        while written < bytes.len() {
            match self.0.seek_write(&bytes[written..], offset + written as u64)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                more => written += more,
            }
        }
        Ok(())
    }
}

/// Reads until the buffer is full or the file ends.
fn read_fully(buffer: &mut [u8], offset: u64, read: impl Fn(&mut [u8], u64) -> io::Result<usize>) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match read(&mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// A folder that this process has for itself.
pub(super) struct SweepFolder {
    path: PathBuf,
    store: Store<Records>,
    started: Instant,
    /// Unlocked when it is dropped, or when the process dies.
    _lock: File,
}

impl SweepFolder {
    /// Opens a folder to run `shard` of `sweep` into it; what is there already must belong to it, and be meant (`resume`).
    pub(super) fn open(path: &Path, sweep: &Sweep, shard: Shard, resume: bool) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| Failure::output(path.display(), &error))?;
        let lock = lock(path)?;
        match Manifest::read(path)? {
            Some(_) if !resume => {
                return Err(Failure::input(format!(
                    "{}: there is a sweep already; go on with it by --resume, or choose another --out",
                    path.display()
                )));
            }
            Some(kept) => check_same(path, &kept, sweep, shard)?,
            None => write_manifest(path, sweep, shard)?,
        }
        let store = open_store(path, sweep, shard)?;
        Ok(Self { path: path.to_owned(), store, started: Instant::now(), _lock: lock })
    }

    /// Its records.
    pub(super) fn store(&self) -> &Store<Records> {
        &self.store
    }

    /// Sees to it that what was written survives a loss of power.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.store.storage().into_iter().try_for_each(|file| file.0.sync_data())
    }

    /// A write failed while the sweep ran.
    pub(super) fn cut_short(&self, error: &io::Error) -> Failure {
        Failure::Output(anyhow::anyhow!(
            "{}: {error}; all runs that were done until then are kept there, and the same command with --resume goes on when there is room",
            self.path.join(ROWS).display()
        ))
    }

    /// Writes the results: all or none.
    pub(super) fn finish(&self, sweep: &Sweep) -> Result<(), Failure> {
        self.sync().map_err(|error| self.cut_short(&error))?;
        let mut outputs = OutputFolder::create(&self.path)?;
        let columns = table::columns(sweep);
        let rows = || table::rows(sweep, &self.store);
        let failed = |name: &str, error: io::Error| {
            Failure::Output(anyhow::anyhow!(
                "{}: {error}; all runs are kept in {ROWS}, and the same command with --resume writes the results when there is room",
                self.path.join(name).display()
            ))
        };
        let csv = table::write_csv(&columns, rows(), outputs.writer()?).and_then(whole);
        outputs.keep(CSV, csv.map_err(|error| failed(CSV, error))?);
        let parquet =
            table::write_parquet(&columns, &table::provenance(sweep), rows(), outputs.writer()?).and_then(whole);
        outputs.keep(PARQUET, parquet.map_err(|error| failed(PARQUET, error))?);
        let survey = Survey::of(&columns, rows).map_err(|error| failed(REPORT, error))?;
        let head = SweepHead::of(sweep, self.store.layout().shard);
        add_pictures(&mut outputs, &view::sweep(&survey, &head), &failed)?;
        outputs.commit()
    }

    /// Tells the log that work begins.
    pub(super) fn log_start(&self, threads: usize) -> Result<(), Failure> {
        self.log(&serde_json::json!({
            "event": "start",
            "unix_s": unix_seconds(),
            "host": host(),
            "process": std::process::id(),
            "threads": threads,
            "version": env!("CARGO_PKG_VERSION"),
        }))
    }

    /// Tells the log that work ended.
    pub(super) fn log_end(&self, end: &End) -> Result<(), Failure> {
        self.log(&serde_json::json!({
            "event": if end.stopped { "interrupted" } else { "done" },
            "unix_s": unix_seconds(),
            "took_s": self.started.elapsed().as_secs_f64(),
            "runs": end.stored - end.stored_before,
            "runs_from_before": end.stored_before,
            "failed": end.failed,
            "peak_memory_bytes": peak_memory(),
        }))
    }

    fn log(&self, entry: &serde_json::Value) -> Result<(), Failure> {
        let path = self.path.join(LOG);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(format!("{entry}\n").as_bytes()));
        written.map_err(|error| self.cut_short_at(&path, &error))
    }

    fn cut_short_at(&self, path: &Path, error: &io::Error) -> Failure {
        Failure::Output(anyhow::anyhow!(
            "{}: {error}; nothing that was run is lost, and the same command with --resume goes on",
            path.display()
        ))
    }
}

/// Adds a page and its pictures; `failed` says what a write error means.
fn add_pictures(
    outputs: &mut OutputFolder,
    pictures: &Pictures,
    failed: &dyn Fn(&str, io::Error) -> Failure,
) -> Result<(), Failure> {
    let page = (REPORT.to_owned(), view::page(&pictures.page));
    for (name, content) in pictures.files.iter().chain([&page]) {
        let mut writer = outputs.writer()?;
        let written = writer.write_all(content.as_bytes()).and_then(|()| whole(writer));
        outputs.keep(name, written.map_err(|error| failed(name, error))?);
    }
    Ok(())
}

/// The file below a buffer, everything written.
fn whole(writer: BufWriter<tempfile::NamedTempFile>) -> io::Result<tempfile::NamedTempFile> {
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}

fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| Failure::output(path.display(), &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::input(format!(
            "{}: another nicsim is sweeping into this folder; wait for it to end, or choose another --out",
            folder.display()
        ))),
        Err(TryLockError::Error(error)) => Err(Failure::output(path.display(), &error)),
    }
}

fn check_same(folder: &Path, kept: &Manifest, sweep: &Sweep, shard: Shard) -> Result<(), Failure> {
    let mut differences = kept.definition.differences(sweep.definition());
    if kept.shard != shard {
        differences.push(format!("it is part {}, here --shard asks for {shard}", kept.shard));
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{}: this is another sweep, and their results are not mixed: {}; choose another --out",
        folder.display(),
        differences.join("; ")
    )))
}

fn write_manifest(folder: &Path, sweep: &Sweep, shard: Shard) -> Result<(), Failure> {
    let mut outputs = OutputFolder::create(folder)?;
    outputs.add(MANIFEST, &crate::list::json(&Manifest::new(sweep, shard))?)?;
    outputs.commit()
}

fn open_store(folder: &Path, sweep: &Sweep, shard: Shard) -> Result<Store<Records>, Failure> {
    let file = |name: &str| {
        let path = folder.join(name);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        file.map(Records).map_err(|error| Failure::output(path.display(), &error))
    };
    Ok(Store::new(file(ROWS)?, file(ERRORS)?, super::layout(sweep, shard)))
}

/// Opens the records of a folder to read them.
pub(super) fn open_to_read(folder: &Path, sweep: &Sweep, shard: Shard) -> Result<Store<Records>, Failure> {
    let file = |name: &str| {
        let path = folder.join(name);
        File::open(&path)
            .map(Records)
            .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))
    };
    Ok(Store::new(file(ROWS)?, file(ERRORS)?, super::layout(sweep, shard)))
}

/// Locks a folder against writers while it is read; a folder that cannot be written into needs none.
pub(super) fn lock_to_read(folder: &Path) -> Result<Option<File>, Failure> {
    match lock(folder) {
        Ok(lock) => Ok(Some(lock)),
        Err(Failure::Output(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("COMPUTERNAME").or_else(|_| std::env::var("HOSTNAME")).ok())
        .map_or_else(|| "unknown".to_owned(), |name| name.trim().to_owned())
}

/// Most memory that this process held \[bytes\], where the system tells it.
pub(super) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib << 10)
}
