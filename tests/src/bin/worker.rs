//! Does what tests ask for over a pipe, in a process that may be lost.

use sluice_tests::message::Message;
use sluice_tests::work;
use std::io::{BufReader, stdin, stdout};

fn main() {
    // whoever starts it has made a folder for it, and removes that
    let folder = std::env::current_dir().expect("a folder of its own");
    let (mut from, mut to) = (BufReader::new(stdin().lock()), stdout().lock());
    while let Ok(job) = Message::read(&mut from) {
        let answer = work::answer(&job, &folder);
        if answer.write(&mut to).is_err() {
            break;
        }
    }
}
