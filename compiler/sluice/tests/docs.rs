//! What the documentation says is so: its programs give the output beside them, the tutorial shows the files that lie beside it, the
//! examples run, options exist, links lead somewhere.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

#[path = "docs/markdown.rs"]
mod markdown;

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
fn directive<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().take(6).find_map(|l| l.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
}

/// Runs a program as its first lines say, both ways; it must give this.
fn gives(folder: &Path, program: &str, text: &str, want: &str) -> Tested {
    for mode in [&["--interpret"][..], &[]] {
        let mut args = vec!["run", program];
        args.extend(mode);
        if let Some(input) = directive(text, "input") {
            args.extend(["--input", input]);
        }
        match directive(text, "flags") {
            Some(flags) => args.extend(flags.split_whitespace()),
            None => args.extend(["--iterations", "4"]),
        }
        same(&format!("{args:?}"), &well(folder, &args)?, want)?;
    }
    Ok(())
}

/// A program on a page: it runs and gives what the page says.
fn on_page(page: &str, block: &Block, output: Option<&Block>) -> Tested {
    let folder = tempfile::tempdir()?;
    // what it imports and reads lies beside the page
    for entry in std::fs::read_dir(root().join(page).parent().unwrap_or(Path::new("")))?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "str" || e == "txt") {
            std::fs::copy(&path, folder.path().join(entry.file_name()))?;
        }
    }
    let name = "shown.str";
    std::fs::write(folder.path().join(name), &block.text)?;
    let Some(output) = output else { return well(folder.path(), &["check", name]).map(|_| ()) };
    // a session in a shell: the command, then what it says
    match output.text.strip_prefix("$ sluice run ") {
        Some(session) => {
            let (command, want) = session.split_once('\n').unwrap_or((session, ""));
            let flags: Vec<&str> = command.split_whitespace().skip(1).collect();
            gives(folder.path(), name, &format!("// flags: {}\n", flags.join(" ")), want)
        }
        None => gives(folder.path(), name, &block.text, &output.text),
    }
}

/// A part of a program: it can be read, `...` standing for something.
fn fragment(block: &Block) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("part.str"), block.text.replace("{ ... }", "{ }"))?;
    well(folder.path(), &["check", "--parse-only", "part.str"]).map(|_| ())
}

fn programs_on_pages(trials: &mut Vec<Trial>) {
    let mut count = 0;
    for page in pages() {
        let all = blocks(&read(&page));
        for (i, block) in all.iter().enumerate() {
            let name = format!("page::{page}:{}", block.line);
            let (page, block) = (page.clone(), block.clone());
            match block.info.as_str() {
                "str" => {
                    let mut output = all[i + 1..].iter().take_while(|b| !b.info.starts_with("str"));
                    let output = output.find(|b| b.info == "output" || b.text.starts_with("$ sluice run ")).cloned();
                    trials.push(Trial::test(name, move || on_page(&page, &block, output.as_ref())));
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

const COMMANDS: [&str; 8] = ["check", "rates", "graph", "build", "run", "fmt", "explain", "clean"];

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

/// The example of a code's entry in the error index brings about that code.
fn index_example(code: &str, text: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("example.str"), text)?;
    let mut args = if code.starts_with("E09") {
        vec!["run", "--interpret", "--iterations", "4", "example.str"]
    } else {
        vec!["check", "example.str"]
    };
    if let Some(flags) = directive(text, "flags") {
        args.extend(flags.split_whitespace());
    }
    let said = String::from_utf8_lossy(&sluice(folder.path(), &args)?.stderr).into_owned();
    if said.contains(&format!("[{code}]")) { Ok(()) } else { Err(format!("{code} is not reported:\n{said}").into()) }
}

fn error_index(trials: &mut Vec<Trial>) {
    for entry in read("docs/errors.md").split("\n## ").skip(1) {
        let code = entry.split(':').next().unwrap_or("").to_string();
        if let Some(example) = blocks(entry).into_iter().find(|b| b.info == "text") {
            trials.push(Trial::test(format!("index::{code}"), move || index_example(&code, &example.text)));
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
    trials.push(Trial::test("options", options));
    trials.push(Trial::test("links", all_links));
    libtest_mimic::run(&arguments, trials).exit();
}
