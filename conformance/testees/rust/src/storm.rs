//! Apache Storm's multilang protocol, for bolts and spouts that Storm starts as subprocesses. A message is JSON in UTF-8,
//! a newline, and a line "end", on stdin and stdout. What is printed goes to stderr.

use crate::json::{object, parse, Value};
use std::collections::{HashSet, VecDeque};
use std::error::Error;
use std::fs::File;
use std::io::{stdin, BufRead, Write};
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::exit;

extern "C" {
    fn dup(from: i32) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
}

/// What the user's code comes to. An error, or a panic, is reported.
pub type Outcome = Result<(), Box<dyn Error>>;

/// What a bolt is given. A tick has the component "__system" and the stream "__tick".
pub struct Tuple {
    pub id: String,
    pub component: Option<String>,
    pub stream: String,
    pub task: i64,
    pub values: Vec<Value>,
}

/// What to send on: `Emit { values, ..Emit::default() }`.
#[derive(Default)]
pub struct Emit {
    pub values: Vec<Value>,
    pub stream: Option<String>,
    pub task: Option<i64>,    // the one task that gets it, on a direct stream
    pub anchors: Vec<String>, // bolts: ids of tuples; if this is lost, Storm replays those
    pub id: Option<Value>,    // spouts: what ack or fail is to be called with, if one is wanted
    pub task_ids: bool,       // to be given the tasks that get it; a direct emit has none
}

/// Acks or fails each tuple exactly once, now or later. After an error the tuple is failed.
pub trait Bolt {
    fn initialize(&mut self, _storm: &mut Storm, _conf: &Value, _context: &Value) -> Outcome { Ok(()) }
    fn process(&mut self, storm: &mut Storm, tuple: &Tuple) -> Outcome;
}

/// Answers Storm's calls. Each may emit; `next_tuple` returns soon, and sleeps a little if there is nothing.
pub trait Spout {
    fn initialize(&mut self, _storm: &mut Storm, _conf: &Value, _context: &Value) -> Outcome { Ok(()) }
    fn next_tuple(&mut self, storm: &mut Storm) -> Outcome;
    fn ack(&mut self, _storm: &mut Storm, _id: &Value) -> Outcome { Ok(()) }
    fn fail(&mut self, _storm: &mut Storm, _id: &Value) -> Outcome { Ok(()) }
    fn activate(&mut self, _storm: &mut Storm) -> Outcome { Ok(()) }
    fn deactivate(&mut self, _storm: &mut Storm) -> Outcome { Ok(()) }
}

/// The way to Storm. A test may put other pipes in the place of these two.
pub struct Storm {
    pub input: Box<dyn BufRead>,
    pub output: Box<dyn Write>,
    waiting: VecDeque<Value>,
    open: HashSet<String>,
    anchor: Option<String>,
    spout: bool,
}

impl Storm {
    /// Takes stdin and stdout for the protocol: a stray println would break it, so that goes to stderr from here on.
    pub fn open() -> Storm {
        let output = unsafe {
            let stdout = dup(1);
            dup2(2, 1);
            File::from_raw_fd(stdout)
        };
        let (waiting, open) = (VecDeque::new(), HashSet::new());
        Storm { input: Box::new(stdin().lock()), output: Box::new(output), waiting, open, anchor: None, spout: false }
    }

    /// Works until Storm closes the pipe. What a basic bolt emits is anchored to its input, which is acked at the end.
    pub fn run_bolt(mut self, bolt: &mut dyn Bolt, basic: bool) -> Outcome {
        self.start(|storm, conf, context| bolt.initialize(storm, conf, context))?;
        loop {
            let m = self.waiting.pop_front().map_or_else(|| self.next(), Ok)?;
            let text = |key: &str| m.get(key).text().map(str::to_string);
            let (id, stream) = (text("id").unwrap_or_default(), text("stream").unwrap_or_default());
            let (component, task, values) = (text("comp"), m.get("task").int().unwrap_or(0), m.get("tuple").list().to_vec());
            self.open.insert(id.clone());
            self.anchor = Some(id.clone()).filter(|_| basic);
            let tuple = Tuple { id, component, stream, task, values };
            let good = self.attempt(|storm| bolt.process(storm, &tuple))?;
            if good && basic {
                self.ack(&tuple.id)?;
            } else if !good && self.open.contains(&tuple.id) {
                self.fail(&tuple.id)?;
            }
        }
    }

