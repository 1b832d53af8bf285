//! A scenario resolved: every name looked up, every value checked, everything that a run needs.

use std::cell::RefCell;

use nicsim_core::noise::{NoiseError, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::sink::Fingerprint;
use nicsim_core::time::{SimTime, Span};
use nicsim_models::driver;
use nicsim_models::mac::{self, Speed};
use nicsim_models::nic::{ClockAction, NicSetup};
use nicsim_models::observer::ObserverParameters;
use nicsim_models::oscillator::OscillatorSpec;
use nicsim_models::phc::{scaled_ppm_of_ppb, whole_ns};
use nicsim_models::registry;
use nicsim_models::sender::{PhyParameters, SenderParameters};
use nicsim_models::source::{StreamSetup, Timing};
use nicsim_models::spec::{FRAME_SIZES, InstrumentSpec, NicSpec, Parameter, Source, SpecFile, near};
use nicsim_models::world::{KernelKind, ObserverSetup, SenderSetup, WorldSetup};

use crate::file::{ClockSection, From, NicSection, ScenarioError, ScenarioFile, StreamSection};
use crate::library;
use crate::metric::{self, Metric};

/// The seed of a run that names none.
pub const DEFAULT_SEED: u64 = 1;

/// The latest instant of a scenario: 26 days, so that sums of instants stay within 64 bits.
const HORIZON: Span = Span::from_ps(1 << 61);

/// Gives the text of a file that a scenario names.
pub type Loader<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A scenario that can be run.
#[derive(Clone)]
pub struct Scenario {
    /// The file as it was understood.
    pub file: ScenarioFile,
    /// Digest of the file and of the NIC and instrument files that it uses.
    pub hash: String,
    /// Parameters of those that this scenario uses.
    pub parameters: Vec<Parameter>,
    /// What a world is made of; seed, run and kernel are the caller's.
    pub setup: WorldSetup,
    /// Metrics whose parts exist, in the list's order.
    pub metrics: Vec<&'static Metric>,
}

impl Scenario {
    /// Reads a built-in scenario or, where no such name exists, a file; applies settings; resolves.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place and the remedy.
    pub fn open(name: &str, sets: &[String], load: Loader<'_>) -> Result<Self, ScenarioError> {
        Self::resolve(ScenarioFile::parse(name, &Self::text(name, load)?, sets)?, load)
    }

    /// Text of a built-in scenario or, where no such name exists, of a file.
    ///
    /// # Errors
    /// [`ScenarioError`] when there is neither.
    pub fn text(name: &str, load: Loader<'_>) -> Result<String, ScenarioError> {
        match library::text(name) {
            Ok(text) => Ok(text.to_owned()),
            Err(reason) if !looks_like_a_path(name) => Err(ScenarioError::new(name, reason)),
            Err(_) => load(name).map_err(|reason| ScenarioError::new(name, reason)),
        }
    }

    /// Checks and resolves a scenario file.
    ///
    /// # Errors
    /// [`ScenarioError`] with the key and the remedy.
    pub fn resolve(file: ScenarioFile, load: Loader<'_>) -> Result<Self, ScenarioError> {
        // Whatever the run depends on goes into the digest: the scenario, and every file that it names.
        let digest = RefCell::new(Fingerprint::default());
        let digested = |text: &str| add_text(&mut digest.borrow_mut(), text);
        digested(&file.to_toml()?);
        let scenario = Self::build(file, load, &digested, None)?;
        Ok(Self { hash: format!("{:016x}", digest.borrow().value()), ..scenario })
    }

    /// Resolves a file of which parts may be equal to this scenario's: a card, a sender or an instrument with the same keys
    /// is taken over instead of being read again, which makes many points cheap. The digest and the parameters, which only
    /// reports of single runs tell, are left out.
    ///
    /// # Errors
    /// Those of [`Scenario::resolve`].
    pub fn variant(&self, file: ScenarioFile, load: Loader<'_>) -> Result<Self, ScenarioError> {
        Self::build(file, load, &|_| {}, Some(self))
    }

    /// The scenario without its digest, which `digested` collects; what does not differ from `like` comes from there.
    fn build(
        file: ScenarioFile,
        load: Loader<'_>,
        digested: &dyn Fn(&str),
        like: Option<&Self>,
    ) -> Result<Self, ScenarioError> {
        let load_and_digest = |name: &str| load(name).inspect(|text| digested(text));
        let load: Loader<'_> = &load_and_digest;
        let mut parameters = Vec::new();
        if file.stream.is_empty() {
            return Err(ScenarioError::new(&file.name, "there is no [[stream]]; write at least one"));
        }
        let same_nic = like.filter(|like| like.file.nic == file.nic && like.file.clock == file.clock);
        let nic = match &file.nic {
            Some(_) if same_nic.is_some() => same_nic.and_then(|like| like.setup.nic.clone()),
            Some(section) => Some(resolve_nic(section, &file, load, digested, &mut parameters)?),
            None if !file.clock.is_empty() => {
                return Err(ScenarioError::new(
                    "clock",
                    "there is no [nic] whose clock could be changed; leave [[clock]] out",
                ));
            }
            None => None,
        };
        let sender = match like.filter(|like| like.file.sender == file.sender) {
            Some(like) => {
                like.setup.sender.as_ref().map(|sender| SenderSetup { streams: Vec::new(), ..sender.clone() })
            }
            None => resolve_sender(&file, load, digested, &mut parameters)?,
        };
        let sender = sender.map(|sender| (sender.parameters.speed, sender));
        if let (Some(nic), Some((speed, _))) = (&nic, &sender)
            && nic.speed != *speed
        {
            let reason =
                format!("the sender runs at {speed} and the NIC at {}; both ends of a cable have one speed", nic.speed);
            return Err(ScenarioError::new("sender.kind", reason));
        }
        let observer = match like.filter(|like| like.file.observer == file.observer) {
            Some(like) => like.setup.observer.clone(),
            None => resolve_observer(&file, load, digested, &mut parameters)?,
        };
        let mut streams = [Vec::new(), Vec::new()];
        for (index, section) in file.stream.iter().enumerate() {
            let speed = match section.from {
                From::Sender => sender.as_ref().map(|(speed, _)| *speed),
                From::Nic | From::External => nic.as_ref().map(|nic| nic.speed),
            };
            let stream = resolve_stream(section, index, speed, &file, nic.as_ref(), load)?;
            streams[usize::from(section.from == From::Sender)].push(stream);
        }
        let [own, sent] = streams;
        check_line(&file, nic.as_ref().map(|nic| nic.speed), &own, "the NIC")?;
        check_line(&file, sender.as_ref().map(|sender| sender.0), &sent, "the sender")?;
        let setup = WorldSetup {
            seed: DEFAULT_SEED,
            run: 0,
            kernel: KernelKind::Slots,
            nic,
            streams: own,
            sender: sender.map(|(_, sender)| SenderSetup { streams: sent, ..sender }),
            observer,
            link_delay: file.link.as_ref().map_or(Span::ZERO, |link| link.delay),
        };
        if setup.link_delay < Span::ZERO || setup.link_delay > Span::from_ns(1_000_000_000) {
            return Err(ScenarioError::new("link.delay", "it must lie between 0s and 1s"));
        }
        parameters.retain(|parameter| is_used(parameter, &setup));
        let metrics = choose_metrics(&file, &setup)?;
        Ok(Self { hash: String::new(), file, parameters, setup, metrics })
    }

    /// Names of the streams in the order of their numbers on the line: those of the NIC, then those of the sender.
    pub fn stream_setups(&self) -> impl Iterator<Item = &StreamSetup> {
        self.setup.streams.iter().chain(self.setup.sender.iter().flat_map(|sender| &sender.streams))
    }

    /// Number of frames of all streams.
    pub fn frames(&self) -> u64 {
        self.stream_setups().map(|stream| stream.frames).sum()
    }

    /// Does some stream wait for frames from outside?
    pub fn needs_frames_from_outside(&self) -> bool {
        self.setup.streams.iter().any(|stream| stream.timing == Timing::External)
    }
}

fn looks_like_a_path(name: &str) -> bool {
    name.ends_with(".toml") || name.starts_with(['.', '/']) || name.contains('\\')
}

fn add_text(digest: &mut Fingerprint, text: &str) {
    digest.add(text.len() as u64);
    text.bytes().for_each(|byte| digest.add(u64::from(byte)));
}

/// Text of a built-in file, or of the file at a path.
fn text_of<E: std::fmt::Display>(
    key: &str,
    name: &str,
    built_in: Result<&'static str, E>,
    load: Loader<'_>,
) -> Result<String, ScenarioError> {
    match built_in {
        Ok(text) => Ok(text.to_owned()),
        Err(error) if !looks_like_a_path(name) => {
            Err(ScenarioError::new(key, format!("{error}; a path to a file works too")))
        }
        Err(_) => load(name).map_err(|reason| ScenarioError::new(key, format!("{name}: {reason}"))),
    }
}

fn at<'a, E: std::fmt::Display>(key: impl Into<String> + 'a) -> impl FnOnce(E) -> ScenarioError + 'a {
    move |error| ScenarioError::new(key, error.to_string())
}

