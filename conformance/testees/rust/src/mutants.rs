//! Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. The library does not
//! know of them: they stand between it and the pipe.

use crate::json::{parse, Value};
use crate::storm::Storm;
use std::io::{self, BufReader, Read, Write};

/// Plants the bug of this name, none for "".
pub fn plant(storm: &mut Storm, name: &str) {
    if name == "outlives" {
        let input = std::mem::replace(&mut storm.input, Box::new(io::empty()));
        storm.input = Box::new(BufReader::new(Endless(input)));
    } else if !name.is_empty() {
        let to = std::mem::replace(&mut storm.output, Box::new(io::sink()));
        storm.output = Box::new(Changed { to, name: name.to_string(), kept: Vec::new(), failed: false });
    }
}

/// A stdin whose end is not seen.
struct Endless<R>(R);

impl<R: Read> Read for Endless<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into)?;
        if read == 0 {
            std::thread::sleep(std::time::Duration::from_secs(60)); // not for ever: nobody may be there to end it
        }
        Ok(read)
    }
}

/// Hands the library's messages on, changed. The library writes each at once.
struct Changed {
    to: Box<dyn Write>,
    name: String,
    kept: Vec<String>,
    failed: bool,
}

/// The message with another value of a field, if it has that field.
fn with(message: &Value, key: &str, change: impl Fn(&Value) -> Value) -> String {
    let mut changed = message.clone();
    if let Value::Object(fields) = &mut changed {
        for (_, value) in fields.iter_mut().filter(|(name, _)| name == key) {
            *value = change(value);
        }
    }
    text(&changed)
}

fn text(message: &Value) -> String {
    message.write().unwrap_or_default() + "\nend\n"
}

fn raw(value: &Value) -> String {
    value.text().map_or_else(|| text(value), str::to_string)
}

impl Changed {
    fn changed(&mut self, message: &Value) -> String {
        let command = message.get("command").text().unwrap_or_default();
        let same = text(message);
        let pid = *message.get("pid") != Value::Null;
        match (self.name.as_str(), command) {
            ("ack-twice", "ack") | ("sync-twice", "sync") => same.repeat(2),
            ("ack-id-number", "ack") | ("message-id-number", "emit") => {
                with(message, "id", |id| id.text().and_then(|text| text.parse().ok()).map_or_else(|| id.clone(), Value::Int))
            }
            ("anchors-missing", "emit") => with(message, "anchors", |_| Value::List(Vec::new())),
            ("anchors-nested", "emit") => with(message, "anchors", |old| vec![old.clone()].into()),
            ("tuple-object", "emit") => with(message, "tuple", |old| Value::Object(vec![("values".to_string(), old.clone())])),
            ("task-string", "emit") => with(message, "task", |old| raw(old).into()),
            ("log-map", "log") => with(message, "msg", |old| Value::Object(vec![("text".to_string(), old.clone())])),
            ("debug-text", "emit") => with(message, "tuple", |old| {
                old.list().iter().map(|each| each.text().map_or_else(|| each.clone(), |text| format!("{:?}", text).into())).collect::<Vec<_>>().into()
            }),
            ("integer-32", "emit") => with(message, "tuple", |old| {
                old.list().iter().map(|each| each.int().map_or_else(|| each.clone(), |number| Value::Int((number as i32).into()))).collect::<Vec<_>>().into()
            }),
            ("emit-unencodable", "emit") if !same.is_ascii() => String::new(),
            ("held-back", _) if !pid => {
                self.kept.push(same);
                if self.kept.len() > 1 { self.kept.remove(0) } else { String::new() }
            }
            ("emits-last", "emit") => {
                self.kept.push(same);
                String::new()
            }
            ("emits-last", _) => same + &self.kept.drain(..).collect::<String>(),
            ("prints", "ack") => format!("sending an ack\n{}", same),
            ("late-pid", _) if pid => "{\"command\":\"log\",\"msg\":\"starting\"}\nend\n".to_string() + &same,
            ("pid-string", _) => with(message, "pid", |old| old.int().unwrap_or(0).to_string().into()),
            ("raise-acked", "fail") if self.failed => with(message, "command", |_| "ack".into()),
            ("fails-other", "fail") if self.failed => with(message, "id", |_| "-1".into()),
            ("beats-ignored", "sync") => String::new(),
            _ => same,
        }
    }
}

impl Write for Changed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let message = parse(std::str::from_utf8(&bytes[..bytes.len() - 4]).unwrap_or_default()).unwrap_or(Value::Null);
        let changed = self.changed(&message);
        self.failed = message.get("command").text() == Some("error");
        self.to.write_all(changed.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