    /// Works until Storm closes the pipe.
    pub fn run_spout(mut self, spout: &mut dyn Spout) -> Outcome {
        self.spout = true;
        self.start(|storm, conf, context| spout.initialize(storm, conf, context))?;
        loop {
            let message = self.next()?;
            self.waiting.push_back(message);
            while let Some(m) = self.waiting.pop_front() {
                self.attempt(|storm| match m.get("command").text() {
                    Some("next") => spout.next_tuple(storm),
                    Some("ack") => spout.ack(storm, m.get("id")),
                    Some("fail") => spout.fail(storm, m.get("id")),
                    Some("activate") => spout.activate(storm),
                    Some("deactivate") => spout.deactivate(storm),
                    _ => Err("unknown command".into()),
                })?;
            }
            self.command("sync", [])?; // exactly one, whatever happened: Storm waits for it
        }
    }

    /// Sends a tuple on; gives the tasks that get it, if it asks for them.
    pub fn emit(&mut self, emit: Emit) -> Result<Vec<i64>, Box<dyn Error>> {
        let wanted = emit.task_ids && emit.task.is_none();
        let anchors = emit.anchors.into_iter().chain(self.anchor.clone()).map(Value::Text).collect();
        let more = [("stream", emit.stream.map(Value::Text)), ("task", emit.task.map(Value::Int)), ("id", emit.id)];
        let mut message = vec![("command", "emit".into()), ("tuple", Value::List(emit.values))];
        message.extend([("need_task_ids", wanted.into()), ("anchors", Value::List(anchors))]);
        message.extend(more.into_iter().filter_map(|(key, value)| Some((key, value?))));
        self.send(Value::Object(message.into_iter().map(|(key, value)| (key.to_string(), value)).collect()))?;
        while wanted {
            match self.next()? {
                Value::List(ids) => return Ok(ids.iter().filter_map(Value::int).collect()),
                other => self.waiting.push_back(other),
            }
            if self.spout {
                self.command("sync", [])?; // without ackers, Storm acks from within an emit; the spout learns of it next
            }
        }
        Ok(Vec::new())
    }

    /// Ack says that the work on a tuple is done, fail has Storm replay it. A second time would end Storm's worker.
    pub fn ack(&mut self, id: &str) -> Outcome { self.settle("ack", id) }
    pub fn fail(&mut self, id: &str) -> Outcome { self.settle("fail", id) }

    fn settle(&mut self, command: &str, id: &str) -> Outcome {
        if !self.open.remove(id) {
            return Err(format!("cannot {} tuple {}: it is settled already", command, id).into());
        }
        self.command(command, [("id", id.into())])
    }

    /// Writes to the worker's log, at level 0 to 4: trace, debug, info, warn, error.
    pub fn log(&mut self, text: &str, level: i64) -> Outcome { self.command("log", [("msg", text.into()), ("level", level.into())]) }
    /// Shows a text in Storm's UI; fails no tuple and stops nothing.
    pub fn report_error(&mut self, text: &str) -> Outcome { self.command("error", [("msg", text.into())]) }

    fn command<const N: usize>(&mut self, command: &str, fields: [(&str, Value); N]) -> Outcome {
        let mut message = vec![("command".to_string(), command.into())];
        message.extend(fields.map(|(key, value)| (key.to_string(), value)));
        self.send(Value::Object(message))
    }

    /// Writes a message at once and whole. If Storm no longer reads, the process ends.
    fn send(&mut self, message: Value) -> Outcome {
        let text = message.write()? + "\nend\n";
        self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()).unwrap_or_else(|_| exit(0));
        Ok(())
    }

    /// Reads a message; answers heartbeats, which are no tuples and must not be acked.
    fn next(&mut self) -> Result<Value, Box<dyn Error>> {
        let mut text = String::new();
        while !text.ends_with("\nend\n") {
            if self.input.read_line(&mut text)? == 0 {
                exit(0); // Storm has closed the pipe: the worker is gone
            }
        }
        let message = parse(&text[..text.len() - 4])?;
        if message.get("stream").text() != Some("__heartbeat") || message.get("task").int() != Some(-1) {
            return Ok(message);
        }
        self.command("sync", [])?;
        self.next()
    }

    fn start(&mut self, initialize: impl FnOnce(&mut Storm, &Value, &Value) -> Outcome) -> Outcome {
        let (hello, pid) = (self.next()?, std::process::id());
        File::create(format!("{}/{}", hello.get("pidDir").text().unwrap_or("."), pid))?;
        self.send(object([("pid", i64::from(pid).into())]))?;
        initialize(self, hello.get("conf"), hello.get("context"))
    }

    /// Runs the user's code. False if that went wrong.
    fn attempt(&mut self, call: impl FnOnce(&mut Storm) -> Outcome) -> Result<bool, Box<dyn Error>> {
        let done = catch_unwind(AssertUnwindSafe(|| call(self))).unwrap_or_else(|_| Err("it panicked; stderr says why".into()));
        done.as_ref().map_or_else(|wrong| self.report_error(&wrong.to_string()), |()| Ok(()))?;
        Ok(done.is_ok())
    }
}
