//! # messages
//!
//! Purpose: what a client sends, made fit for the protocol's library, which ends at the first message that it cannot read. Input: bytes. Output: the same messages, each with a plain header and
//! sound JSON; in the place of one that is none, a request that says what is wrong with it ([`UNREADABLE`]), which [`crate::farewell`] answers. Headers are taken as other servers take them: in any case of
//! letters, unknown ones passed over. Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD: the edit that they are part of would be lost otherwise, and the texts of client and server be
//! different from then on. Limits: a message of [`LARGEST`] bytes, a line of a header of [`LONGEST`]: behind those nobody knows where the next message begins.

use serde_json::{Value, json};
use std::borrow::Cow;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tower_lsp::jsonrpc::{Error, ErrorCode, Request, Response};

/// The method of requests that stand for messages that cannot be read. Their parameters are the code and the words of the answer.
pub const UNREADABLE: &str = "$/sluice/unreadable";

/// A message may have so many bytes.
pub const LARGEST: u64 = 1 << 30;

/// And a line of its header.
const LONGEST: u64 = 64 << 10;

/// Passes messages on until the input ends. An error: what came is such that no message can be found behind it; it has been passed on to be answered.
pub async fn pass(input: impl AsyncRead + Unpin, mut output: impl AsyncWrite + Unpin) -> Result<(), String> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    loop {
        let body = match next(&mut input).await {
            Next::Message(bytes) => match read(&bytes) {
                Ok(message) => message,
                Err(fault) => fault.request(),
            },
            Next::Fault(fault) => fault.request(),
            Next::Lost(why) => {
                // the client may be gone; the reason is told in any case
                let _ = send(&mut output, &Fault { code: ErrorCode::InvalidRequest, why: why.clone() }.request()).await;
                return Err(why);
            }
            Next::End => return Ok(()),
        };
        if send(&mut output, &body).await.is_err() {
            return Ok(());
        }
    }
}

async fn send(output: &mut (impl AsyncWrite + Unpin), message: &Value) -> std::io::Result<()> {
    let body = message.to_string();
    output.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await?;
    output.write_all(body.as_bytes()).await?;
    output.flush().await
}

/// What stands next in the input.
enum Next {
    Message(Vec<u8>),
    Fault(Fault),
    Lost(String),
    End,
}

/// Why something is no message.
struct Fault {
    code: ErrorCode,
    why: String,
}

impl Fault {
    fn request(self) -> Value {
        json!({ "jsonrpc": "2.0", "id": null, "method": UNREADABLE, "params": { "code": self.code.code(), "why": self.why } })
    }
}

/// The answer to a request of [`UNREADABLE`].
pub fn answer(request: &Request) -> Response {
    let said = |key: &str| request.params().and_then(|p| p.get(key));
    let code = said("code").and_then(Value::as_i64).unwrap_or(ErrorCode::InvalidRequest.code());
    let why = said("why").and_then(Value::as_str).unwrap_or("this is no message of the protocol").to_string();
    let error = Error { code: ErrorCode::from(code), message: why.into(), data: None };
    Response::from_error(request.id().cloned().unwrap_or_default(), error)
}

/// Reads a header and what it announces.
async fn next(input: &mut (impl AsyncBufRead + Unpin)) -> Next {
    let parse_error = |why: &str| Next::Fault(Fault { code: ErrorCode::ParseError, why: why.into() });
    let (mut length, mut line, mut anything) = (None, Vec::new(), false);
    loop {
        line.clear();
        match (&mut *input).take(LONGEST).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return Next::End,
            Ok(n) if n as u64 == LONGEST => {
                return Next::Lost(format!("a line of a header has more than {} KiB: the server ends", LONGEST >> 10));
            }
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim().to_ascii_lowercase();
        if text.is_empty() {
            match length.take() {
                Some(Ok(n)) => return body(input, n).await,
                Some(Err(())) => return parse_error("`Content-Length` is no number of bytes"),
                None if anything => return parse_error("a message without `Content-Length`"),
                // an empty line before a header
                None => continue,
            }
        }
        anything = true;
        // what was left of a message whose length was unknown may stand before it on its line
        if let Some((_, n)) = text.rsplit_once("content-length:") {
            let n = n.trim();
            length = Some(match n.bytes().all(|b| b.is_ascii_digit()) && !n.is_empty() {
                // more digits than a number has are more bytes than a message has
                true => Ok(n.parse::<u64>().unwrap_or(u64::MAX)),
                false => Err(()),
            });
        }
    }
}

async fn body(input: &mut (impl AsyncBufRead + Unpin), length: u64) -> Next {
    if length > LARGEST {
        return Next::Lost(format!("a message has more than {} MiB: the server ends", LARGEST >> 20));
    }
    let mut bytes = Vec::new();
    match input.take(length).read_to_end(&mut bytes).await {
        Ok(n) if n as u64 == length => Next::Message(bytes),
        _ => Next::End,
    }
}

/// The message in a body, if it is one.
fn read(bytes: &[u8]) -> Result<Value, Fault> {
    let text = String::from_utf8_lossy(bytes);
    let parsed = serde_json::from_str(&whole(&text));
    let message: Value =
        parsed.map_err(|e| Fault { code: ErrorCode::ParseError, why: format!("this is not JSON: {e}") })?;
    let invalid = |why: &str| Err(Fault { code: ErrorCode::InvalidRequest, why: why.into() });
    let Some(fields) = message.as_object() else { return invalid("a message is an object") };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` must be \"2.0\"");
    }
    if fields.get("id").is_some_and(|id| !(id.is_i64() || id.is_string() || id.is_null())) {
        return invalid("`id` must be a whole number or a text");
    }
    match fields.get("method") {
        Some(Value::String(_)) => {}
        Some(_) => return invalid("`method` must be a text"),
        None if serde_json::from_value::<Response>(message.clone()).is_err() => {
            return invalid("neither a request nor an answer");
        }
        None => {}
    }
    Ok(message)
}

/// The text without halves of surrogate pairs: `\ud83d` alone becomes `\ufffd`.
fn whole(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        let unit = |i: usize| match text.get(i..i + 2) {
            Some("\\u") => u16::from_str_radix(text.get(i + 2..i + 6)?, 16).ok(),
            _ => None,
        };
        let (high, low) = (0xd800..0xdc00, 0xdc00..0xe000);
        at = match unit(start) {
            Some(first) if high.contains(&first) && unit(start + 6).is_some_and(|u| low.contains(&u)) => start + 12,
            Some(half) if high.contains(&half) || low.contains(&half) => {
                out += &text[kept..start];
                out += "\\ufffd";
                kept = start + 6;
                kept
            }
            // the character behind a backslash may be another one, or one of several bytes in what is no JSON
            _ => start + 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    match kept {
        0 => text.into(),
        _ => (out + &text[kept..]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced() {
        assert_eq!(whole(r#""a\ud83d""#), r#""a\ufffd""#);
        assert_eq!(whole(r#""\ud83d\ude00\ude00\n""#), r#""\ud83d\ude00\ufffd\n""#);
        assert_eq!(whole(r#""\\ud83d \\\ud83d""#), r#""\\ud83d \\\ufffd""#, "a backslash, and then letters");
        assert_eq!(whole("\"\\ä\\u12\\"), "\"\\ä\\u12\\", "what is no JSON stays");
    }
}
