//! Programs with dynamic rates.

use crate::support::*;

/// A channel that is too full is the same one, in the same firing, whichever way the program runs.
#[test]
fn both_back_ends_name_the_same_full_channel() {
    const FLOW: &str = "
        int->int filter Burst { work pop 1 push [0, 6] { int n = pop(); for (int i = 0; i < n; i++) push(n * 10 + i); } }
        int->int filter Pairs { work pop 2 push [0, 1] { int a = pop(); int b = pop(); if (a != b) push(a + b); } }
        int->int filter Slow { work pop [1, 9] push 1 { int s = pop(); while (s % 9 != 8) s += pop(); push(s); } }
        int->int pipeline Main { add Burst; add Pairs; add Slow; }";
    let numbers: String = (1..=40).map(|i| format!("{}\n", i % 7)).collect();
    let place = Place::new().with("flow.str", FLOW).with("numbers.txt", &numbers);
    let end = |limit: &str, extra: &[&str]| {
        let mut arguments = vec!["run", "flow.str", "-i", "numbers.txt", "-o", "out.txt", "--channel-limit", limit];
        arguments.extend(extra);
        let run = place.run(&arguments).ends(1);
        (run.stderr, place.files())
    };
    let mut channels = Vec::new();
    for limit in ["1", "2", "3", "5", "8"] {
        let (said, files) = end(limit, &[]);
        assert!(said.contains("E0958") && said.contains(&format!("more than {limit} items wait")), "{said}");
        assert_eq!((said.clone(), files), end(limit, &["--interpret"]));
        channels.push(["`Main.Pairs`", "`Main.Slow`"].map(|c| said.contains(c)));
    }
    assert_eq!(channels, [[true, false], [true, false], [true, false], [false, true], [false, true]]);
}

/// Channels that grow without end stop the run, by the limit given or by the usual one, and leave no output.
#[test]
fn endless_growth_ends() {
    let waits = "void->int filter Source { int n; work push 1 { push(n); n += 2; } }
        int->int filter Odd { work pop 1 push [0, 1] { int n = pop(); if (n % 2 == 1) push(n); } }
        int->int filter Many { work pop 1 push 7 { int n = pop(); for (int i = 0; i < 7; i++) push(n); } }
        void->int pipeline Main { add Source; add splitjoin { split duplicate; add Odd; add Many; join roundrobin; } }";
    let one_firing = "void->int filter Source { work push * { while (true) push(1); } } \
        int->int filter Pass { work pop 1 push [0, 1] { push(pop()); } } \
        void->int pipeline Main { add Source; add Pass; }";
    let a_loop = "int->int filter Double { work pop 1 push [0, 4] { int n = pop(); push(n); push(n); push(n); push(n); } } \
        void->int feedbackloop Main { join roundrobin(0, 1); body Double; split roundrobin(1, 3); enqueue 1; }";
    // the items of the loop gather at another speed where no epoch holds them back
    for (program, same) in [(waits, true), (one_firing, true), (a_loop, false)] {
        let place = Place::new().with("a.str", program);
        let end = |extra: &[&str]| {
            let run =
                place.run(&[&["run", "a.str", "-o", "out.bin", "--iterations", "100000"], extra].concat()).ends(1);
            assert_eq!(place.files(), ["a.str"]);
            assert!(run.stderr.contains("E0958"), "{}", run.stderr);
            run.stderr
        };
        let (native, interpreted) = (end(&["--channel-limit", "50"]), end(&["--channel-limit", "50", "--interpret"]));
        let channel = "more than 50 items wait on the channel to";
        assert!(native.contains(channel) && interpreted.contains(channel), "{native}{interpreted}");
        assert!(!same || native == interpreted, "{native}{interpreted}");
    }
    let place = Place::new().with("a.str", one_firing);
    place.run(&["run", "a.str", "-o", "out.bin"]).ends(1).says("more than 16777216 items wait");
    assert_eq!(place.files(), ["a.str"]);
}
