//! `sluice schedule` and `sluice report`.

use crate::support::*;
use serde_json::Value;

/// A source with state, a window, two branches, a loop, a sink that prints.
const PROGRAM: &str = "\
void->int filter Count {
    int n;
    work push 2 {
        push(n++);
        push(n++);
    }
}
int->int filter Window {
    work pop 3 push 1 peek 5 {
        push(peek(0) + peek(4));
        for (int i = 0; i < 3; i++) pop();
    }
}
int->int filter Heavy(int n) {
    work pop 1 push 1 {
        int s = pop();
        for (int i = 0; i < n; i++) s = s * 31 + i;
        push(s);
    }
}
int->int splitjoin Both {
    split duplicate;
    add Heavy(40);
    add Heavy(90);
    join roundrobin;
}
int->void filter Show {
    work pop 1 {
        println(pop());
    }
}
void->void pipeline Main {
    add Count;
    add Window;
    add Both;
    add Show;
}
";

fn json(place: &Place, args: &[&str]) -> Value {
    let done = place.run(args).ends(0);
    serde_json::from_str(done.text()).unwrap_or_else(|e| panic!("{e}: {}", done.text()))
}

#[test]
fn a_schedule_as_json() {
    let place = Place::new().with("a.str", PROGRAM);
    for (method, processors) in [("flat", 4), ("ims", 4), ("slack", 4), ("hms", 4), ("sas", 4), ("min-latency", 4)] {
        let args =
            ["schedule", "a.str", "--processors", "4", "--machine", "cpu", "--method", method, "--format", "json"];
        let report = json(&place, &args);
        assert_eq!(report["schema"], "sluice-schedule-1");
        assert_eq!((&report["method"], &report["machine"]["processors"]), (&method.into(), &processors.into()));
        let number = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {}", report[name]));
        assert!(number("ii") >= number("lower") && number("lower") >= number("mii"), "{report}");
        assert!(number("mii") == number("res_mii").max(number("rec_mii")));
        assert_eq!(number("latency"), number("ii") * number("stages"));
        let gap = number("ii") as f64 / number("lower") as f64 - 1.0;
        assert!((report["gap"].as_f64().unwrap() - gap).abs() < 1e-9);
        // the documents' parts belong together
        let tasks = report["tasks"].as_array().unwrap();
        let placements = report["placements"].as_array().unwrap();
        assert_eq!(placements.len() as u64, number("instances"));
        let busy = |p: u64| -> u64 {
            let mine = placements.iter().filter(|i| i["processor"] == p);
            mine.map(|i| tasks[i["task"].as_u64().unwrap() as usize]["cost"].as_u64().unwrap()).sum()
        };
        let work: u64 = (0..4).map(busy).sum();
        assert_eq!(work, number("work"));
        assert!((0..4).all(|p| busy(p) <= number("ii")), "{report}");
        let bytes: u64 = report["channels"].as_array().unwrap().iter().map(|c| c["bytes"].as_u64().unwrap()).sum();
        assert_eq!(bytes, number("channel_bytes"));
    }
}

