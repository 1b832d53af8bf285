//! Plots and pages of runs and analyses, into an output folder.

use nicsim_validate::analyse::Analysis;

use crate::failure::Failure;
use crate::files::OutputFolder;

/// The page of an analysed capture.
pub(crate) fn analysis(_: &Analysis, _: &mut OutputFolder) -> Result<(), Failure> {
    Ok(())
}