/// Reads `recorded` files of a noise expression and checks that it can be sampled.
fn ready_noise(key: &str, noise: &mut NoiseSpec, load: Loader<'_>) -> Result<(), ScenarioError> {
    noise.load_files(&mut |name: &str| {
        let text = load(name).map_err(|reason| ScenarioError::new(key, format!("{name}: {reason}")))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        lines.map(|(number, line)| line.trim().parse::<Span>().map_err(at(format!("{name}:{}", number + 1)))).collect()
    })?;
    nicsim_core::noise::Noise::new(noise, Key::root(0, 0)).map_err(at::<NoiseError>(key))?;
    Ok(())
}

fn resolve_nic(
    section: &NicSection,
    file: &ScenarioFile,
    load: Loader<'_>,
    digested: &dyn Fn(&str),
    parameters: &mut Vec<Parameter>,
) -> Result<NicSetup, ScenarioError> {
    let text = text_of("nic.model", &section.model, registry::nic_text(&section.model), load)?;
    let mut tree = SpecFile::parse(&section.model, &text).map_err(at("nic.model"))?;
    tree.override_with(&section.parameters).map_err(at("nic.parameters"))?;
    let mut spec = registry::read_nic(&tree).map_err(at("nic.model"))?;
    digested(&tree.to_toml());
    ready_nic_noise(&mut spec, load)?;
    let entry = driver::find(&section.driver).ok_or_else(|| {
        let hint = near(&section.driver, driver::names());
        let known = driver::names().collect::<Vec<_>>().join(", ");
        ScenarioError::new(
            "nic.driver",
            format!("there is no driver `{}`{hint}; the drivers are {known}", section.driver),
        )
    })?;
    let known_card = driver::LIST.iter().any(|entry| entry.nics.contains(&spec.name.as_str()));
    if known_card && !entry.nics.contains(&spec.name.as_str()) {
        let fitting: Vec<_> =
            driver::LIST.iter().filter(|e| e.nics.contains(&spec.name.as_str())).map(|e| e.name).collect();
        let reason =
            format!("`{}` does not drive the {}; its drivers are {}", entry.name, spec.name, fitting.join(", "));
        return Err(ScenarioError::new("nic.driver", reason));
    }
    let ring_len = section.ring.unwrap_or(spec.queue.default_ring.value);
    if !(1..=spec.queue.max_ring.value).contains(&ring_len) {
        let reason = format!(
            "{ring_len} is out of range; the {} takes 1 to {} descriptors",
            spec.name, spec.queue.max_ring.value
        );
        return Err(ScenarioError::new("nic.ring", reason));
    }
    let prefix = |parameter: Parameter| Parameter { path: format!("{}.{}", spec.name, parameter.path), ..parameter };
    parameters.extend(tree.parameters().into_iter().map(prefix));
    Ok(NicSetup {
        jitter: jitter_index(&spec, section.jitter.as_deref())?,
        driver: entry,
        speed: speed_of(&spec, section.speed)?,
        ring_len,
        phc_start_ns: section.phc_start.0,
        oscillator: OscillatorSpec { offset: section.offset, drift_per_second: section.drift_per_second },
        clock_actions: clock_actions(&file.clock, &spec)?,
        spec,
    })
}

