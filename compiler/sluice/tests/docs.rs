//! What the documentation says is so: its programs give the output beside them, the tutorial shows the files that lie beside it, the
//! examples run, options exist, links lead somewhere.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

#[path = "docs/markdown.rs"]
mod markdown;
#[path = "docs/session.rs"]
mod session;

use libtest_mimic::{Arguments, Failed, Trial};
use markdown::{Block, blocks, links, options_in, slugs};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

type Tested = Result<(), Failed>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// All pages of the repository, as paths from its root.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["", "docs/", "docs/tutorial/", "benchmarks/", "examples/"] {
        for entry in std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                pages.push(format!("{folder}{name}"));
            }
        }
    }
    pages.sort();
    pages
}

fn sluice(folder: &Path, args: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_sluice")).current_dir(folder).env("NO_COLOR", "1").args(args).output()
}

/// Standard output of a command that must end well.
fn well(folder: &Path, args: &[&str]) -> Result<String, Failed> {
    let out = sluice(folder, args)?;
    if !out.status.success() {
        return Err(format!("{args:?}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Equal but for spaces at the ends of lines, which pages do not keep.
fn same(what: &str, got: &str, want: &str) -> Tested {
    let plain = |t: &str| t.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_string();
    if plain(got) == plain(want) { Ok(()) } else { Err(format!("{what} gives\n{got}instead of\n{want}").into()) }
}

/// `// name: value` in the first lines.
fn directives<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().take(6);
    lines.filter_map(move |l| l.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
}

/// The first of them.
fn directive<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    directives(text, name).next()
}

/// Runs a program as its first lines say, both ways; it must give this. (A trace that ends with a fault is that of a run that fails.)
fn gives(folder: &Path, program: &str, text: &str, want: &str) -> Tested {
    for mode in [&["--interpret"][..], &[]] {
        let mut args = vec!["run", program];
        args.extend(mode);
        if let Some(input) = directive(text, "input") {
            args.extend(["--input", input]);
        }
        args.extend(directives(text, "native").flat_map(|file| ["--native", file]));
        match directive(text, "flags") {
            Some(flags) => args.extend(flags.split_whitespace()),
            None => args.extend(["--iterations", "4"]),
        }
        let got = if want.contains("  failed: ") {
            let out = sluice(folder, &args)?;
            if out.status.code() != Some(1) {
                return Err(format!("{args:?}: {}", out.status).into());
            }
            String::from_utf8_lossy(&out.stdout).into_owned()
        } else {
            well(folder, &args)?
        };
        same(&format!("{args:?}"), &got, want)?;
    }
    Ok(())
}

/// What a session in a shell types, up to where its output goes, and what it gets.
fn session(block: &Block) -> Option<(Vec<&str>, &str)> {
    let (command, want) = block.text.strip_prefix("$ sluice run ")?.split_once('\n')?;
    let typed = command.split('>').next().unwrap_or("");
    Some((typed.split_whitespace().collect(), want))
}

/// The statistics of a program on the page: the same streams with the same firings and items, the same lines below.
fn counts(name: &str, program: &str, flags: &[&str], want: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join(name), program)?;
    let out = sluice(folder.path(), &[&["run", name], flags].concat())?;
    // times and fills differ from run to run, and with them the order of the rows
    let plain = |text: &str| {
        let mut lines: Vec<Vec<String>> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split([' ', '(', ')', ';', ',']).filter(|w| !w.is_empty()).collect();
            let is_row = line.contains(".str:");
            let is_unit = |i: usize| matches!(words.get(i), Some(&("ns" | "us" | "ms" | "s" | "%")));
            let number = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
            let kept = (0..words.len()).filter(|i| !is_unit(*i) && !is_unit(i + 1) && (is_row || !number(words[*i])));
            let mut kept: Vec<String> = kept.map(|i| words[i].to_string()).collect();
            if is_row && kept.len() == 6 {
                kept.remove(3);
            }
            lines.push(kept);
        }
        lines.sort();
        lines
    };
    let (got, want) = (plain(&String::from_utf8_lossy(&out.stderr)), plain(want));
    if got == want { Ok(()) } else { Err(format!("{flags:?} gives\n{got:#?}\ninstead of\n{want:#?}").into()) }
}

/// A program on a page: it runs and gives what the page says.
fn on_page(page: &str, block: &Block, output: Option<&Block>, sources: &[Block]) -> Tested {
    let folder = tempfile::tempdir()?;
    // what it imports and reads lies beside the page
    for entry in std::fs::read_dir(root().join(page).parent().unwrap_or(Path::new("")))?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "str" || e == "txt") {
            std::fs::copy(&path, folder.path().join(entry.file_name()))?;
        }
    }
    // a session in a shell names the program
    let session = output.and_then(session);
    let name = session.as_ref().map_or("shown.str", |(typed, _)| typed[0]);
    std::fs::write(folder.path().join(name), &block.text)?;
    // its native functions are shown on the page: each file with its header
    for file in directives(&block.text, "native") {
        let wanted = format!("c {file}");
        let source = sources.iter().find(|b| b.info == wanted).ok_or(format!("the page does not show {file}"))?;
        let header = file.replace(".c", ".h");
        if !source.text.contains(&format!("#include \"{header}\"")) {
            return Err(format!("{file} does not include {header}").into());
        }
        std::fs::write(folder.path().join(file), &source.text)?;
        well(folder.path(), &["build", name, "--emit", "native-header", "-o", &header])?;
    }
    let Some(output) = output else { return well(folder.path(), &["check", name]).map(|_| ()) };
    match session {
        Some((typed, want)) => gives(folder.path(), name, &format!("// flags: {}\n", typed[1..].join(" ")), want),
        None => gives(folder.path(), name, &block.text, &output.text),
    }
}

