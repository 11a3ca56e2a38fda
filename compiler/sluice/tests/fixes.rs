//! `sluice check --fix`: golden programs (tests/fix/NAME.str becomes NAME.fixed, and `SLUICE_BLESS=1` rewrites that), the
//! corpus with faults put in, files that import others, and what the command line and comments allow. Every program that ran before
//! gives the same text after.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One in so many programs of the corpus gets faults put in.
const EVERY: usize = 9;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sluice(folder: &Path, args: &[&str]) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    Ok(command.current_dir(folder).env("NO_COLOR", "1").args(args).output()?)
}

fn said(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

fn need(ok: bool, why: impl FnOnce() -> String) -> Result<(), Failed> {
    if ok { Ok(()) } else { Err(why().into()) }
}

/// What a program prints; `None` where it cannot run.
fn output(folder: &Path, file: &str, flags: &[&str]) -> Result<Option<Vec<u8>>, Failed> {
    let mut args = vec!["run", "--interpret", file];
    args.extend(flags);
    let o = sluice(folder, &args)?;
    Ok(o.status.success().then_some(o.stdout))
}

/// Mends a text and gives back the result, which must say the same, have nothing left to mend, and be what `--diff` said before.
fn mended(text: &str, flags: &[&str]) -> Result<String, Failed> {
    let folder = tempfile::tempdir()?;
    let (at, file) = (folder.path(), folder.path().join("a.str"));
    std::fs::write(&file, text)?;
    let before = output(at, "a.str", flags)?;
    let top: Vec<&str> = flags.iter().skip_while(|f| **f != "--top").take(2).copied().collect();
    let check = |more: &[&str]| sluice(at, &[&["check", "a.str", "--fix"][..], &top[..], more].concat());
    let shown = check(&["--diff"])?;
    need(std::fs::read_to_string(&file)? == text, || "--diff wrote the file".into())?;
    let made = check(&[])?;
    let after = std::fs::read_to_string(&file)?;
    need(shown.stdout.is_empty() == (after == text), || format!("--diff and --fix differ:\n{}", said(&made)))?;
    need(before.is_none() || before == output(at, "a.str", flags)?, || format!("another output with\n{after}"))?;
    let again = check(&[])?;
    need(said(&again).contains("nothing to fix"), || format!("not all at once:\n{}", said(&again)))?;
    need(std::fs::read_to_string(&file)? == after, || "changed once more".into())?;
    need(std::fs::read_dir(at)?.count() == 1, || "files were left".into())?;
    Ok(after)
}

fn golden(program: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(program)?;
    let got = mended(&text, &["--iterations", "5"])?;
    need(got != text, || "nothing was fixed".into())?;
    let file = program.with_extension("fixed");
    if std::env::var_os("SLUICE_BLESS").is_some() {
        std::fs::write(file, got)?;
        return Ok(());
    }
    let want = std::fs::read_to_string(&file).unwrap_or_default();
    need(got == want, || format!("another result (SLUICE_BLESS=1 accepts it)\n--- got\n{got}\n--- expected\n{want}"))
}

/// Puts faults in: the keyword where it does not belong, variables and fields of which nothing comes.
fn with_faults(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or("");
        let filter = code.contains("->") && code.contains(" filter ") && !code.contains("stateful");
        let line = if filter { line.replacen(" filter ", " stateful filter ", 1) } else { line.into() };
        match line.strip_suffix("{\n") {
            Some(front) if filter => out += &format!("{front}{{\n    int[3] put_in; float put_in_too = 2.5;\n"),
            Some(front) if front.trim_start().starts_with("work ") => {
                out += &format!(
                    "{front}{{\n        int put_in_here = 7, and_here;\n        int from_it = put_in_here + 1;\n"
                );
            }
            _ => out += &line,
        }
    }
    out
}

fn injected(program: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(program)?;
    let flags = text.lines().take(6).find_map(|l| l.strip_prefix("// flags: ")).unwrap_or("--iterations 4");
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let faulty = with_faults(&text);
    let got = mended(&faulty, &flags)?;
    need(!got.contains("put_in") && !got.contains("and_here") && !got.contains("from_it"), || format!("left:\n{got}"))
}

fn clean(program: &Path) -> Result<(), Failed> {
    let o = sluice(&root(), &["check", "--deny", "warnings", &program.to_string_lossy()])?;
    need(o.status.success() && o.stderr.is_empty(), || said(&o))
}

fn imports() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let main = "import \"part.str\";\nvoid->void pipeline Main { int x; add Source; add Sink; }\n";
    // in Latin-1, with the line ends of Windows
    let part = b"// caf\xe9\r\nvoid->int filter Source { int n; work push 1 {\r\n    int x;\r\n    push(n++); } }\r\n\
        int->void filter Sink { work pop 1 { println(pop()); } }\r\nint->int filter Spare { work pop 1 push 1 { push(pop()); } }\r\n";
    std::fs::write(at.join("main.str"), main)?;
    std::fs::write(at.join("part.str"), part)?;
    let made = sluice(at, &["check", "main.str", "--fix"])?;
    need(made.status.success() && said(&made).contains("2 fixes made in 2 files"), || said(&made))?;
    need(!said(&made).contains("Spare"), || "a library's streams need not all be used".into())?;
    let main_now = std::fs::read_to_string(at.join("main.str"))?;
    need(main_now == main.replace("int x; ", ""), || main_now)?;
    let text = |b: &[u8]| b.iter().map(|b| char::from(*b)).collect::<String>();
    let part_now = text(&std::fs::read(at.join("part.str"))?);
    need(part_now == text(part).replace("    int x;\r\n", ""), || part_now)
}

