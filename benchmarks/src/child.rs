//! Processes, and what the system has counted of each when it ends: processor time and memory of the process and of all that it waited for. What else
//! the machine does changes neither, or little.

#![allow(unsafe_code)] // the one function that tells
#![allow(clippy::disallowed_methods)] // it starts processes and reads the clock

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a process came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Well.
    Well,
    /// Otherwise: what it said, or the number of a signal.
    Badly(String),
    /// It took longer than it was given.
    Late,
}

/// One that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// Seconds of a processor.
    pub cpu: f64,
    /// Seconds of the clock.
    pub wall: f64,
    /// The most memory that was resident, in bytes. Not less than this process' own: the system counts from before the program is loaded.
    pub peak: u64,
    /// What came on standard error.
    pub said: String,
}

impl Ended {
    /// Itself where it ended well, else why not.
    pub fn well(self) -> Result<Ended, String> {
        match &self.end {
            End::Well => Ok(self),
            End::Badly(why) => Err(why.clone()),
            End::Late => Err(format!("not done within {:.0} s", self.wall)),
        }
    }
}

/// Bytes for standard input: so many, by repeating a block.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// The block.
    pub block: &'a [u8],
    /// How many in all.
    pub bytes: u64,
}

/// Processor seconds of this thread so far.
pub fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs a command to its end, and no longer than `limit`; its output is thrown away.
pub fn ended(command: &mut Command, feed: Option<Feed<'_>>, limit: Duration) -> Result<Ended, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let stdin = if feed.is_some() { Stdio::piped() } else { Stdio::null() };
    // a group of its own: what it starts ends with it
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
    let id = libc::pid_t::try_from(child.id()).map_err(|e| e.to_string())?;
    let (input, errors) = (child.stdin.take(), child.stderr.take());
    std::thread::scope(|threads| {
        if let (Some(mut pipe), Some(feed)) = (input, feed) {
            threads.spawn(move || {
                let mut left = feed.bytes;
                while left > 0 {
                    let n = left.min(feed.block.len() as u64);
                    // it may have ended before it read all
                    if pipe.write_all(&feed.block[..n as usize]).is_err() {
                        break;
                    }
                    left -= n;
                }
            });
        }
        let said = threads.spawn(move || {
            let mut text = Vec::new();
            let _ = errors.map(|mut pipe| pipe.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        });
        let (mut late, mut status) = (false, 0);
        // SAFETY: numbers and times, for which zeroes are values.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: the child has not been waited for, and both places are ours.
            match unsafe { libc::wait4(id, &mut status, libc::WNOHANG, &mut usage) } {
                0 => {}
                n if n == id => break,
                _ => return Err(format!("{name}: {}", std::io::Error::last_os_error())),
            }
            if !late && start.elapsed() > limit {
                late = true;
                // SAFETY: a signal to the group that was made for it.
                unsafe { libc::kill(-id, libc::SIGKILL) };
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let wall = start.elapsed().as_secs_f64();
        let said = said.join().unwrap_or_default();
        let end = match () {
            () if late => End::Late,
            () if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => End::Well,
            () if libc::WIFSIGNALED(status) => End::Badly(format!("signal {}", libc::WTERMSIG(status))),
            () => End::Badly(said.lines().next().unwrap_or("it failed and said nothing").to_string()),
        };
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
        let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
        Ok(Ended { end, cpu, wall, peak: usage.ru_maxrss as u64 * 1024, said })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, feed: Option<Feed<'_>>, limit: u64) -> Ended {
        ended(Command::new("sh").args(["-c", script]), feed, Duration::from_secs(limit)).unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        assert_eq!(shell("true", None, 60).end, End::Well);
        let bad = shell("echo 'this is why' >&2; exit 3", None, 60);
        assert_eq!((bad.end, bad.said.as_str()), (End::Badly("this is why".into()), "this is why\n"));
        assert_eq!(shell("kill -9 $$", None, 60).end, End::Badly("signal 9".into()));
        // with all that it started: the pipe of standard error is closed, else this would not come back
        let late = shell("sleep 1000 & sleep 1000", None, 0);
        assert_eq!(late.end, End::Late);
        assert!(late.well().unwrap_err().starts_with("not done within"));
        assert!(ended(&mut Command::new("/nowhere/nothing"), None, Duration::ZERO).is_err());
    }

    #[test]
    fn who_sleeps_needs_no_processor() {
        let (start, clock) = (thread_seconds(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let slept = thread_seconds() - start;
        assert!(slept < clock.elapsed().as_secs_f64() / 2.0);
        while thread_seconds() - start < slept + 0.01 {}
    }

    #[test]
    fn all_input_comes_and_memory_and_time_are_counted() {
        let feed = Feed { block: b"12345", bytes: 1_000_003 };
        assert_eq!(shell("test $(wc -c) = 1000003", Some(feed), 60).end, End::Well);
        // one that reads nothing
        assert_eq!(shell("true", Some(Feed { block: &[0; 4096], bytes: 1 << 30 }), 60).end, End::Well);
        let small = shell("true", None, 60);
        let large = shell("head -c 50000000 /dev/zero | tail -c 50000000 >/dev/null", None, 60);
        assert!(large.peak > small.peak + 40_000_000, "{} and {}", small.peak, large.peak);
        assert!(large.cpu > small.cpu, "{} and {}", small.cpu, large.cpu);
    }
}