/// A part of a program: it can be read, `...` standing for something.
fn fragment(block: &Block) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("part.str"), block.text.replace("{ ... }", "{ }"))?;
    well(folder.path(), &["check", "--parse-only", "part.str"]).map(|_| ())
}

/// Sessions that show statistics: their programs are on the page, with sessions of their own.
fn statistics(page: &str, all: &[Block], trials: &mut Vec<Trial>) {
    for block in all.iter().filter(|b| b.text.lines().next().is_some_and(|l| l.contains("--stats"))) {
        let Some((typed, want)) = session(block) else { continue };
        let named = |b: &Block| session(b).is_some_and(|(t, _)| t[0] == typed[0] && !t.contains(&"--stats"));
        let at = all.iter().position(named).unwrap_or_else(|| panic!("{page}: where is {}?", typed[0]));
        let program = all[..at].iter().rfind(|b| b.info == "str").map_or(String::new(), |b| b.text.clone());
        let typed: Vec<String> = typed.iter().map(|t| t.to_string()).collect();
        let want = want.to_string();
        trials.push(Trial::test(format!("statistics::{page}:{}", block.line), move || {
            let flags: Vec<&str> = typed[1..].iter().map(String::as_str).collect();
            counts(&typed[0], &program, &flags, &want)
        }));
    }
}

fn programs_on_pages(trials: &mut Vec<Trial>) {
    let mut count = 0;
    for page in pages() {
        let all = blocks(&read(&page));
        statistics(&page, &all, trials);
        for (i, block) in all.iter().enumerate() {
            let name = format!("page::{page}:{}", block.line);
            let (page, block) = (page.clone(), block.clone());
            let sources: Vec<Block> = all.iter().filter(|b| b.info.starts_with("c ")).cloned().collect();
            match block.info.as_str() {
                "str" => {
                    let mut output = all[i + 1..].iter().take_while(|b| !b.info.starts_with("str"));
                    let output = output.find(|b| b.info == "output" || b.text.starts_with("$ sluice run ")).cloned();
                    trials.push(Trial::test(name, move || on_page(&page, &block, output.as_ref(), &sources)));
                    count += 1;
                }
                "str fragment" => trials.push(Trial::test(name, move || fragment(&block))),
                "" if block.text.contains("work ") && block.text.contains('{') => {
                    trials.push(Trial::test(name, || Err("a program that is not marked as `str`".into())));
                }
                _ => {}
            }
        }
    }
    assert!(count >= 25, "only {count} programs on all pages");
}

/// The lesson's programs are the files beside it, and those do what is said.
fn lesson(number: &str) -> Tested {
    let folder = root().join("docs/tutorial");
    let (mut pages, mut programs) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(&folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.rsplit_once('.') {
            Some((stem, "md")) if stem.starts_with(number) => pages.push(name),
            Some((stem, "str")) if stem.starts_with(number) => programs.push(name),
            _ => {}
        }
    }
    let [page] = &pages[..] else { return Err(format!("{} pages", pages.len()).into()) };
    let shown: BTreeSet<String> = (blocks(&std::fs::read_to_string(folder.join(page))?).into_iter())
        .filter(|b| b.info.starts_with("str"))
        .map(|b| b.text)
        .collect();
    let mut files = BTreeSet::new();
    for program in &programs {
        let text = std::fs::read_to_string(folder.join(program))?;
        if program.replace(".str", ".md") == *page {
            let want = std::fs::read_to_string(folder.join(program).with_extension("expect"))?;
            gives(&folder, program, &text, &want)?;
        } else {
            well(&folder, &["check", program])?;
        }
        files.insert(text);
    }
    if shown == files { Ok(()) } else { Err(format!("{page} shows other programs than {programs:?}").into()) }
}