#[test]
fn what_binds_is_named_with_its_line() {
    let place = Place::new().with("a.str", PROGRAM);
    let report = json(&place, &["schedule", "a.str", "--machine", "cpu", "--processors", "64", "--format", "json"]);
    let why = &report["bottleneck"];
    // on so many processors a filter with state is what is left
    assert_eq!((&why["kind"], &why["file"]), (&"state".into(), &"a.str".into()), "{why}");
    let line = PROGRAM.lines().nth(why["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(line.contains("add Show") || line.contains("add Count"), "{line}");
    let alone = json(&place, &["schedule", "a.str", "--machine", "cpu", "-p", "1", "--format", "json"]);
    assert_eq!((&alone["bottleneck"]["kind"], &alone["stages"]), (&"work".into(), &1.into()));
    let table = place.run(&["schedule", "a.str", "--machine", "cpu", "-p", "64"]).ends(0);
    assert!(table.text().contains("lower bound") && table.text().contains("a.str:"), "{}", table.text());
}

/// What is tied by messages alone is not called a feedback loop, and what is one is.
#[test]
fn groups_are_called_what_they_are() {
    let messages = "\
void->int filter Source { work push 1 { push(iter()); } }
int->int filter Near { int k; work pop 1 push 1 { int s = pop(); for (int i = 0; i < 99; i++) s = s * 31 + k; push(s); } handler set(int v) { k = v; } }
int->int filter Half { work pop 2 push 1 { push(pop() + pop()); } }
int->void filter Show(portal<Near> p) { work pop 1 { int x = pop(); if (x % 3 == 0) p.set(1) [1:1]; println(x); } }
void->void pipeline Main { portal<Near> p; add Source; add Near to p; add Half; add Show(p); }
";
    let looped = "\
void->int filter Source { work push 1 { push(iter()); } }
int->int filter Mix { work pop 2 push 1 { int s = pop(); for (int i = 0; i < 99; i++) s = s * 31 + i; push(s + pop()); } }
int->int feedbackloop Echo { join roundrobin(1, 1); body Mix; loop Identity<int>; split duplicate; enqueue 1; }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Source; add Echo; add Show; }
";
    let place = Place::new().with("messages.str", messages).with("loop.str", looped);
    let why = |file: &str, machine: &str| {
        place.run(&["schedule", file, "--machine", machine, "-p", "64"]).ends(0).text().to_string()
    };
    let text = why("messages.str", "cpu");
    assert!(text.contains("these wait for each other (messages), all round once in 1 iteration: Main.Near"), "{text}");
    assert!(text.contains("a longer latency of the messages") && !text.contains("enqueue"), "{text}");
    let text = why("messages.str", "8800-gts-512");
    assert!(text.contains("nodes that wait for each other (messages) run on one processor"), "{text}");
    assert!(text.contains("a longer latency of the messages") && !text.contains("a loop"), "{text}");
    let text = why("loop.str", "cpu");
    assert!(text.contains("a feedback loop of 4 nodes runs on one processor"), "{text}");
    assert!(text.contains("a longer delay in the loop") && !text.contains("messages"), "{text}");
}

/// One of something is not several.
#[test]
fn one_is_one() {
    let text = "void->void pipeline Main { add void->void filter { work { println(1); } }; }";
    let place = Place::new().with("a.str", text);
    let args = ["schedule", "a.str", "--machine", "cpu", "-p", "1", "--method", "sas", "--firings"];
    let shown = place.run(&args).ends(0);
    let text = shown.text();
    assert!(
        text.contains("(1 processor)\n1 instance (") && text.contains(" of 1 task; an iteration is 1 steady state,"),
        "{text}"
    );
    assert!(text.contains("\n1 try, 0 placements, 0 evictions"), "{text}");
}

#[test]
fn the_integer_program_is_never_worse() {
    let place = Place::new().with("a.str", PROGRAM);
    let ii = |method: &str| {
        let args = ["schedule", "a.str", "--machine", "cpu", "-p", "3", "--method", method, "--format", "json"];
        let args = [&args[..], &["--firings", "--time-limit", "5"]].concat();
        json(&place, &args)["ii"].as_u64().unwrap()
    };
    let best = ["flat", "ims", "slack", "hms"].map(ii).into_iter().min().unwrap();
    assert!(ii("ilp") <= best);
}

#[test]
fn a_required_interval_is_not_relaxed() {
    let place = Place::new().with("a.str", PROGRAM);
    let args = ["schedule", "a.str", "--machine", "cpu", "-p", "2", "--require-ii"];
    let with = |ii: &str| place.run(&[&args[..], &[ii]].concat());
    with("1").ends(1).says("no schedule has an II of 1");
    with("1000000000").ends(0);
}

#[test]
fn all_methods_and_all_trades() {
    let place = Place::new().with("a.str", PROGRAM);
    let table = place.run(&["schedule", "a.str", "-p", "2", "--compare", "--firings", "--time-limit", "2"]).ends(0);
    for method in ["sas", "min-latency", "flat", "ims", "slack", "hms", "ilp"] {
        assert!(table.text().lines().any(|l| l.starts_with(method)), "{}", table.text());
    }
    let all = ["schedule", "a.str", "-p", "2", "--compare", "--firings", "--time-limit", "2", "--format", "json"];
    let compared = json(&place, &all);
    assert_eq!((&compared["schema"], &compared["costs"]), (&"sluice-comparison-1".into(), &"static".into()));
    let methods: Vec<&str> =
        compared["methods"].as_array().unwrap().iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["sas", "min-latency", "flat", "ims", "slack", "hms", "ilp"]);
    let lower = compared["lower"].as_u64().unwrap();
    assert!(compared["methods"].as_array().unwrap().iter().all(|m| m["ii"].as_u64().unwrap() >= lower), "{compared}");
    assert_eq!(compared["failed"], serde_json::json!([]));
    let pareto = json(&place, &["schedule", "a.str", "-p", "4", "--machine", "cpu", "--pareto", "--format", "json"]);
    assert_eq!(pareto["schema"], "sluice-pareto-1");
    let points = pareto["points"].as_array().unwrap();
    let of = |p: &Value, name: &str| p[name].as_f64().unwrap();
    assert!(!points.is_empty());
    for (i, a) in points.iter().enumerate() {
        for b in &points[i + 1..] {
            assert!(of(a, "steady_states_per_second") >= of(b, "steady_states_per_second"));
            assert!(of(b, "channel_bytes") < of(a, "channel_bytes") || of(b, "latency_us") < of(a, "latency_us"));
        }
    }
}

