//! A spout that emits sentences, and again those that failed.

#[allow(dead_code)]
mod json;
#[allow(dead_code)]
mod storm;

use json::Value;
use std::collections::{HashMap, VecDeque};
use std::{thread::sleep, time::Duration};
use storm::{Emit, Outcome, Spout, Storm};

const SENTENCES: [&str; 3] =
    ["the cow jumped over the moon", "an apple a day keeps the doctor away", "snow white and the seven dwarfs"];

struct SentenceSpout {
    waiting: VecDeque<String>,
    pending: HashMap<String, &'static str>,
}

impl Spout for SentenceSpout {
    /// Emits one sentence. Because it has an id, Storm tells its fate: ack or fail.
    fn next_tuple(&mut self, storm: &mut Storm) -> Outcome {
        match self.waiting.pop_front() {
            Some(id) => {
                let values = vec![self.pending[&id].into()];
                storm.emit(Emit { values, id: Some(id.into()), ..Emit::default() })?;
            }
            None => sleep(Duration::from_millis(10)), // do not let Storm ask again at full speed
        }
        Ok(())
    }

    fn ack(&mut self, _storm: &mut Storm, id: &Value) -> Outcome {
        self.pending.remove(id.text().unwrap_or_default());
        Ok(())
    }

    fn fail(&mut self, _storm: &mut Storm, id: &Value) -> Outcome {
        self.waiting.extend(id.text().filter(|id| self.pending.contains_key(*id)).map(str::to_string));
        Ok(())
    }
}

fn main() -> Outcome {
    let pending: HashMap<_, _> = SENTENCES.iter().enumerate().map(|(n, text)| ((n + 1).to_string(), *text)).collect();
    let waiting = (1..=SENTENCES.len()).map(|number| number.to_string()).collect();
    Storm::open().run_spout(&mut SentenceSpout { waiting, pending })
}
