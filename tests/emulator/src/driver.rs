//! The emulator's process: a command out, an answer in (see `js/driver.js`).

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A Node process that runs `js/driver.js`. It ends when its input does.
pub(crate) struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What every answer tells, and what only this one does.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    pub(crate) error: Option<String>,
    pub(crate) nanos: f64,
    pub(crate) on: bool,
    pub(crate) bootsel: bool,
    pub(crate) cycles: Vec<f64>,
    pub(crate) busy: Vec<f64>,
    pub(crate) warnings: Vec<String>,
    pub(crate) faults: Vec<String>,
    pub(crate) resets: Vec<Reset>,
    logs: Vec<usize>,
    payload: usize,
    #[serde(skip)]
    pub(crate) fields: Map<String, Value>,
    #[serde(skip)]
    pub(crate) bytes: Vec<u8>,
    /// For each life of the chip since the last answer, what it logged.
    #[serde(skip)]
    pub(crate) logged: Vec<Vec<u8>>,
}

/// A reset by the watchdog.
#[derive(Clone, Debug, Deserialize)]
pub struct Reset {
    /// Emulated nanoseconds after the first power-on.
    pub nanos: f64,
    /// `timeout` or `forced`.
    pub why: String,
}

/// Processes whose device is gone. The next device gets one that has already compiled what is hot. They end with this
/// program, when their input does.
static IDLE: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

impl Driver {
    pub(crate) fn start() -> Driver {
        let idle = IDLE.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(Driver::spawn)
    }

    /// Keeps the process for the next device.
    pub(crate) fn retire(self) {
        if let Ok(mut idle) = IDLE.lock() {
            idle.push(self);
        }
    }

    fn spawn() -> Driver {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/driver.js");
        let mut child = Command::new("node")
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start node {}: {error}", script.display()));
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Driver { input: child.stdin.take(), output, child }
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn ask(&mut self, name: &str, mut command: Value, payload: &[u8]) -> Answer {
        command["do"] = name.into();
        command["payload"] = payload.len().into();
        let mut message = command.to_string().into_bytes();
        message.push(b'\n');
        message.extend_from_slice(payload);
        let input = self.input.as_mut().expect("it is there until the driver is dropped");
        input.write_all(&message).and_then(|()| input.flush()).unwrap_or_else(|error| lost(&error));
        self.read_answer(name)
    }

    fn read_answer(&mut self, name: &str) -> Answer {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap_or_else(|error| lost(&error));
        let fields: Map<String, Value> = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("the emulator answers {line:?} to {name}: {error}"));
        let mut answer: Answer = serde_json::from_value(Value::Object(fields.clone()))
            .unwrap_or_else(|error| panic!("the emulator answers {line:?} to {name}: {error}"));
        if let Some(error) = &answer.error {
            panic!("the emulator fails at {name}: {error}");
        }
        answer.fields = fields;
        answer.bytes = self.read(answer.payload);
        answer.logged = answer.logs.clone().into_iter().map(|length| self.read(length)).collect();
        answer
    }

    fn read(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.output.read_exact(&mut bytes).unwrap_or_else(|error| lost(&error));
        bytes
    }
}

fn lost(error: &std::io::Error) -> ! {
    panic!("the emulator is gone ({error}): see above for what it said")
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Without input it ends by itself; one that runs wild is ended.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
