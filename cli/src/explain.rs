//! `nicsim explain`: the life of one frame, stage by stage.

use clap::Args;
use nicsim_core::sink::Sink;
use nicsim_core::time::SimTime;
use nicsim_models::frame::{Direction, FrameRecord, Stamp, TxStamp};
use nicsim_models::launch::{Decision, LaunchParameters};
use nicsim_models::spec::LaunchSpec;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::Scenario;

use crate::failure::{Failure, print};
use crate::options::{Format, ScenarioArgs};
use crate::{list, text};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Stream, by its place in the scenario
    #[arg(long, value_name = "I", default_value_t = 0)]
    stream: u16,
    /// Frame, by its number in the stream
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u64,
    /// Form of the explanation on standard output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One stage of the frame's life.
#[derive(Debug, serde::Serialize)]
struct Stage {
    stage: &'static str,
    at_ns: Option<f64>,
    what: String,
}

/// Keeps the record of one frame, and of the one before it in its stream.
struct Watch {
    stream: u16,
    frame: u64,
    found: Option<FrameRecord>,
    before: Option<FrameRecord>,
}

impl Sink<FrameRecord> for Watch {
    fn take(&mut self, record: &FrameRecord) {
        if record.id.stream == self.stream {
            if record.id.number == self.frame {
                self.found = Some(*record);
            } else if record.id.number + 1 == self.frame {
                self.before = Some(*record);
            }
        }
    }
}

/// Runs the command.
pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let scenario = args.scenario.open()?;
    let streams: Vec<_> = scenario.stream_setups().collect();
    let Some(stream) = streams.get(usize::from(args.stream)) else {
        let reason = format!("--stream {}: the scenario has {} streams, numbered from 0", args.stream, streams.len());
        return Err(Failure::input(reason));
    };
    if args.frame >= stream.frames {
        let reason =
            format!("--frame {}: stream {} has {} frames, numbered from 0", args.frame, args.stream, stream.frames);
        return Err(Failure::input(reason));
    }
    let mut watch = Watch { stream: args.stream, frame: args.frame, found: None, before: None };
    let options = RunOptions {
        seed: args.scenario.seed,
        run: args.scenario.run,
        kernel: args.scenario.kernel.into(),
        series: false,
    };
    run(&scenario, options, &mut watch, &mut |_| true).map_err(Failure::input)?;
    let record = watch.found.ok_or_else(|| Failure::input("the frame was never sent"))?;
    let stages = stages(&record, watch.before.as_ref(), &scenario);
    match args.format {
        Format::Json => print(&list::json(&stages)?),
        Format::Csv => print(&list::csv(&stages)?),
        Format::Table => {
            let row = |s: &Stage| {
                vec![s.stage.to_owned(), s.at_ns.map_or_else(String::new, |at| format!("{at:.3}")), s.what.clone()]
            };
            let head = format!(
                "{}, stream {}, frame {}, {} bytes\n",
                scenario.file.name, stream.name, args.frame, record.size
            );
            print(
                &(head
                    + &text::list(
                        &["stage", "at [ns]", "what happened"],
                        &stages.iter().map(row).collect::<Vec<_>>(),
                        120,
                    )),
            )
        }
    }
}

fn at(instant: SimTime) -> Option<f64> {
    Some(instant.as_ps() as f64 / 1_000.0)
}

fn stages(record: &FrameRecord, before: Option<&FrameRecord>, scenario: &Scenario) -> Vec<Stage> {
    let mut stages = match record.direction {
        Direction::Sent => sent(record, scenario),
        Direction::Received => {
            vec![Stage { stage: "sender", at_ns: at(record.started_at), what: "start of frame on the line".to_owned() }]
        }
    };
    if let Some(before) = before {
        let interval = (record.started_at - before.started_at).as_ns_f64();
        stages.push(Stage {
            stage: "interval",
            at_ns: None,
            what: format!("{interval:.3} ns after the frame before it"),
        });
    }
    if let Some(stage) = tx_stamp(record) {
        stages.push(stage);
    }
    if let Some(stamp) = record.rx_stamp {
        stages.push(stamp_stage("receive stamp", &stamp));
    }
    for (stage, seen) in [("sender's stamp", record.sent), ("capture", record.observed)] {
        if let Some(seen) = seen {
            let what = format!("id 0x{:08x}, count {} of the instrument's counter", seen.id, seen.count);
            stages.push(Stage { stage, at_ns: None, what });
        }
    }
    stages
}