/// The filter that lesson 10 imports, by itself: seconds per kilometre to kilometres per hour.
fn part_of_lesson_10() -> Tested {
    let flags = "// input: 10-steps.txt\n// flags: --output-format text\n";
    let speeds = "12.0\n11.25\n10.0\n9.0\n10.0\n12.0\n";
    let folder = root().join("docs/tutorial");
    gives(&folder, "10-speed.str", flags, speeds)
}

/// Runs an example both ways on the same input; both must write the same bytes. Gives the interpreter's file.
fn both_ways(folder: &Path, example: &str, output: &str, flags: &[&str]) -> Result<PathBuf, Failed> {
    let program = root().join("examples").join(example).display().to_string();
    let files = [format!("interpreted-{output}"), format!("native-{output}")];
    for (file, mode) in files.iter().zip([&["--interpret"][..], &[]]) {
        well(folder, &[&["run", &program, "--output", file], flags, mode].concat())?;
    }
    let [a, b] = files.map(|f| folder.join(f));
    let (x, y) = (std::fs::read(&a)?, std::fs::read(&b)?);
    if x != y || x.len() < 500 {
        let at = x.iter().zip(&y).position(|(x, y)| x != y);
        return Err(format!("{example}: {} and {} bytes, different from byte {at:?} on", x.len(), y.len()).into());
    }
    Ok(a)
}

