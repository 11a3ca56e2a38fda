//! A trace told again: what its firings push and pop are the channels' contents, item by item, and its messages arrive as they were
//! sent.

use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// What a trace adds up to.
#[derive(Default)]
pub struct Told {
    /// Items on each channel that were pushed and not popped yet.
    channels: BTreeMap<String, VecDeque<String>>,
    /// Firings of each stream.
    pub fired: BTreeMap<String, u64>,
    /// Items taken and given by each stream.
    pub items: BTreeMap<String, (u64, u64)>,
    /// All text in order.
    pub printed: String,
    /// What each writer popped.
    pub written: BTreeMap<String, Vec<Value>>,
    /// Messages under way: from, its firing, to, handler, arguments, when.
    sent: Vec<[String; 6]>,
    /// Messages that took effect.
    pub delivered: usize,
    /// The last line's number of steady states.
    pub steady_states: u64,
    shown: u64,
    kinds: BTreeMap<String, String>,
}

fn text(line: &Value, field: &str) -> String {
    line[field].as_str().unwrap_or("").to_string()
}

fn array<'v>(line: &'v Value, field: &str) -> &'v [Value] {
    line[field].as_array().map_or(&[], Vec::as_slice)
}

impl Told {
    /// Follows a trace; an error says where it does not add up.
    pub fn follow(lines: &[Value]) -> Result<Told, String> {
        let mut told = Told::default();
        for (i, line) in lines.iter().enumerate() {
            let kind = text(line, "type");
            if (i == 0) != (kind == "trace") || (i + 1 == lines.len()) != (kind == "end") {
                return Err(format!("line {}: {kind} is out of place", i + 1));
            }
            told.line(line, &kind).map_err(|e| format!("line {}: {e}\n{line}", i + 1))?;
        }
        Ok(told)
    }

    fn line(&mut self, line: &Value, kind: &str) -> Result<(), String> {
        match kind {
            "trace" => {
                for c in array(line, "channels") {
                    let initial = array(c, "initial").iter().map(Value::to_string).collect();
                    self.channels.insert(text(c, "id"), initial);
                }
                for s in array(line, "streams") {
                    self.kinds.insert(text(s, "id"), text(s, "kind"));
                }
                Ok(())
            }
            "init" => {
                self.printed.push_str(&text(line, "printed"));
                Ok(())
            }
            "message" => self.message(line),
            "firing" => self.firing(line),
            "end" => {
                self.steady_states = line["steady_states"].as_u64().unwrap_or(u64::MAX);
                match (line["shown"].as_u64() == Some(self.shown), line["cut"].as_bool()) {
                    (true, Some(false)) => Ok(()),
                    _ => Err(format!("{} firings were shown", self.shown)),
                }
            }
            _ => Err("an unknown line".into()),
        }
    }

    fn firing(&mut self, line: &Value) -> Result<(), String> {
        let id = text(line, "id");
        let count = self.fired.entry(id.clone()).or_default();
        *count += 1;
        self.shown += 1;
        if line["firing"].as_u64() != Some(*count) || (line["prework"] == true && *count != 1) {
            return Err(format!("this should be firing {count}"));
        }
        if line["outcome"] != "complete" {
            return Err("it is not complete".into());
        }
        let mut moved = (0, 0);
        for input in array(line, "inputs") {
            let channel = self.channels.get_mut(&text(input, "channel")).ok_or("an unknown channel")?;
            for item in array(input, "popped").iter().chain(array(input, "dropped")) {
                moved.0 += 1;
                if channel.pop_front() != Some(item.to_string()) {
                    return Err(format!("{item} is not the next item on {}", input["channel"]));
                }
            }
            for (i, item) in array(input, "peeked").iter().enumerate() {
                if channel.get(i) != Some(&item.to_string()) {
                    return Err(format!("peeked {item}, and {:?} is there", channel.get(i)));
                }
            }
            if self.kinds[&id] == "writer" {
                self.written.entry(id.clone()).or_default().extend_from_slice(array(input, "popped"));
            }
        }
        self.effects(line);
        for output in array(line, "outputs") {
            let channel = self.channels.get_mut(&text(output, "channel")).ok_or("an unknown channel")?;
            moved.1 += array(output, "pushed").len() as u64;
            if output["taken"] == true {
                channel.extend(array(output, "pushed").iter().map(Value::to_string));
            }
        }
        let items = self.items.entry(id).or_default();
        *items = (items.0 + moved.0, items.1 + moved.1);
        Ok(())
    }

    fn effects(&mut self, line: &Value) {
        self.printed.push_str(&text(line, "printed"));
        // what a handler sends counts as sent in the firing that follows
        let firing = line.get("firing").unwrap_or(&line["before_firing"]).to_string();
        for sent in array(line, "sent") {
            for to in array(sent, "to") {
                let (handler, args) = (text(sent, "handler"), sent["args"].to_string());
                let (to, when) = (text(to, "id"), to["before_firing"].to_string());
                self.sent.push([text(line, "id"), firing.clone(), to, handler, args, when]);
            }
        }
    }

    fn message(&mut self, line: &Value) -> Result<(), String> {
        let (handler, args) = (text(line, "handler"), line["args"].to_string());
        let firing = line["from_firing"].to_string();
        let key = [text(line, "from_id"), firing, text(line, "id"), handler, args];
        let at = self.sent.iter().position(|s| s[..5] == key).ok_or("nobody sent this")?;
        let due: u64 = self.sent.remove(at)[5].parse().map_err(|_| "no number")?;
        let now = line["before_firing"].as_u64().unwrap_or(0);
        let next = self.fired.get(&text(line, "id")).copied().unwrap_or(0) + 1;
        if due > now || now != next {
            return Err(format!("it is due before firing {due}, and comes before {next}"));
        }
        self.delivered += 1;
        self.effects(line);
        Ok(())
    }
}

/// Values as raw items: little-endian, without padding; bits eight to a byte. `None` for structs.
pub fn raw(values: &[Value], item: &str) -> Option<Vec<u8>> {
    let scalar = item.split('[').next()?;
    let mut out = Vec::new();
    let mut bits = Vec::new();
    for value in values {
        flatten(value, &mut |v| {
            let real = || match v {
                Value::String(s) if s == "NaN" => f64::NAN,
                Value::String(s) => {
                    if s.starts_with('-') {
                        f64::NEG_INFINITY
                    } else {
                        f64::INFINITY
                    }
                }
                _ => v.as_f64().unwrap_or(0.0),
            };
            match scalar {
                "int" => out.extend((v.as_i64().unwrap_or(0) as i32).to_le_bytes()),
                "boolean" => out.push(u8::from(v == &Value::Bool(true))),
                "double" => {
                    out.extend(if real().is_nan() { 0x7ff8_0000_0000_0000 } else { real().to_bits() }.to_le_bytes())
                }
                "bit" => bits.push(v == &Value::from(1)),
                _ => out.extend(if real().is_nan() { 0x7fc0_0000 } else { (real() as f32).to_bits() }.to_le_bytes()),
            }
        });
    }
    let simple = ["int", "boolean", "float", "double", "bit", "complex", "float2", "float3", "float4"];
    out.extend(bits.chunks(8).map(|c| c.iter().enumerate().map(|(i, b)| u8::from(*b) << (7 - i)).sum::<u8>()));
    simple.contains(&scalar).then_some(out)
}

fn flatten(value: &Value, each: &mut dyn FnMut(&Value)) {
    match value {
        Value::Array(parts) => parts.iter().for_each(|p| flatten(p, each)),
        _ => each(value),
    }
}