#[test]
fn pictures_and_pages() {
    let place = Place::new().with("a.str", PROGRAM);
    place.run(&["schedule", "a.str", "-p", "4", "--format", "svg", "-o", "kernel.svg"]).ends(0);
    let svg = place.read("kernel.svg");
    assert!(svg.starts_with("<svg") && svg.contains(">SM 0<") && svg.contains("MII") && svg.contains("Heavy"));
    // processors that have nothing to do have no rows; a computer has cores
    place.run(&["schedule", "a.str", "-p", "100", "--machine", "cpu", "--format", "svg", "-o", "cores.svg"]).ends(0);
    let svg = place.read("cores.svg");
    let rows = svg.matches("class=\"row\"").count();
    assert!((1..20).contains(&rows) && svg.contains(&format!("; {} cores without work", 100 - rows)), "{rows} rows");
    assert!(svg.contains(">core 0<") && !svg.contains(">SM "));
    place.run(&["schedule", "a.str", "-p", "4", "--pareto", "--format", "svg", "-o", "pareto.svg"]).ends(0);
    assert!(place.read("pareto.svg").contains("steady states per second"));
    place.run(&["report", "a.str", "-p", "4", "-o", "page.html"]).ends(0);
    let page = place.read("page.html");
    for part in ["id=\"graph\"", "id=\"gantt\"", "data-node=\"n0\"", "id=\"s0-1\"", "Bound by"] {
        assert!(page.contains(part), "{part}");
    }
    place.run(&["report", "a.str", "-o", "none/page.html"]).ends(3);
}

#[test]
fn machines_from_files() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../schedule/src/machine/cpu.toml")).unwrap();
    let place = Place::new().with("a.str", PROGRAM).with("m.toml", text.replace("processors = 1", "processors = 5"));
    let report = json(&place, &["schedule", "a.str", "--machine", "m.toml", "--format", "json"]);
    assert_eq!(report["machine"]["processors"], 5);
    let place = place.with("bad.toml", text.replace("lanes = 1", "lanes = none"));
    place.run(&["schedule", "a.str", "--machine", "bad.toml"]).ends(2).says("bad.toml, line");
    place.run(&["schedule", "a.str", "--machine", "h20"]).ends(2).says("is it `h200`?");
    place.run(&["schedule", "a.str", "--machine", "none.toml"]).ends(3).says("none.toml");
    place.run(&["schedule", "a.str", "--processors", "0"]).ends(2);
    place.run(&["schedule", "a.str", "--time-limit", "-1"]).ends(2);
}

/// What a page is in a browser, with this place in its address; `None` where there is no browser.
fn browsed(place: &Place, page: &str, held: &str) -> Option<String> {
    let there =
        |name: &str| std::process::Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| there(name)) else {
        sluice_skipped::skipped("there is no chromium: the page was not looked at in a browser");
        return None;
    };
    let address = format!("file://{}#{held}", place.path(page).display());
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"];
    let profile = format!("--user-data-dir={}", place.path("profile").display());
    let out = std::process::Command::new("timeout")
        .args(["120", browser])
        .args(flags)
        .args([&profile, &address])
        .env("HOME", place.path("."))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(dom.contains("</html>"), "{}", String::from_utf8_lossy(&out.stderr));
    Some(dom)
}

/// An attribute in a line of a page.
fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    line.split_once(&format!("{name}=\"")).unwrap().1.split_once('"').unwrap().0
}

/// The page in a browser: a filter that the address names is shown in the graph, the chart, the table and the source.
#[test]
fn a_page_in_a_browser() {
    let place = Place::new().with("a.str", PROGRAM);
    place.run(&["report", "a.str", "-p", "4", "-o", "page.html"]).ends(0);
    let page = place.read("page.html");
    let row = page.lines().find(|l| l.contains("data-node=") && l.contains("Window")).unwrap();
    let Some(dom) = browsed(&place, "page.html", attribute(row, "data-node")) else { return };
    let lit = |what: &str| dom.lines().any(|l| l.contains(what) && l.contains("on\""));
    let shown = |what: &str| assert!(lit(what), "{what} is not shown\n{dom}");
    shown(&format!("data-node=\"{}\"", attribute(row, "data-node")));
    shown(&format!("<g id=\"{}\" class=\"on\"", attribute(row, "data-node")));
    shown(&format!("id=\"{}\"", attribute(row, "data-line")));
    shown(&format!("data-task=\"{}\" x=", attribute(row, "data-task")));
    assert!(dom.contains("id=\"shown\">Main.Window"), "{dom}");
}

