//! A bolt that splits sentences into words.

#[allow(dead_code)]
mod json;
#[allow(dead_code)]
mod storm;

use storm::{Bolt, Emit, Outcome, Storm, Tuple};

struct SplitBolt;

impl Bolt for SplitBolt {
    /// Emits each word of the first value. As the bolt is basic, they are anchored, and the sentence is acked.
    fn process(&mut self, storm: &mut Storm, tuple: &Tuple) -> Outcome {
        let first = match tuple.values.first() {
            Some(value) => value.text().map_or_else(|| value.write(), |text| Ok(text.to_string()))?,
            None => return Ok(()),
        };
        for word in first.split_whitespace() {
            storm.emit(Emit { values: vec![word.into()], ..Emit::default() })?;
        }
        Ok(())
    }
}

fn main() -> Outcome {
    Storm::open().run_bolt(&mut SplitBolt, true)
}
