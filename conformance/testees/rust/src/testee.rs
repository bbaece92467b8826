//! The testee of storm.rs: does what a tuple or conf tells it (see ../../README.md).

mod json;
mod mutants;
mod storm;

use json::{object, Value};
use std::collections::{HashMap, VecDeque};
use storm::{Bolt, Emit, Outcome, Spout, Storm, Tuple};

const LEVELS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];

/// What bolts and spouts have in common.
#[derive(Default)]
struct Testee {
    seen: HashMap<String, Value>,
}

impl Testee {
    fn keep(&mut self, conf: &Value, context: &Value) {
        self.seen.insert("conf".to_string(), conf.clone());
        self.seen.insert("context".to_string(), context.clone());
        self.seen.insert("task_ids".to_string(), Value::List(Vec::new()));
    }

    fn emit(&mut self, storm: &mut Storm, action: &Value, values: &[Value], anchors: Vec<String>) -> Outcome {
        let ids = storm.emit(Emit {
            values: values.to_vec(),
            stream: action.get("stream").text().map(str::to_string),
            task: action.get("task").int(),
            anchors,
            id: Some(action.get("id").clone()).filter(|id| *id != Value::Null),
            task_ids: *action.get("ids") == Value::Bool(true),
        })?;
        if !ids.is_empty() {
            self.seen.insert("task_ids".to_string(), Value::List(ids.into_iter().map(Value::Int).collect()));
        }
        Ok(())
    }

    /// Does what is the same in a bolt and in a spout.
    fn act(&mut self, storm: &mut Storm, action: &Value) -> Outcome {
        let message = action.get("message").text().unwrap_or_default();
        match action.get("do").text().unwrap_or_default() {
            "log" => {
                let level = action.get("level").text().unwrap_or("info");
                storm.log(message, LEVELS.iter().position(|name| *name == level).unwrap_or(2) as i64)?;
            }
            "error" => storm.report_error(message)?,
            "raise" => panic!("{}", message),
            "sleep" => std::thread::sleep(std::time::Duration::from_secs_f64(match action.get("seconds") {
                Value::Float(seconds) => *seconds,
                other => other.int().unwrap_or(0) as f64,
            })),
            "exit" => std::process::exit(action.get("code").int().unwrap_or(0) as i32),
            "print" => println!("{}", action.get("text").text().unwrap_or_default()),
            "stderr" => eprint!("{}", ".".repeat(action.get("bytes").int().unwrap_or(0) as usize)),
            "tell" => {
                let what = action.get("what");
                let answer = self.seen.get(what.text().unwrap_or_default()).cloned().unwrap_or(Value::Null);
                let told = Emit { values: vec![what.clone(), answer], stream: Some("told".to_string()), ..Emit::default() };
                storm.emit(told)?;
            }
            other => return Err(format!("no such action: {}", other).into()),
        }
        Ok(())
    }
}

/// The plan in a tuple's first value; without one: an echo, or for a tick an ack.
fn plan_of(tuple: &Tuple) -> Vec<Value> {
    let ack = object([("do", "ack".into())]);
    if tuple.stream == "__tick" {
        return vec![ack];
    }
    let first = tuple.values.first().map_or(&[][..], Value::list);
    if !first.is_empty() && first.iter().all(|each| each.get("do").text().is_some()) {
        return first.to_vec();
    }
    vec![object([("do", "emit".into()), ("values", tuple.values.clone().into())]), ack]
}

/// Settles as it is told; a basic one leaves that to the library.
#[derive(Default)]
struct TesteeBolt {
    testee: Testee,
    basic: bool,
    held: HashMap<String, String>,
}

impl TesteeBolt {
    fn anchors(&self, names: &Value) -> Vec<String> {
        if self.basic {
            return Vec::new();
        }
        let input = [Value::from("input")];
        let names = if *names == Value::Null { &input[..] } else { names.list() };
        names.iter().filter_map(|name| self.held.get(name.text()?).cloned()).collect()
    }
}

impl Bolt for TesteeBolt {
    fn initialize(&mut self, _storm: &mut Storm, conf: &Value, context: &Value) -> Outcome {
        self.testee.keep(conf, context);
        Ok(())
    }

