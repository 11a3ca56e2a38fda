//! Does what tests ask for over a pipe, in a process that may be lost.

#![allow(clippy::disallowed_methods)] // it writes files and sets variables for the code under test

use sluice_tests::message::Message;
use sluice_tests::work;
use std::io::{BufReader, stdin, stdout};

fn main() {
    let folder = tempfile::tempdir().expect("a folder of its own");
    std::env::set_current_dir(folder.path()).expect("its own folder");
    let (mut from, mut to) = (BufReader::new(stdin().lock()), stdout().lock());
    while let Ok(job) = Message::read(&mut from) {
        let answer = work::answer(&job, folder.path());
        if answer.write(&mut to).is_err() {
            break;
        }
    }
}
