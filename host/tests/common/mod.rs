//! Running the binary `host` as a user does.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use host::train::run::Checkpoint;
use serde_json::Value;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; none if a signal or an abort ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The only line of standard output, as JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        assert_eq!(self.stdout.lines().count(), 1, "{}", self.stdout);
        serde_json::from_str(&self.stdout).expect("one JSON object")
    }

    /// All lines of standard output, as JSON.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
    }
}

/// The binary, ready to be given arguments.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs `host` with arguments separated by spaces, and with this on standard input.
pub(crate) fn host_with(arguments: &str, stdin: impl Into<Vec<u8>>) -> Run {
    run(command().args(arguments.split_whitespace()).write_stdin(stdin))
}

/// Runs `host` with arguments separated by spaces.
pub(crate) fn host(arguments: &str) -> Run {
    host_with(arguments, "")
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Run {
    let output = command.output().expect("host runs");
    let text = |bytes| String::from_utf8(bytes).expect("host writes UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The positions with expected answers that the core's tests use too.
pub(crate) fn vectors() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/data/positions.jsonl");
    let text = fs::read_to_string(path).expect("core's positions");
    text.lines().map(|line| serde_json::from_str(line).expect("a position a line")).collect()
}

/// A vector as `inspect` reads it.
pub(crate) fn question(vector: &Value) -> String {
    serde_json::json!({"rows": vector["rows"], "piece": vector["piece"]}).to_string()
}

/// What a run's folder holds, times aside: the configuration, the rows, the checkpoint and the player.
pub(crate) fn content(folder: &Path) -> (String, Vec<Value>, Vec<u8>, Option<String>) {
    let metrics = fs::read_to_string(folder.join("metrics.jsonl")).expect("metrics");
    let rows = metrics.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        row.as_object_mut().expect("an object").remove("seconds").expect("its time");
        row
    });
    let bytes = fs::read(folder.join("checkpoint")).expect("a checkpoint");
    let mut checkpoint = Checkpoint::from_bytes(&bytes).expect("a good one");
    // The length of the metrics depends on the digits of the times.
    assert_eq!(checkpoint.metrics, metrics.len() as u64);
    (checkpoint.seconds, checkpoint.metrics) = (0.0, 0);
    (
        fs::read_to_string(folder.join("config.toml")).expect("a configuration"),
        rows.collect(),
        checkpoint.to_bytes().expect("bytes"),
        fs::read_to_string(folder.join("weights.toml")).ok(),
    )
}