    fn process(&mut self, storm: &mut Storm, tuple: &Tuple) -> Outcome {
        self.held.insert("input".to_string(), tuple.id.clone());
        let component = tuple.component.clone().map_or(Value::Null, Value::Text);
        let seen = object([
            ("id", tuple.id.as_str().into()),
            ("component", component),
            ("stream", tuple.stream.as_str().into()),
            ("task", tuple.task.into()),
            ("values", tuple.values.clone().into()),
        ]);
        self.testee.seen.insert("tuple".to_string(), seen);
        for action in plan_of(tuple) {
            let named = self.held.get(action.get("tuple").text().unwrap_or("input")).cloned().unwrap_or_default();
            let anchors = self.anchors(action.get("anchors"));
            match action.get("do").text() {
                Some("emit") => self.testee.emit(storm, &action, action.get("values").list(), anchors)?,
                Some("echo") => self.testee.emit(storm, &action, &tuple.values[1..], anchors)?,
                Some("ack") if self.basic => {}
                Some("ack") => storm.ack(&named)?,
                Some("fail") => storm.fail(&named)?,
                Some("hold") => {
                    self.held.insert(action.get("as").text().unwrap_or_default().to_string(), tuple.id.clone());
                }
                _ => self.testee.act(storm, &action)?,
            }
        }
        Ok(())
    }
}

/// Does for each command what conf says.
#[derive(Default)]
struct TesteeSpout {
    testee: Testee,
    plan: Option<Value>,
    count: usize,
    calls: Vec<Value>,
    again: VecDeque<String>,
}

impl TesteeSpout {
    fn follow(&mut self, storm: &mut Storm, actions: &[Value]) -> Outcome {
        for action in actions {
            self.testee.seen.insert("calls".to_string(), self.calls.clone().into());
            match action.get("do").text() {
                Some("emit") => self.testee.emit(storm, action, action.get("values").list(), Vec::new())?,
                _ => self.testee.act(storm, action)?,
            }
            if action.get("what").text() == Some("calls") {
                self.calls.clear();
            }
        }
        Ok(())
    }

    /// Remembers a call, and does what conf says about it.
    fn called(&mut self, storm: &mut Storm, command: &str, id: Option<&Value>) -> Outcome {
        self.calls.push(Value::List([Value::from(command)].into_iter().chain(id.cloned()).collect()));
        let actions = self.plan.as_ref().map_or(Vec::new(), |plan| plan.get(command).list().to_vec());
        if command != "next" || self.plan.is_none() {
            return self.follow(storm, &actions);
        }
        let now = actions.get(self.count).map_or(Vec::new(), |now| now.list().to_vec());
        self.count += 1;
        self.follow(storm, &now)
    }
}

impl Spout for TesteeSpout {
    fn initialize(&mut self, storm: &mut Storm, conf: &Value, context: &Value) -> Outcome {
        self.testee.keep(conf, context);
        self.plan = Some(conf.get("mlcheck.testee").clone()).filter(|plan| *plan != Value::Null);
        let actions = self.plan.as_ref().map_or(Vec::new(), |plan| plan.get("initialize").list().to_vec());
        self.follow(storm, &actions)
    }

    fn next_tuple(&mut self, storm: &mut Storm) -> Outcome {
        self.called(storm, "next", None)?;
        if self.plan.is_none() {
            let id = self.again.pop_front().unwrap_or_else(|| {
                self.count += 1;
                self.count.to_string()
            });
            storm.emit(Emit { values: vec![format!("word {}", id).into()], id: Some(id.into()), ..Emit::default() })?;
        }
        Ok(())
    }

    fn ack(&mut self, storm: &mut Storm, id: &Value) -> Outcome {
        self.called(storm, "ack", Some(id))
    }

    fn fail(&mut self, storm: &mut Storm, id: &Value) -> Outcome {
        if self.plan.is_none() {
            self.again.extend(id.text().map(str::to_string));
        }
        self.called(storm, "fail", Some(id))
    }

    fn activate(&mut self, storm: &mut Storm) -> Outcome {
        self.called(storm, "activate", None)
    }

    fn deactivate(&mut self, storm: &mut Storm) -> Outcome {
        self.called(storm, "deactivate", None)
    }
}

fn main() -> Outcome {
    let mut storm = Storm::open();
    mutants::plant(&mut storm, &std::env::var("MLCHECK_MUTANT").unwrap_or_default());
    match std::env::args().nth(1).as_deref() {
        Some("spout") => storm.run_spout(&mut TesteeSpout::default()),
        Some("basic") => storm.run_bolt(&mut TesteeBolt { basic: true, ..TesteeBolt::default() }, true),
        _ => storm.run_bolt(&mut TesteeBolt::default(), false),
    }
}
