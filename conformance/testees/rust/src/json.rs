//! JSON: values, reading and writing. Rust's standard library has none; with a crate such as serde_json you need not this.

use std::fmt::Write;

/// A value of JSON. An object keeps its fields in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The field of an object; null if there is none, or no object.
    pub fn get(&self, key: &str) -> &Value {
        match self {
            Value::Object(fields) => fields.iter().find(|(name, _)| name == key).map_or(&Value::Null, |(_, value)| value),
            _ => &Value::Null,
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub fn int(&self) -> Option<i64> {
        if let Value::Int(number) = self { Some(*number) } else { None }
    }

    /// The items of a list; none of anything else.
    pub fn list(&self) -> &[Value] {
        if let Value::List(items) = self { items } else { &[] }
    }

    /// As text. JSON has no infinities, and nothing that is not a number.
    pub fn write(&self) -> Result<String, String> {
        let mut text = String::new();
        self.write_to(&mut text)?;
        Ok(text)
    }

    fn write_to(&self, out: &mut String) -> Result<(), String> {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Int(number) => out.push_str(&number.to_string()),
            Value::Float(number) if !number.is_finite() => return Err(format!("{} is no JSON", number)),
            Value::Float(number) => out.push_str(&format!("{:?}", number)),
            Value::Text(text) => quote(text, out),
            Value::List(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place > 0 { "," } else { "" });
                    item.write_to(out)?;
                }
                out.push(']');
            }
            Value::Object(fields) => {
                out.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if place > 0 { "," } else { "" });
                    quote(name, out);
                    out.push(':');
                    value.write_to(out)?;
                }
                out.push('}');
            }
        }
        Ok(())
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for each in text.chars() {
        match each {
            '"' | '\\' => out.extend(['\\', each]),
            '\n' => out.push_str("\\n"),
            each if (each as u32) < 0x20 => write!(out, "\\u{:04x}", each as u32).unwrap_or(()),
            each => out.push(each),
        }
    }
    out.push('"');
}

macro_rules! from {
    ($($from:ty, $value:ident => $made:expr;)*) => {
        $(impl From<$from> for Value { fn from($value: $from) -> Value { $made } })*
    };
}

from! {
    bool, value => Value::Bool(value);
    i64, value => Value::Int(value);
    f64, value => Value::Float(value);
    &str, value => Value::Text(value.to_string());
    String, value => Value::Text(value);
    Vec<Value>, value => Value::List(value);
}

/// An object of these fields.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// Reads one value. The error says at which byte it goes wrong.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.space();
    if reader.at < text.len() { reader.wrong() } else { Ok(value) }
}

/// Lists in lists: more than this is refused, before the stack ends.
const DEEPEST: usize = 512;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self) -> Result<T, String> {
        Err(format!("no JSON at byte {}", self.at))
    }

    fn peek(&self) -> u8 {
        *self.text.as_bytes().get(self.at).unwrap_or(&0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Goes past this text, if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.space();
        let there = self.text.as_bytes()[self.at..].starts_with(text.as_bytes());
        self.at += if there { text.len() } else { 0 };
        there
    }

    fn value(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.wrong();
        }
        let value = if self.take("null") {
            Value::Null
        } else if self.take("true") {
            Value::Bool(true)
        } else if self.take("false") {
            Value::Bool(false)
        } else if self.take("[") {
            Value::List(self.items("]", Reader::value)?)
        } else if self.take("{") {
            Value::Object(self.items("}", Reader::field)?)
        } else if self.peek() == b'"' {
            Value::Text(self.string()?)
        } else {
            self.number()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn items<T>(&mut self, end: &str, read: fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        while !self.take(end) {
            if !items.is_empty() && !self.take(",") {
                return self.wrong();
            }
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn field(&mut self) -> Result<(String, Value), String> {
        self.space();
        let name = self.string()?;
        if self.take(":") { Ok((name, self.value()?)) } else { self.wrong() }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        if let Ok(number) = text.parse() {
            return Ok(Value::Int(number));
        }
        text.parse().map(Value::Float).or_else(|_| self.wrong())
    }

    fn string(&mut self) -> Result<String, String> {
        if self.peek() != b'"' {
            return self.wrong();
        }
        self.at += 1;
        let mut units: Vec<u16> = Vec::new(); // escapes speak of UTF-16, where some characters have two halves
        let mut text = String::new();
        loop {
            let from = self.at;
            while !matches!(self.peek(), b'"' | b'\\' | 0) {
                self.at += 1;
            }
            if self.at > from || self.peek() != b'\\' || self.text.as_bytes().get(self.at + 1) != Some(&b'u') {
                text.push_str(&String::from_utf16_lossy(&units));
                units.clear();
            }
            text.push_str(&self.text[from..self.at]);
            self.at += 2;
            match (self.text.as_bytes().get(self.at - 2), self.text.as_bytes().get(self.at - 1)) {
                (Some(b'"'), _) => {
                    self.at -= 1;
                    return Ok(text);
                }
                (Some(b'\\'), Some(b'u')) => {
                    let code = self.text.get(self.at..self.at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
                    units.push(code.map_or_else(|| self.wrong(), Ok)?);
                    self.at += 4;
                }
                (Some(b'\\'), Some(short)) => text.push(match short {
                    b'n' => '\n',
                    b't' => '\t',
                    b'r' => '\r',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    other => *other as char,
                }),
                _ => return self.wrong(),
            }
        }
    }
}