fn sent(record: &FrameRecord, scenario: &Scenario) -> Vec<Stage> {
    let launch = scenario.setup.nic.as_ref().and_then(|nic| nic.spec.launch.as_ref()).map(LaunchSpec::parameters);
    let mut stages = vec![Stage {
        stage: "application",
        at_ns: at(record.submitted_at),
        what: record.launch_ns.map_or_else(
            || "hands the frame to the driver, without a launch time".to_owned(),
            |ns| format!("hands the frame to the driver, to start at {ns} ns of PHC time"),
        ),
    }];
    if let (Some(_), Some(launch)) = (record.launch_ns, launch) {
        stages.push(driver(record, &launch, scenario));
        stages.push(compared(record, &launch));
    } else {
        stages.push(Stage {
            stage: "fetch",
            at_ns: at(record.fetched_at),
            what: "descriptor and data are on the chip".to_owned(),
        });
    }
    stages.push(Stage { stage: "release", at_ns: at(record.due_at), what: release(record) });
    if record.ready_at > record.due_at {
        let what = "reaches the head of its queue: until then a frame before it held it".to_owned();
        stages.push(Stage { stage: "head of line", at_ns: at(record.ready_at), what });
    }
    stages.push(Stage { stage: "start", at_ns: at(record.started_at), what: start(record) });
    stages
}

fn driver(record: &FrameRecord, launch: &LaunchParameters, scenario: &Scenario) -> Stage {
    let name = scenario.file.nic.as_ref().map_or("", |nic| nic.driver.as_str());
    let word = u64::from(record.word);
    let (field, index) = (launch.time.get(word), launch.index.get(word));
    let what = format!(
        "{name} writes 0x{word:08x}: time field {field} ({} ns modulo {}), index {index}",
        field * launch.unit_ns,
        launch.unit_ns << launch.time.width()
    );
    Stage { stage: "driver", at_ns: at(record.submitted_at), what }
}

fn compared(record: &FrameRecord, launch: &LaunchParameters) -> Stage {
    let turn = launch.unit_ns << launch.time.width();
    let field_ns = launch.time.get(u64::from(record.word)) * launch.unit_ns;
    let now = record.compared_ns / launch.unit_ns * launch.unit_ns;
    let ahead = field_ns.wrapping_sub(now) % turn;
    let verdict = match record.decision {
        Decision::Held(ns) => format!("{ahead} ns ahead, below {}: held until {ns} ns of PHC time", launch.window_ns),
        Decision::Past => format!("{ahead} ns ahead is not within 0 to {}: past, sent at once", launch.window_ns),
        Decision::Unset => "the field is 0: no launch time, sent at once".to_owned(),
        Decision::Unscheduled => "no launch time".to_owned(),
    };
    let what = format!("PHC {} ns, {} modulo {turn}; {verdict}", record.compared_ns, now % turn);
    Stage { stage: "NIC compares", at_ns: at(record.fetched_at), what }
}

fn release(record: &FrameRecord) -> String {
    match (record.decision, record.launch_error) {
        (Decision::Held(_), _) => "the scheduler lets it go: launch time, poll and noise together".to_owned(),
        _ => "nothing holds it but the queue and the line".to_owned(),
    }
}

fn start(record: &FrameRecord) -> String {
    let mut what = "start of frame at the reference plane".to_owned();
    if let Some(error) = record.launch_error {
        what += &format!(", {} ns from the launch time asked for", error.as_ns_f64());
    }
    if record.late {
        what += ", late: the line or the queue held it";
    }
    what
}

fn tx_stamp(record: &FrameRecord) -> Option<Stage> {
    match record.tx_stamp {
        TxStamp::NotRequested => None,
        TxStamp::NoRegister => Some(Stage {
            stage: "transmit stamp",
            at_ns: at(record.submitted_at),
            what: "lost: no register was free when the frame was handed in".to_owned(),
        }),
        TxStamp::Read(stamp) => Some(stamp_stage("transmit stamp", &stamp)),
    }
}

fn stamp_stage(stage: &'static str, stamp: &Stamp) -> Stage {
    let what = format!(
        "register 0x{:010x}, read as {} ns of PHC time, {} ns from the truth",
        stamp.raw.0,
        stamp.ns,
        stamp.error.as_ns_f64()
    );
    Stage { stage, at_ns: at(stamp.read_at), what }
}
