//! `sluice fmt`: files, folders, pipes, `--check`, and what is left alone.

use crate::support::{Place, TWICE, finish};

const BAD: &str = "void->void filter F { work { x = ; } }\n";
/// What [`TWICE`] becomes.
const FORMATTED: &str = "float->float filter Twice {\n    work pop 1 push 1 { push(pop() * 2); }\n}\n";

fn read(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path(name)).unwrap()
}

fn modified(place: &Place, name: &str) -> std::time::SystemTime {
    std::fs::metadata(place.path(name)).unwrap().modified().unwrap()
}

#[test]
fn files_in_place() {
    let place = Place::new().with("a.str", TWICE).with("right.str", FORMATTED);
    let before = modified(&place, "right.str");
    let done = place.run(&["fmt", "a.str", "right.str"]).ends(0);
    assert_eq!(done.text(), "formatted a.str\n");
    assert_eq!(done.stderr, "");
    assert_eq!(read(&place, "a.str"), FORMATTED.as_bytes());
    assert_eq!(modified(&place, "right.str"), before, "a file that is right is not written");
    assert_eq!(place.run(&["fmt", "a.str", "right.str"]).ends(0).text(), "");
    assert_eq!(place.files(), ["a.str", "right.str"], "nothing is left behind");
}

#[test]
fn check_shows_a_diff_and_changes_nothing() {
    let place = Place::new().with("a.str", TWICE).with("right.str", FORMATTED);
    let done = place.run(&["fmt", "--check", "a.str", "right.str"]).ends(1).says("1 of 2 files are not formatted");
    let diff = "--- a.str\n+++ a.str\n@@ -1,3 +1,3 @@\n float->float filter Twice {\n\
                -  work pop 1 push 1 { push(pop() * 2); }\n+    work pop 1 push 1 { push(pop() * 2); }\n }\n";
    assert_eq!(done.text(), diff);
    assert_eq!(read(&place, "a.str"), TWICE.as_bytes());
    let done = place.run(&["fmt", "--check", "right.str"]).ends(0);
    assert_eq!((done.text(), &*done.stderr), ("", ""));
}

#[test]
fn standard_input() {
    let place = Place::new();
    assert_eq!(place.run_with(&["fmt", "-"], TWICE.as_bytes()).ends(0).text(), FORMATTED);
    let done = place.run_with(&["fmt", "-", "--check"], TWICE.as_bytes()).ends(1);
    assert!(done.text().starts_with("--- <stdin>\n"), "{done:?}");
    assert_eq!(place.run_with(&["fmt", "-", "--check"], FORMATTED.as_bytes()).ends(0).text(), "");
    let done = place.run_with(&["fmt", "-"], BAD.as_bytes()).ends(1).says("<stdin>:1:").says("1 error");
    assert_eq!(done.text(), "", "an editor keeps what it has");
    place.run_with(&["fmt", "-", "a.str"], b"").ends(2).says("by itself");
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn folders() {
    let place = Place::new().with("b.str", TWICE).with("other.txt", TWICE);
    for folder in ["sub/deeper", ".hidden"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    let place = place.with("sub/deeper/a.str", TWICE).with(".hidden/c.str", TWICE).with("sub/right.str", FORMATTED);
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path(""), place.path("sub/circle")).unwrap();
    let done = place.run(&["fmt", "."]).ends(0);
    assert_eq!(done.text(), "formatted ./b.str\nformatted ./sub/deeper/a.str\n");
    assert_eq!(read(&place, "other.txt"), TWICE.as_bytes());
    assert_eq!(read(&place, ".hidden/c.str"), TWICE.as_bytes());
    // By name anything is formatted, once.
    assert_eq!(place.run(&["fmt", "other.txt", "./other.txt", "b.str", "."]).ends(0).text(), "formatted other.txt\n");
    std::fs::create_dir(place.path("empty")).unwrap();
    place.run(&["fmt", "empty"]).ends(0).says("no .str files in empty");
}

#[test]
fn good_and_bad_files() {
    let place = Place::new().with("bad.str", BAD).with("good.str", TWICE).with("worse.str", "{");
    let done = place.run(&["fmt", "bad.str", "none.str", "good.str", "worse.str"]).ends(3);
    assert_eq!(done.text(), "formatted good.str\n");
    let done = done.says("cannot read none.str: no such file").says("bad.str:1:").says("worse.str:1:").says("3 errors");
    drop(done);
    assert_eq!(read(&place, "bad.str"), BAD.as_bytes());
    place.run(&["fmt", "bad.str"]).ends(1);
    place.run(&["fmt", "--check", "bad.str", "good.str"]).ends(1).says("bad.str:1:");
    let done = place.run(&["fmt", "--message-format", "json", "bad.str", "none.str"]).ends(3);
    let kinds: Vec<String> = done
        .stderr
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(kinds, ["fault", "diagnostic", "summary"]);
}

#[test]
fn projects() {
    let place = Place::new();
    place.run(&["fmt"]).ends(2).says("no file is named").says("sluice fmt .");
    place.run(&["new", "radio"]).ends(0);
    // What `sluice new` makes is formatted.
    place.run(&["fmt", "--check", "radio"]).ends(0);
    let place = place.with("radio/src/more.str", TWICE).with("radio/tests/test.str", TWICE).with("other.str", TWICE);
    let within = |folder: &str, arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.current_dir(place.path(folder));
        finish(command, b"")
    };
    let done = within("radio/src", &["fmt", "--check"]).ends(1);
    assert!(done.text().contains("+++ ../src/more.str\n"), "{done:?}");
    let done = within("radio/src", &["fmt"]).ends(0);
    assert_eq!(done.text(), "formatted ../src/more.str\nformatted ../tests/test.str\n");
    assert_eq!(read(&place, "other.str"), TWICE.as_bytes());
    place.run(&["fmt", "radio/sluice.toml", "--check"]).ends(0);
}