fn ready_nic_noise(spec: &mut NicSpec, load: Loader<'_>) -> Result<(), ScenarioError> {
    ready_noise("fetch.latency", &mut spec.fetch.latency.value, load)?;
    if let Some(stamps) = &mut spec.tx_stamp {
        ready_noise("tx_stamp.jitter", &mut stamps.jitter.value, load)?;
    }
    if let Some(stamps) = &mut spec.rx_stamp {
        ready_noise("rx_stamp.jitter", &mut stamps.jitter.value, load)?;
    }
    for jitter in &mut spec.jitter {
        ready_noise("jitter.before", &mut jitter.release.value.before, load)?;
        ready_noise("jitter.after", &mut jitter.release.value.after, load)?;
    }
    Ok(())
}

fn jitter_index(spec: &NicSpec, wanted: Option<&str>) -> Result<usize, ScenarioError> {
    let Some(wanted) = wanted else {
        return Ok(0);
    };
    spec.jitter.iter().position(|jitter| jitter.name == wanted).ok_or_else(|| {
        let known: Vec<&str> = spec.jitter.iter().map(|jitter| jitter.name.as_str()).collect();
        let hint = near(wanted, known.iter().copied());
        let reason =
            format!("the {} has no release jitter `{wanted}`{hint}; it has {}", spec.name, list_or_none(&known));
        ScenarioError::new("nic.jitter", reason)
    })
}