/// All files or none: one that cannot be written keeps the others as they are.
#[cfg(unix)]
fn read_only() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let part = "void->void filter F { work { int x; println(1); } }\n";
    let main = "import \"part.str\";\nvoid->void pipeline Main { int x; add F; }\n";
    std::fs::write(at.join("main.str"), main)?;
    std::fs::write(at.join("part.str"), part)?;
    std::fs::set_permissions(at.join("part.str"), std::fs::Permissions::from_mode(0o444))?;
    let o = sluice(at, &["check", "main.str", "--fix"])?;
    need(!o.status.success() && said(&o).contains("read-only"), || said(&o))?;
    need(std::fs::read_to_string(at.join("main.str"))? == main, || "the other file was written".into())?;
    need(std::fs::read_dir(at)?.count() == 2, || "files were left".into())
}

fn levels() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    std::fs::write(at.join("a.str"), "void->void filter F { work { int x; println(1 << 2 + 1); } }\n")?;
    let check = |args: &[&str]| sluice(at, &[&["check", "a.str"][..], args].concat());
    for (args, ends, says, says_not) in [
        (&[][..], 0, "2 warnings", "error"),
        (&["--allow", "W0213"], 0, "1 warning", "W0213"),
        (&["--allow", "w0213,W0203"], 0, "", "W02"),
        (&["--allow", "warnings"], 0, "", "W02"),
        (&["--deny", "W0213"], 1, "1 error, 1 warning", "[W0203] Error"),
        (&["--deny", "warnings"], 1, "2 errors", "warning ("),
        (&["--deny", "warnings", "--allow", "W0203"], 1, "1 error", "W0203"),
        (&["--deny", "warnings", "--warn", "W0203"], 1, "1 error, 1 warning", "[W0203] Error"),
        (&["--allow", "W9999"], 2, "there is no warning `W9999`", "W02"),
        (&["--allow", "E0200"], 2, "only warnings have levels", "W02"),
        (&["--allow", "W0203", "--deny", "W0203"], 2, "W0203 is given two levels", "W0213"),
    ] {
        let o = check(args)?;
        let (text, code) = (said(&o), o.status.code());
        need(code == Some(ends) && text.contains(says) && !text.contains(says_not), || {
            format!("{args:?}: {code:?}\n{text}")
        })?;
    }
    // what is denied is mended, too
    let o = check(&["--deny", "warnings", "--fix"])?;
    need(o.status.success() && said(&o).contains("2 fixes made in 1 file"), || said(&o))
}

fn in_json() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    std::fs::write(at.join("a.str"), "void->void filter F { work { println(1 << 2 + 1); } }\n")?;
    let lines = |o: Output| -> Result<Vec<serde_json::Value>, Failed> {
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    };
    let seen = lines(sluice(at, &["check", "a.str", "--message-format", "json"])?)?;
    let fixes = seen[0]["fixes"].as_array().cloned().unwrap_or_default();
    need(fixes.len() == 2 && fixes[0]["applicability"] == "safe" && fixes[1]["applicability"] == "look", || {
        format!("{seen:?}")
    })?;
    need(fixes[0]["edits"][0]["text"] == "(" && fixes[0]["edits"][0]["file"] == "a.str", || format!("{seen:?}"))?;
    let made = lines(sluice(at, &["check", "a.str", "--fix", "--message-format", "json"])?)?;
    let of = |kind: &str| made.iter().find(|l| l["type"] == kind).cloned().unwrap_or_default();
    need(of("fix")["code"] == "W0203" && of("fix")["made"] == true, || format!("{made:?}"))?;
    need(of("summary")["warnings"] == 0, || format!("{made:?}"))
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "str")).collect();
    all.sort();
    all
}

fn main() {
    let mut trials = Vec::new();
    let name = |p: &Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for p in programs("tests/fix") {
        trials.push(Trial::test(format!("golden::{}", name(&p)), move || golden(&p)));
    }
    let corpus = programs("tests/run").into_iter().filter(|p| {
        // programs in other encodings have tests of their own
        let Ok(text) = std::fs::read_to_string(p) else { return false };
        !["// input", "// native", "FileReader", "sluice: allow", "--bind"].iter().any(|w| text.contains(w))
    });
    for p in corpus.step_by(EVERY) {
        trials.push(Trial::test(format!("injected::{}", name(&p)), move || injected(&p)));
    }
    for p in ["examples", "docs/tutorial"].into_iter().flat_map(programs) {
        trials.push(Trial::test(format!("clean::{}", name(&p)), move || clean(&p)));
    }
    assert!(trials.len() > 40, "the programs are missing");
    trials.push(Trial::test("imports", imports));
    #[cfg(unix)]
    trials.push(Trial::test("read_only", read_only));
    trials.push(Trial::test("levels", levels));
    trials.push(Trial::test("in_json", in_json));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