#[test]
fn what_may_not_be_written_stays() {
    let place = Place::new().with("a.str", TWICE).with("b.str", TWICE);
    let mut permissions = std::fs::metadata(place.path("a.str")).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(place.path("a.str"), permissions).unwrap();
    let done = place.run(&["fmt", "a.str", "b.str"]).ends(3).says("cannot write a.str: it is read-only");
    assert_eq!(done.text(), "formatted b.str\n");
    assert_eq!(read(&place, "a.str"), TWICE.as_bytes());
    // `--check` needs no leave to write.
    place.run(&["fmt", "--check", "a.str"]).ends(1);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new().with("a.str", TWICE);
    std::fs::set_permissions(place.path("a.str"), std::fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("a.str", place.path("link.str")).unwrap();
    place.run(&["fmt", "link.str"]).ends(0);
    assert_eq!(read(&place, "a.str"), FORMATTED.as_bytes());
    assert!(std::fs::symlink_metadata(place.path("link.str")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(place.path("a.str")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn bytes_stay_what_they_are() {
    // Latin-1 with a mark and CRLF; no line end at the end.
    let place = Place::new().with("a.str", b"\xef\xbb\xbfvoid->void filter F{}\r\n// caf\xe9\t\xff");
    place.run(&["fmt", "a.str"]).ends(0);
    assert_eq!(read(&place, "a.str"), b"\xef\xbb\xbfvoid->void filter F { }\r\n// caf\xe9\t\xff\r\n");
    let done = place.run_with(&["fmt", "-"], b"//  \xe9");
    assert_eq!(done.ends(0).stdout, b"//  \xe9\n");
    let place = Place::new().with("a.str", "// \u{3b1}\n\n\n");
    place.run(&["fmt", "a.str"]).ends(0);
    assert_eq!(read(&place, "a.str"), "// \u{3b1}\n".as_bytes());
}

#[test]
fn large_files_take_little_time() {
    let mut text = String::new();
    for n in 0..700 {
        text.push_str(&format!(
            "// Filter number {n}.\nfloat->float filter F{n}(int N, float[N] h) {{\n  float sum = 0; // so far\n  \
             work push 1 pop 1 peek N {{\n    for (int i=0; i<N; i++) {{ sum += h[i]*peek(i); }}\n    push(sum);pop();\n  }}\n}}\n"
        ));
    }
    assert!(text.lines().count() > 5000);
    let place = Place::new().with("a.str", &text);
    let start = std::time::Instant::now();
    place.run(&["fmt", "a.str"]).ends(0);
    // Far more than it takes on a machine that is at rest (docs/fmt.md).
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    place.run(&["fmt", "--check", "a.str"]).ends(0);
}