fn list_or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn speed_of(spec: &NicSpec, wanted: Option<Speed>) -> Result<Speed, ScenarioError> {
    let speeds = &spec.mac.speeds.value;
    match wanted {
        Some(speed) if !speeds.contains(&speed) => {
            let known: Vec<String> = speeds.iter().map(Speed::to_string).collect();
            let reason = format!("the {} does not run at {speed}; it runs at {}", spec.name, known.join(", "));
            Err(ScenarioError::new("nic.speed", reason))
        }
        Some(speed) => Ok(speed),
        None => speeds.first().copied().ok_or_else(|| ScenarioError::new("nic.speed", "the NIC file names no speed")),
    }
}

fn clock_actions(sections: &[ClockSection], spec: &NicSpec) -> Result<Vec<(SimTime, ClockAction)>, ScenarioError> {
    let mut actions = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        let key = |name: &str| format!("clock.{index}.{name}");
        let action = match (section.adjfine, section.adjtime, section.settime) {
            (Some(rate), None, None) => {
                let ppb = (rate.ppm() * 1_000.0).round() as i64;
                if ppb.unsigned_abs() > u64::from(spec.phc.max_adj.value) {
                    let reason = format!("{rate} is beyond the PHC's ±{} ppb", spec.phc.max_adj.value);
                    return Err(ScenarioError::new(key("adjfine"), reason));
                }
                ClockAction::Adjfine(scaled_ppm_of_ppb(ppb))
            }
            (None, Some(delta), None) => ClockAction::Adjtime(whole_ns(delta)),
            (None, None, Some(reading)) => ClockAction::Settime(reading.0),
            _ => {
                let reason = "write exactly one of adjfine, adjtime and settime";
                return Err(ScenarioError::new(format!("clock.{index}"), reason));
            }
        };
        if section.at < Span::ZERO || section.at > HORIZON {
            return Err(ScenarioError::new(
                key("at"),
                format!("{} is out of range; it must lie between 0s and 26 days", section.at),
            ));
        }
        actions.push((SimTime::ZERO + section.at, action));
    }
    actions.sort_by_key(|action| action.0);
    Ok(actions)
}

