//! Built-in NICs and instruments: the files under `nics/` and `instruments/`, collected when the crate is built.

use crate::spec::{self, InstrumentSpec, NicSpec, SpecError, SpecFile};

const NICS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/nics.rs"));
const INSTRUMENTS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/instruments.rs"));

/// A name that no built-in file has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no built-in {kind} `{name}`{hint}; the built-in ones are {known}")]
pub struct NotFound {
    kind: &'static str,
    name: String,
    hint: String,
    known: String,
}

fn find(kind: &'static str, files: &[(&'static str, &'static str)], name: &str) -> Result<&'static str, NotFound> {
    files.iter().find(|file| file.0 == name).map(|file| file.1).ok_or_else(|| NotFound {
        kind,
        name: name.to_owned(),
        hint: spec::near(name, files.iter().map(|file| file.0)),
        known: files.iter().map(|file| file.0).collect::<Vec<_>>().join(", "),
    })
}

/// Names of the built-in NICs.
pub fn nic_names() -> impl Iterator<Item = &'static str> {
    NICS.iter().map(|file| file.0)
}

/// Names of the built-in instruments.
pub fn instrument_names() -> impl Iterator<Item = &'static str> {
    INSTRUMENTS.iter().map(|file| file.0)
}

/// Text of the NIC file `name`.
///
/// # Errors
/// [`NotFound`] lists what there is.
pub fn nic_text(name: &str) -> Result<&'static str, NotFound> {
    find("NIC", NICS, name)
}

/// Text of the instrument file `name`.
///
/// # Errors
/// [`NotFound`] lists what there is.
pub fn instrument_text(name: &str) -> Result<&'static str, NotFound> {
    find("instrument", INSTRUMENTS, name)
}

/// Reads and checks the text of a NIC file.
///
/// # Errors
/// [`SpecError`] with the place and the remedy.
pub fn read_nic(file: &SpecFile) -> Result<NicSpec, SpecError> {
    let nic: NicSpec = file.typed()?;
    nic.check()?;
    Ok(nic)
}

/// Reads the text of an instrument file.
///
/// # Errors
/// [`SpecError`] with the place and the remedy.
pub fn read_instrument(file: &SpecFile) -> Result<InstrumentSpec, SpecError> {
    file.typed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_file_is_right_and_says_where_its_numbers_come_from() {
        for name in nic_names() {
            let file = SpecFile::parse(name, nic_text(name).unwrap()).unwrap();
            let nic = read_nic(&file).unwrap();
            assert_eq!(nic.name, name);
            assert!(file.parameters().iter().all(|p| !p.cite.is_empty()), "{name}");
            assert!(crate::driver::LIST.iter().any(|entry| entry.nics.contains(&name)), "{name} has a driver");
        }
        for name in instrument_names() {
            let file = SpecFile::parse(name, instrument_text(name).unwrap()).unwrap();
            assert_eq!(read_instrument(&file).unwrap().name, name);
        }
    }

    #[test]
    fn a_name_that_does_not_exist_gets_near_ones() {
        let error = nic_text("e83").unwrap_err().to_string();
        assert!(error.starts_with("there is no built-in NIC `e83`; near it are `e830`"), "{error}");
    }

    #[test]
    fn overrides_are_marked_and_unknown_paths_refused() {
        let mut file = SpecFile::parse("e830", nic_text("e830").unwrap()).unwrap();
        file.override_with(&toml::toml! { fetch.latency = { constant = "2us" } }).unwrap();
        let latency = file.parameters().into_iter().find(|p| p.path == "fetch.latency").unwrap();
        assert_eq!((latency.source, latency.value.as_str()), (crate::spec::Source::Scenario, "{ constant = \"2us\" }"));
        let path = toml::toml! { jitter."poll-51.2-locked".release = { before = { constant = "0ns" } } };
        file.override_with(&path).unwrap();
        assert!(
            file.parameters()
                .iter()
                .any(|p| p.path == "jitter.poll-51.2-locked.release" && p.cite == "set by the scenario")
        );
        let error = file.override_with(&toml::toml! { fetch.latenzy = "2us" }).unwrap_err().to_string();
        assert_eq!(error, "e830 has no parameter `fetch.latenzy`; near it are `fetch.latency`");
    }
}
