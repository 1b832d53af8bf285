//! Output files: written beside their place and renamed when all are complete, so that an interrupted or failed
//! run leaves no half-written file and no mixture of old and new ones.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// A folder of outputs in the making.
pub(crate) struct OutputFolder {
    folder: PathBuf,
    files: Vec<(String, NamedTempFile)>,
}

impl OutputFolder {
    /// Makes the folder if it is not there.
    pub(crate) fn create(folder: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(folder).map_err(|error| Failure::output(folder.display(), &error))?;
        Ok(Self { folder: folder.to_owned(), files: Vec::new() })
    }

    /// A temporary file in the folder.
    fn temporary(&self) -> Result<NamedTempFile, Failure> {
        let made = tempfile::Builder::new().prefix(".nicsim-").tempfile_in(&self.folder);
        made.map_err(|error| Failure::output(self.folder.display(), &error))
    }

    /// A file to be written bit by bit; hand it back with [`OutputFolder::keep`].
    pub(crate) fn writer(&self) -> Result<BufWriter<NamedTempFile>, Failure> {
        Ok(BufWriter::with_capacity(1 << 16, self.temporary()?))
    }

    /// Keeps a complete file as `name`.
    pub(crate) fn keep(&mut self, name: &str, file: NamedTempFile) {
        self.files.push((name.to_owned(), file));
    }

    /// Adds a file with this content.
    pub(crate) fn add(&mut self, name: &str, content: &str) -> Result<(), Failure> {
        let mut file = self.temporary()?;
        let written = file.write_all(content.as_bytes()).and_then(|()| file.flush());
        written.map_err(|error| self.error(name, &error))?;
        self.keep(name, file);
        Ok(())
    }

    /// An output error of file `name`.
    pub(crate) fn error(&self, name: &str, error: &std::io::Error) -> Failure {
        Failure::output(self.folder.join(name).display(), error)
    }

    /// Puts all files in their places.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        for (name, file) in self.files {
            let path = self.folder.join(&name);
            let persisted = file.persist(&path).map_err(|error| Failure::output(path.display(), &error.error))?;
            make_readable(&persisted).map_err(|error| Failure::output(path.display(), &error))?;
        }
        Ok(())
    }
}

/// Temporary files are private; outputs are as readable as other files.
#[cfg(unix)]
fn make_readable(file: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &fs::File) -> std::io::Result<()> {
    Ok(())
}