fn instrument(
    key: &str,
    name: &str,
    load: Loader<'_>,
    digested: &dyn Fn(&str),
    parameters: &mut Vec<Parameter>,
) -> Result<InstrumentSpec, ScenarioError> {
    let text = text_of(key, name, registry::instrument_text(name), load)?;
    let tree = SpecFile::parse(name, &text).map_err(at(key))?;
    let mut spec = registry::read_instrument(&tree).map_err(at(key))?;
    digested(&tree.to_toml());
    for jitter in [&mut spec.capture_jitter, &mut spec.phy_jitter].into_iter().flatten() {
        ready_noise(key, &mut jitter.value, load)?;
    }
    let prefix = |parameter: Parameter| Parameter { path: format!("{}.{}", spec.name, parameter.path), ..parameter };
    for parameter in tree.parameters().into_iter().map(prefix) {
        if !parameters.iter().any(|known| known.path == parameter.path) {
            parameters.push(parameter);
        }
    }
    Ok(spec)
}

fn resolve_sender(
    file: &ScenarioFile,
    load: Loader<'_>,
    digested: &dyn Fn(&str),
    parameters: &mut Vec<Parameter>,
) -> Result<Option<SenderSetup>, ScenarioError> {
    let Some(section) = &file.sender else {
        return Ok(None);
    };
    let spec = instrument("sender.kind", &section.kind, load, digested, parameters)?;
    let phy = match (section.phy_offset, spec.phy_word, spec.phy_jitter) {
        (None, ..) => None,
        (Some(rate), Some(word), Some(jitter)) => Some(PhyParameters { word: word.value, rate, jitter: jitter.value }),
        _ => {
            let reason =
                format!("`{}` describes no PHY of its own (phy_word and phy_jitter); leave this out", spec.name);
            return Err(ScenarioError::new("sender.phy_offset", reason));
        }
    };
    let parameters = SenderParameters { clock: spec.tick.map(|tick| tick.value), speed: spec.speed.value, phy };
    let oscillator = OscillatorSpec { offset: section.offset, drift_per_second: section.drift_per_second };
    Ok(Some(SenderSetup { parameters, oscillator, streams: Vec::new() }))
}

fn resolve_observer(
    file: &ScenarioFile,
    load: Loader<'_>,
    digested: &dyn Fn(&str),
    parameters: &mut Vec<Parameter>,
) -> Result<Option<ObserverSetup>, ScenarioError> {
    let Some(section) = &file.observer else {
        return Ok(None);
    };
    let spec = instrument("observer.kind", &section.kind, load, digested, parameters)?;
    let Some(tick) = spec.tick else {
        let reason = format!("`{}` captures nothing; use efcc-10g or efcc-1g", spec.name);
        return Err(ScenarioError::new("observer.kind", reason));
    };
    let jitter = spec.capture_jitter.map_or(NoiseSpec::NONE, |jitter| jitter.value);
    Ok(Some(ObserverSetup {
        parameters: ObserverParameters { tick: tick.value, jitter },
        oscillator: OscillatorSpec { offset: section.offset, drift_per_second: section.drift_per_second },
    }))
}

fn resolve_stream(
    section: &StreamSection,
    index: usize,
    speed: Option<Speed>,
    file: &ScenarioFile,
    nic: Option<&NicSetup>,
    load: Loader<'_>,
) -> Result<StreamSetup, ScenarioError> {
    let error = |name: &str, reason: String| Err(ScenarioError::new(format!("stream.{index}.{name}"), reason));
    let Some(speed) = speed else {
        let section = if section.from == From::Sender { "[sender]" } else { "[nic]" };
        return error("from", format!("the scenario has no {section} to send this stream"));
    };
    let size = section.size.0;
    if !FRAME_SIZES.contains(&size) {
        let reason = format!(
            "{size}B is no frame size; a frame with FCS has {} to {} bytes",
            FRAME_SIZES.start(),
            FRAME_SIZES.end()
        );
        return error("size", reason);
    }
    if section.frames == 0 || section.frames > 1 << 48 {
        return error("frames", format!("{} frames; it must lie between 1 and 2^48", section.frames));
    }
    if let Some(interval) = section.interval {
        check_interval(section, index, interval, speed.wire_time(size))?;
    }
    let mut jitter = section.jitter.clone().unwrap_or(NoiseSpec::NONE);
    ready_noise(&format!("stream.{index}.jitter"), &mut jitter, load)?;
    let queue = section.queue.unwrap_or(index as u16);
    if let Some(nic) = nic.filter(|nic| section.from != From::Sender && queue >= nic.spec.queue.count.value) {
        let reason = format!("there is no queue {queue}; the {} has {}", nic.spec.name, nic.spec.queue.count.value);
        return error("queue", reason);
    }
    if section.tx_stamps && (section.from == From::Sender || nic.is_none_or(|nic| nic.spec.tx_stamp.is_none())) {
        return error("tx_stamps", "the sender of this stream has no transmit stamps; leave this out".to_owned());
    }
    Ok(StreamSetup {
        name: section.name.clone().unwrap_or_else(|| index.to_string()),
        frames: section.frames,
        size,
        queue,
        timing: timing(section, index, jitter, file, nic)?,
        tx_stamps: section.tx_stamps,
    })
}