/// Every example checks and runs, each on what another one made.
fn examples() -> Tested {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let path = |p: &Path| p.display().to_string();
    let sound = path(&both_ways(folder, "fm-sound.str", "sound.wav", &["--rate", "48000", "--iterations", "1200"])?);
    let radio = path(&both_ways(folder, "fm-transmitter.str", "radio.iq", &["--input", &sound])?);
    both_ways(folder, "fm.str", "decoded.wav", &["--input", &radio, "--rate", "48000"])?;
    both_ways(folder, "equalizer.str", "clearer.wav", &["--top", "Channel", "--input", &sound])?;
    both_ways(folder, "equalizer.str", "louder.wav", &["--input", &sound, "--channels", "2"])?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("examples"))?.flatten() {
        if entry.path().extension().is_some_and(|e| e == "str") {
            well(folder, &["check", &entry.path().display().to_string()])?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    if names != ["equalizer.str", "fm-sound.str", "fm-transmitter.str", "fm.str"] {
        return Err(format!("this test runs other examples than {names:?}").into());
    }
    Ok(())
}

/// The example that is a project: its tests pass, and it does what its manifest says.
fn example_project() -> Tested {
    let folder = root().join("examples/dtmf");
    let said = well(&folder, &["test"])?;
    same("sluice test", &said, "call ... ok\ndial ... ok\npower ... ok\nshort ... ok\n\n4 passed; 0 failed")?;
    for mode in [&["run"][..], &["run", "--interpret"]] {
        same("sluice run", &well(&folder.join("src"), mode)?, "5\n0\n2\n2\n#")?;
    }
    Ok(())
}

const COMMANDS: [&str; 17] = [
    "check", "rates", "sdep", "schedule", "profile", "tune", "report", "cslow", "makespan", "graph", "build", "run",
    "test", "new", "fmt", "explain", "clean",
];

/// The options a command knows.
fn help(command: &str) -> Result<BTreeSet<String>, Failed> {
    let text = well(&root(), &[command, "--help"])?;
    Ok(text.lines().filter(|l| l.trim_start().starts_with('-')).flat_map(options_in).collect())
}

/// Options that pages and programs mention exist, and those that exist are described.
fn options() -> Tested {
    let mut all = BTreeSet::from(["--help".to_string(), "--version".to_string()]);
    let mut known = Vec::new();
    for command in COMMANDS {
        let options = help(command)?;
        all.extend(options.iter().cloned());
        known.push((command, options));
    }
    let mut faults = Vec::new();
    let mut mentioned = BTreeSet::new();
    let mut texts: Vec<(String, String)> = pages().into_iter().map(|p| (p.clone(), read(&p))).collect();
    for folder in ["examples", "docs/tutorial", "scripts"] {
        for entry in std::fs::read_dir(root().join(folder))?.flatten().filter(|e| e.path().is_file()) {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if !name.ends_with(".md") {
                texts.push((name, String::from_utf8_lossy(&std::fs::read(entry.path())?).into_owned()));
            }
        }
    }
    for (page, text) in &texts {
        for (i, line) in text.lines().enumerate() {
            // commands as they are typed: `sluice run x.str --flag`, up to a quote, a bracket or the next command
            for typed in line.split("sluice ").skip(1) {
                let typed = typed.split(['`', '|', '#', '(', '&']).next().unwrap_or("");
                let Some((command, options)) = known.iter().find(|(c, _)| typed.split_whitespace().next() == Some(c))
                else {
                    continue;
                };
                for option in options_in(typed).filter(|o| !options.contains(o)) {
                    faults.push(format!("{page}:{}: `sluice {command}` has no {option}", i + 1));
                }
            }
            // anything in the pages about the command
            let ours = page == "README.md" || page.starts_with("docs/");
            if ours && !line.contains("cargo ") && !line.contains("CC") {
                for option in options_in(line) {
                    if !all.contains(&option) && option.starts_with("--") {
                        faults.push(format!("{page}:{}: no command has {option}", i + 1));
                    }
                    if page == "docs/cli.md" {
                        mentioned.insert(option);
                    }
                }
            }
        }
    }
    for option in all.iter().filter(|o| o.starts_with("--") && !mentioned.contains(*o) && *o != "--help") {
        faults.push(format!("docs/cli.md says nothing of {option}"));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// What `--dump-after` knows and no table of an optimiser has: the steps before and after it.
const STEPS: [&str; 12] = [
    "parse",
    "elaborate",
    "steady-state",
    "c-slow",
    "schedule",
    "lower",
    "tiles",
    "emit-cuda",
    "disassemble",
    "jit",
    "emit-c",
    "compile-c",
];

/// In the table of passes, files are there and switches are options; each pass over kernels has a row, or stands in one; what `--dump-after` knows has a row, and the
/// rows are of what it knows.
fn passes() -> Tested {
    const PAGE: &str = "docs/passes.md";
    let text = read(PAGE);
    let options = help("run")?;
    let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| pass |")).collect();
    let mut faults = Vec::new();
    let of_passes = sluice_driver::session::passes().into_iter().filter(|p| !STEPS.contains(p));
    let known: Vec<String> = of_passes.map(|p| format!("| `{p}` |")).collect();
    faults.extend(known.iter().filter(|p| !rows.iter().any(|r| r.starts_with(*p))).map(|p| format!("no row {p}")));
    let named = rows.iter().filter(|r| r.starts_with("| `"));
    faults.extend(named.filter(|r| !known.iter().any(|p| r.starts_with(p))).map(|r| format!("no such pass: {r}")));
    for row in &rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, _, file, switch, tests] = cells[..] else {
            faults.push(format!("a row of other columns: {row}"));
            continue;
        };
        if !file.starts_with('`') || !tests.starts_with('`') {
            faults.push(format!("a row without a file, or without tests: {row}"));
        }
        let paths = row.split('`').filter(|s| s.contains('/') && s.ends_with(".rs"));
        faults.extend(paths.filter(|p| !root().join(p).is_file()).map(|p| format!("there is no {p}")));
        faults.extend(options_in(switch).filter(|o| !options.contains(o)).map(|o| format!("there is no {o}")));
        if !switch.is_empty() && options_in(switch).count() != 1 {
            faults.push(format!("a switch that is none: {switch}"));
        }
    }
    for entry in std::fs::read_dir(root().join("compiler/kernel/src/passes"))?.flatten().filter(|e| e.path().is_file())
    {
        let name = format!("compiler/kernel/src/passes/{}", entry.file_name().to_string_lossy());
        if read(&name).starts_with("//! # ") && !rows.iter().any(|r| r.contains(&format!("`{name}`"))) {
            faults.push(format!("{PAGE} says nothing of {name}"));
        }
    }
    if rows.len() < 12 {
        faults.push(format!("{PAGE} has {} rows", rows.len()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// Links between pages lead to files that are there, and to headings in them.
fn all_links() -> Tested {
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        let folder = root().join(&page).parent().map(Path::to_path_buf).unwrap_or_default();
        for (line, link) in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { root().join(&page) } else { folder.join(file) };
            if !target.exists() {
                faults.push(format!("{page}:{line}: there is no {file}"));
            } else if !heading.is_empty() && !slugs(&std::fs::read_to_string(&target)?).contains(heading) {
                faults.push(format!("{page}:{line}: {file} has no heading #{heading}"));
            }
        }
    }
    if count < 20 {
        faults.push(format!("only {count} links found"));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// A manifest, or the description of a test, that brings about a code.
fn index_manifest(code: &str, text: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    let of_a_test = code == "E0706";
    std::fs::create_dir(folder.path().join("tests"))?;
    std::fs::write(folder.path().join("program.str"), "void->void filter Main { work { println(1); } }")?;
    std::fs::write(folder.path().join("sluice.toml"), if of_a_test { "" } else { text })?;
    std::fs::write(folder.path().join("tests/example.toml"), text)?;
    let command = match code {
        "E0706" => "test",
        "E0993" => "makespan",
        _ => "check",
    };
    let out = sluice(folder.path(), &[command])?;
    let said = String::from_utf8_lossy(&[out.stderr, out.stdout].concat()).into_owned();
    if said.contains(&format!("[{code}]")) { Ok(()) } else { Err(format!("{code} is not reported:\n{said}").into()) }
}

/// The example of a code's entry in the error index brings about that code.
fn index_example(code: &str, text: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("example.str"), text)?;
    let run = directive(text, "run");
    let mut args = if run.is_some() {
        vec!["run", "example.str"]
    } else if code.starts_with("E09") {
        vec!["run", "--interpret", "--iterations", "4", "example.str"]
    } else {
        vec!["check", "example.str"]
    };
    if let Some(flags) = run.or_else(|| directive(text, "flags")) {
        args.extend(flags.split_whitespace());
    }
    let said = String::from_utf8_lossy(&sluice(folder.path(), &args)?.stderr).into_owned();
    if said.contains(&format!("[{code}]")) { Ok(()) } else { Err(format!("{code} is not reported:\n{said}").into()) }
}

/// A profile that brings about a code, for a program that it is not of.
fn index_profile(code: &str, text: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("program.str"), "void->void filter Main { work { println(1); } }")?;
    std::fs::write(folder.path().join("program.json"), text)?;
    let machine = if code == "E0972" { "h200" } else { "cpu" };
    let args = ["schedule", "program.str", "--profile", "program.json", "--machine", machine];
    let said = String::from_utf8_lossy(&sluice(folder.path(), &args)?.stderr).into_owned();
    if said.contains(&format!("[{code}]")) { Ok(()) } else { Err(format!("{code} is not reported:\n{said}").into()) }
}

/// A command line, or the file of its `--config`, that brings about a code of `sluice makespan`.
fn index_makespan(code: &str, text: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("makespan.toml"), text)?;
    let typed = text.trim().strip_prefix("sluice ").unwrap_or("makespan --config makespan.toml");
    let out = sluice(folder.path(), &typed.split_whitespace().collect::<Vec<_>>())?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if said.contains(&format!("[{code}]")) { Ok(()) } else { Err(format!("{code} is not reported:\n{said}").into()) }
}

fn error_index(trials: &mut Vec<Trial>) {
    for entry in read("docs/errors.md").split("\n## ").skip(1) {
        let code = entry.split(':').next().unwrap_or("").to_string();
        let name = format!("index::{code}");
        if let Some(example) = blocks(entry).into_iter().find(|b| ["text", "toml", "json"].contains(&b.info.as_str())) {
            trials.push(Trial::test(name, move || match example.info.as_str() {
                _ if ["E0990", "E0991", "E0992"].contains(&code.as_str()) => index_makespan(&code, &example.text),
                "toml" => index_manifest(&code, &example.text),
                "json" => index_profile(&code, &example.text),
                _ => index_example(&code, &example.text),
            }));
        }
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    programs_on_pages(&mut trials);
    error_index(&mut trials);
    for number in 1..=10 {
        trials.push(Trial::test(format!("lesson::{number:02}"), move || lesson(&format!("{number:02}-"))));
    }
    trials.push(Trial::test("lesson::10_speed", part_of_lesson_10));
    trials.push(Trial::test("examples", examples));
    trials.push(Trial::test("example_project", example_project));
    trials.push(Trial::test("session::projects", || session::session("docs/projects.md", 4, 3)));
    trials.push(Trial::test("session::loops", || session::session("docs/loops.md", 1, 0)));
    trials.push(Trial::test("session::linear", || session::session("docs/linear.md", 1, 0)));
    trials.push(Trial::test("session::cslow", || session::session("docs/cslow.md", 6, 0)));
    trials.push(Trial::test("options", options));
    trials.push(Trial::test("passes", passes));
    trials.push(Trial::test("links", all_links));
    libtest_mimic::run(&arguments, trials).exit();
}