/// A thousand filters: most of them have no box in the graph, but a note that stands for them, and that is shown.
#[test]
fn a_page_of_a_thousand_filters() {
    let text = "float->float filter Scale(int k) { work push 1 pop 1 { push(pop() * k); } }
        float->float pipeline Main { for (int s = 0; s < 25; s++)
            add splitjoin { split roundrobin; for (int i = 0; i < 40; i++) add Scale(40 * s + i); join roundrobin; }; }";
    let place = Place::new().with("a.str", text);
    place.run(&["report", "a.str", "--method", "ims", "-o", "page.html"]).ends(0);
    let page = place.read("page.html");
    assert!(page.len() < 2_000_000, "{}", page.len());
    let rows: Vec<&str> =
        page.lines().filter(|l| l.starts_with("<tr data-node=") && l.contains("<td>filter</td>")).collect();
    assert_eq!(rows.len(), 1000);
    let row = rows[505];
    let node = attribute(row, "data-node");
    assert!(!page.contains(&format!("<g id=\"{node}\"")), "it has a box of its own");
    let Some(dom) = browsed(&place, "page.html", node) else { return };
    let notes: Vec<&str> = dom.lines().filter(|l| l.contains("data-nodes=") && l.contains("class=\"on\"")).collect();
    let [note] = notes[..] else { panic!("{notes:?}") };
    let number: usize = node[1..].parse().unwrap();
    let (first, last) = attribute(note, "data-nodes").split_once('-').unwrap();
    assert!((first.parse().unwrap()..=last.parse().unwrap()).contains(&number), "{note}");
    let bar = format!("data-task=\"{}\" x=", attribute(row, "data-task"));
    assert!(dom.lines().any(|l| l.contains(&bar) && l.contains("on\"")), "its bar is not shown");
}

/// Rates whose common multiples are primes, or very large, are cut, too.
#[test]
fn awkward_rates_are_cut() {
    let chain = |a: u32, b: (u32, u32), c: u32| {
        let push = |n: u32| format!("for (int i = 0; i < {n}; i++) push(i);");
        let pop = |n: u32| format!("for (int i = 0; i < {n}; i++) pop();");
        format!(
            "void->int filter A {{ work push {a} {{ {} }} }}
            int->int filter B {{ work pop {} push {} {{ {} {} }} }}
            int->void filter C {{ work pop {c} {{ {} }} }}
            void->void pipeline Main {{ add A; add B; add C; }}",
            push(a),
            b.0,
            b.1,
            pop(b.0),
            push(b.1),
            pop(c)
        )
    };
    for program in [chain(1, (200_003, 1), 1), chain(2, (3, 1_000_000), 999_999)] {
        let place = Place::new().with("a.str", program);
        let found = json(&place, &["schedule", "a.str", "--machine", "h200", "--method", "hms", "--format", "json"]);
        assert!(found["instances"].as_u64().unwrap() < 200_000);
    }
}

/// On a GPU streams that take turns have a thread each, so many of them take little longer than one. Elsewhere they do not, and are not advised.
#[test]
fn streams_are_advised_where_they_help() {
    let program = "float->float filter Decay { float r; work pop 1 push 1 { r = 0.5 * r + pop(); push(r); } }
        float->float pipeline Main { add Decay; }";
    let place = Place::new().with("a.str", program);
    let of = |machine: &str, more: &[&str]| {
        let args = ["schedule", "a.str", "--firings", "--machine", machine, "-p", "2", "--profile=none"];
        json(&place, &[&args[..], &["--method", "hms", "--format", "json"], more].concat())
    };
    let rec = |d: &Value| d["rec_mii"].as_u64().unwrap();
    let (one, many) = (of("h200", &[]), of("h200", &["--streams", "64"]));
    assert!(rec(&many) < 8 * rec(&one), "{} {}", rec(&many), rec(&one));
    let advised = |d: &Value| d["bottleneck"]["help"].as_str().unwrap().contains("--streams");
    assert!(advised(&one) && !advised(&of("cpu", &[])));
}