fn check_interval(section: &StreamSection, index: usize, interval: Span, wire: Span) -> Result<(), ScenarioError> {
    let error = |reason: String| Err(ScenarioError::new(format!("stream.{index}.interval"), reason));
    if interval <= Span::ZERO {
        return error(format!(
            "{interval} is not a time between frames; write one above 0s, or leave it out for back to back"
        ));
    }
    if interval < wire && !section.overload {
        return error(format!(
            "{interval} is shorter than the {wire} that a frame of {} holds the line; write at least that, or `overload = true` if it is meant",
            section.size
        ));
    }
    let run = i128::from(interval.as_ps()) * i128::from(section.frames);
    if run > i128::from(HORIZON.as_ps()) {
        return error(format!("{} frames every {interval} take longer than 26 days; ask for fewer", section.frames));
    }
    Ok(())
}

fn timing(
    section: &StreamSection,
    index: usize,
    jitter: NoiseSpec,
    file: &ScenarioFile,
    nic: Option<&NicSetup>,
) -> Result<Timing, ScenarioError> {
    let error = |name: &str, reason: String| Err(ScenarioError::new(format!("stream.{index}.{name}"), reason));
    let Some(lead) = section.lead else {
        if section.first_launch.is_some() {
            return error(
                "first_launch",
                "a launch time needs `lead` too, the time ahead of it at which frames reach the driver".to_owned(),
            );
        }
        if section.from == From::External && (section.interval.is_some() || section.jitter.is_some()) {
            return error(
                "from",
                "frames of an external stream come when a program hands them in; leave interval and jitter out"
                    .to_owned(),
            );
        }
        return Ok(match (section.from, section.interval) {
            (From::External, _) => Timing::External,
            (_, Some(interval)) => Timing::Paced { interval, jitter },
            (_, None) if section.jitter.is_some() => {
                return error("jitter", "it is added to `interval`, which is missing".to_owned());
            }
            (_, None) => Timing::BackToBack,
        });
    };
    let Some(nic) = nic.filter(|_| section.from == From::Nic) else {
        return error(
            "lead",
            "only a stream that the NIC sends from its own source has launch times; leave this out".to_owned(),
        );
    };
    if nic.spec.launch.is_none() {
        return error(
            "lead",
            format!(
                "the {} has no launch-time engine; leave this out and frames leave as they are handed in",
                nic.spec.name
            ),
        );
    }
    if section.jitter.is_some() {
        return error("jitter", "it belongs to streams without launch times; leave it or `lead` out".to_owned());
    }
    let Some(interval) = section.interval else {
        return error("interval", "a stream with launch times needs one".to_owned());
    };
    let first = section.first_launch.unwrap_or(lead);
    if lead < Span::ZERO {
        return error("lead", format!("{lead} is not a time ahead; it must be 0s or more"));
    }
    let before_epoch = i128::from(nic.phc_start_ns) * 1_000 + i128::from(first.as_ps()) < 0;
    if before_epoch {
        let start = file.nic.as_ref().map_or_else(String::new, |nic| nic.phc_start.to_string());
        return error(
            "first_launch",
            format!("{first} after nic.phc_start = {start} lies before the PHC's epoch; write a later time"),
        );
    }
    if first.as_ps() % 1_000 != 0 {
        return error("first_launch", format!("{first} is not a whole number of nanoseconds, as launch times are"));
    }
    if first < lead {
        return error(
            "first_launch",
            format!(
                "{first} is less than the lead of {lead}: the first frame would reach the driver before the scenario starts; write {lead} or more"
            ),
        );
    }
    if first > HORIZON || lead > HORIZON {
        return error("first_launch", format!("{} is beyond 26 days", first.max(lead)));
    }
    let first_launch_ns = nic.phc_start_ns + first.as_ps().unsigned_abs() / 1_000;
    Ok(Timing::Scheduled { first_launch_ns, interval, lead })
}

