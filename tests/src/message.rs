//! What tests and their workers say to each other: named fields of bytes, over a pipe.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

/// Named fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(BTreeMap<String, Vec<u8>>);

impl Message {
    /// A message that asks for, or answers, this.
    pub fn new(kind: &str) -> Message {
        Message::default().with("kind", kind)
    }

    /// With one more field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Message {
        self.0.insert(name.into(), value.as_ref().to_vec());
        self
    }

    /// A field's bytes.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// A field as text; empty where it is missing.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(self.bytes(name).unwrap_or_default()).into_owned()
    }

    /// A field as a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name).parse().ok()
    }

    /// Sends it.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut all = Vec::new();
        let mut part = |bytes: &[u8]| {
            all.extend((bytes.len() as u32).to_le_bytes());
            all.extend(bytes);
        };
        for (name, value) in &self.0 {
            part(name.as_bytes());
            part(value);
        }
        to.write_all(&(self.0.len() as u32).to_le_bytes())?;
        to.write_all(&all)?;
        to.flush()
    }

    /// Receives one; an error at the end of the stream.
    pub fn read(from: &mut impl Read) -> io::Result<Message> {
        fn number(from: &mut impl Read) -> io::Result<usize> {
            let mut n = [0; 4];
            from.read_exact(&mut n)?;
            Ok(u32::from_le_bytes(n) as usize)
        }
        fn part(from: &mut impl Read) -> io::Result<Vec<u8>> {
            let mut bytes = vec![0; number(from)?];
            from.read_exact(&mut bytes)?;
            Ok(bytes)
        }
        let mut fields = BTreeMap::new();
        for _ in 0..number(from)? {
            let name = String::from_utf8_lossy(&part(from)?).into_owned();
            fields.insert(name, part(from)?);
        }
        Ok(Message(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_through() {
        let m = Message::new("run").with("n", "42").with("input", [0, 255, 10]);
        let mut pipe = Vec::new();
        m.write(&mut pipe).unwrap();
        let mut from = &pipe[..];
        assert_eq!(Message::read(&mut from).unwrap(), m);
        assert!(Message::read(&mut from).is_err());
        assert_eq!(m.number("n"), Some(42));
        assert_eq!(m.bytes("input"), Some(&[0, 255, 10][..]));
    }
}