/// Refuses streams that together ask more of a line than it carries, unless one of them says that it is meant.
fn check_line(
    file: &ScenarioFile,
    speed: Option<Speed>,
    streams: &[StreamSetup],
    who: &str,
) -> Result<(), ScenarioError> {
    let Some(speed) = speed else {
        return Ok(());
    };
    let share = |stream: &StreamSetup| match stream.timing {
        Timing::Scheduled { interval, .. } | Timing::Paced { interval, .. } => {
            speed.wire_time(stream.size).as_ps() as f64 / interval.as_ps() as f64
        }
        Timing::BackToBack | Timing::External => 0.0,
    };
    let load: f64 = streams.iter().map(share).sum();
    if load > 1.0 + 1e-12 && !file.stream.iter().any(|stream| stream.overload) {
        let reason = format!(
            "the streams of {who} ask for {:.1} % of the line; widen their intervals, or write `overload = true` in one if it is meant",
            load * 100.0
        );
        return Err(ScenarioError::new("stream", reason));
    }
    Ok(())
}

/// Does a run of `setup` depend on the parameter?
fn is_used(parameter: &Parameter, setup: &WorldSetup) -> bool {
    let Some(nic) = setup.nic.as_ref() else {
        return true;
    };
    let Some(path) = parameter.path.strip_prefix(&format!("{}.", nic.spec.name)) else {
        return true;
    };
    let sends = !setup.streams.is_empty();
    let scheduled = setup.streams.iter().any(|s| matches!(s.timing, Timing::Scheduled { .. } | Timing::External));
    let stamps = setup.streams.iter().any(|stream| stream.tx_stamps);
    match path.split('.').next().unwrap_or_default() {
        "launch" => scheduled,
        "jitter" => {
            let chosen = nic.spec.jitter.get(nic.jitter);
            scheduled && chosen.is_some_and(|jitter| path.starts_with(&format!("jitter.{}.", jitter.name)))
        }
        "tx_stamp" => stamps,
        "rx_stamp" => setup.sender.is_some(),
        "fetch" | "queue" => sends,
        _ => true,
    }
}

fn choose_metrics(file: &ScenarioFile, setup: &WorldSetup) -> Result<Vec<&'static Metric>, ScenarioError> {
    let available = metric::LIST.iter().filter(|metric| metric.exists(setup));
    let Some(section) = &file.report else {
        return Ok(available.collect());
    };
    for name in &section.metrics {
        if !metric::LIST.iter().any(|metric| metric.name == name) {
            let hint = near(name, metric::LIST.iter().map(|metric| metric.name));
            return Err(ScenarioError::new(
                "report.metrics",
                format!("there is no metric `{name}`{hint}; see `nicsim list metrics`"),
            ));
        }
        if !metric::LIST.iter().any(|metric| metric.name == name && metric.exists(setup)) {
            return Err(ScenarioError::new(
                "report.metrics",
                format!("`{name}` does not exist here: {}", metric::missing_part(name)),
            ));
        }
    }
    Ok(available.filter(|metric| section.metrics.iter().any(|name| name == metric.name)).collect())
}

/// How many parameters count as assumed.
pub fn assumed(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    parameters.iter().filter(|parameter| parameter.source == Source::Assumed)
}

/// Wire time of a stream's frames on the line of `speed`.
pub fn wire_time(speed: Speed, stream: &StreamSetup) -> Span {
    debug_assert!(stream.size >= mac::MIN_FRAME);
    speed.wire_time(stream.size)
}
