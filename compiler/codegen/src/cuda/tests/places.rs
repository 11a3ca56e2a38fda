//! Steps of tiles, places of channels in shared memory, views: what is found, and that the judge refuses what is planted.

use super::{SPLITJOIN, name, with};
use crate::cuda::lanes::{counts, threads};
use crate::cuda::options::CudaOptions;
use crate::cuda::program::{CudaInput, Making};
use crate::cuda::regions::{Grouping, regions};
use crate::cuda::replay::{Access, accesses, replay};
use crate::cuda::steps::{Order, Place, Step, Work};
use crate::cuda::tiles::{Tiling, order, tiling};
use sluice_frontend::ids::ChannelId;
use std::collections::{BTreeMap, BTreeSet};

const CHAIN: &str = "int->int pipeline Main { add Peek3; add Peek3; add Peek3; add Peek3; add Peek3; }";

/// Two branches, as many steps long, of filters that are in no group with one another.
const BRANCHES: &str = "int->int pipeline Branch { add Peek3; add Peek3; }
int->int splitjoin S { split roundrobin; add Branch; add Branch; join roundrobin; }
int->int pipeline Main { add S; }";

const BLOCKS: &str = "int->int filter Block { work pop 32 push 32 { for (int i = 0; i < 32; i++) push(pop() + i); } }
int->int splitjoin S { split roundrobin(32, 64); add Block; add Block; join roundrobin(64, 128); }
int->int pipeline Main { add S; }";

const DELAYED: &str = "int->int splitjoin S { split duplicate; add Plain; add Late; join roundrobin; }
int->int pipeline Main { add S; add Peek3; }";

/// A branch that makes 80 items of one, beside one that is three steps long.
const WIDE: &str =
    "int->int filter Wide { work peek 2 pop 1 push 80 { int a = pop(); for (int i = 0; i < 80; i++) push(a + i); } }
int->int pipeline Long { add Peek3; add Peek3; add Peek3; }
int->int splitjoin S { split duplicate; add Long; add Wide; join roundrobin(1, 80); }
int->int pipeline Main { add S; }";

const ALL: [&str; 6] = [CHAIN, BRANCHES, BLOCKS, DELAYED, WIDE, SPLITJOIN];

/// The only region of a program, with tiles of so many steady states.
fn of<T>(main: &str, states: u64, see: impl FnOnce(Place<'_, '_>, &Tiling) -> T) -> T {
    with(main, |making| {
        let regions = regions(making, &BTreeSet::new(), &BTreeSet::new(), Grouping::Small);
        assert_eq!(regions.regions.len(), 1, "{main}");
        let region = &regions.regions[0];
        let order = order(making, &regions, region);
        let tiling = tiling(making, &regions, region, states, order).unwrap();
        see(Place { making, regions: &regions, region }, &tiling)
    })
}

/// `input | Plain, Peek3 | output`.
fn shown(at: Place<'_, '_>, steps: &[Step]) -> String {
    let graph = at.making.input.host.graph;
    let fires = |work: &Work| match work {
        Work::Fire(g) => Some(name(graph, at.region.groups[*g].members[0].0)),
        Work::Bring(_) | Work::Save(_) => None,
    };
    let step = |s: &Step| s.iter().filter_map(fires).collect::<Vec<_>>().join(", ");
    steps.iter().map(step).collect::<Vec<_>>().join(" | ")
}

fn followed(at: Place<'_, '_>, tiling: &Tiling, steps: &[Step], moved: Option<(ChannelId, u64)>) -> Vec<Vec<Access>> {
    let offset = |c: ChannelId| match moved {
        Some((other, to)) if other == c => Some(to),
        _ => tiling.tiles.get(&c).map(|t| t.offset),
    };
    accesses(at, (&tiling.tiles, &tiling.elsewhere), steps, &BTreeSet::new(), offset).unwrap()
}

#[test]
fn a_chain_has_two_places_in_turn() {
    of(CHAIN, 512, |at, t| {
        assert_eq!(shown(at, &t.steps), "input | Peek3 | Peek3#2 | Peek3#3 | Peek3#4 | Peek3#5 | output");
        // six channels, each with up to ten items more than a tile passes
        assert_eq!((t.apart > 6 * 2048, t.shared < 2 * 2048 + 128), (true, true), "{} {}", t.apart, t.shared);
    });
}

#[test]
fn branches_fire_together() {
    of(BRANCHES, 64, |at, t| {
        assert_eq!(shown(at, &t.steps), "input | split | Peek3, Peek3 | Peek3#2 | output");
        // the last ones and the joiner are one group
        assert_eq!(at.region.groups.iter().filter(|g| g.members.len() == 3).count(), 1);
    });
}

#[test]
fn what_is_needed_late_fires_late() {
    of(WIDE, 8, |at, t| {
        assert_eq!(shown(at, &t.steps), "input | split | Peek3 | Peek3#2 | Peek3#3, Wide | output");
    });
}

/// Where smallest tiles would be too large with all branches at once.
#[test]
fn branches_that_have_no_room_fire_apart() {
    let wide = "int->int filter Most { work peek 2 pop 1 push 1500 { int a = pop(); for (int i = 0; i < 1500; i++) push(a + i); } }
                int->int filter Least { work pop 1500 push 20 { int s = 0; for (int i = 0; i < 1500; i++) s += pop(); for (int i = 0; i < 20; i++) push(s); } }
                int->int pipeline Branch { add Most; add Least; }
                int->int splitjoin S { split duplicate; for (int i = 0; i < 8; i++) add Branch; join roundrobin(20); }
                int->int pipeline Main { add S; }";
    of(wide, 1, |at, t| {
        assert_eq!(t.order, Order::Apart, "{} {} {}", t.shared, t.apart, shown(at, &t.steps));
        assert!(t.shared < 3 * 6200 && t.steps.len() > 10, "{} {}", t.shared, shown(at, &t.steps));
    });
}

#[test]
fn splitters_and_joiners_of_blocks_move_nothing() {
    of(BLOCKS, 2, |at, t| {
        assert_eq!(shown(at, &t.steps), "input | Block, Block#2 | output");
        assert_eq!((t.elsewhere.gone.len(), t.tiles.len()), (2, 2));
        let views: Vec<(u64, u64, i64)> = t.elsewhere.views.values().map(|v| (v.block, v.round, v.first)).collect();
        assert_eq!(views, [(32, 96, 0), (64, 96, 32), (64, 192, 0), (128, 192, 64)]);
        // a steady state has two firings of the splitter
        let items: Vec<u64> = t.tiles.values().map(|t| t.items).collect();
        assert_eq!(items, [2 * 192, 2 * 192]);
    });
    // a block that is cut in two ways is moved, and so is what holds items at boundaries
    for (what, to) in [("roundrobin(32, 64)", "roundrobin(24, 48)"), ("pop 32 push", "pop 32 peek 33 push")] {
        of(&BLOCKS.replace(what, to), 2, |_, t| {
            assert!(t.elsewhere.gone.len() < 2, "{to}: {:?}", t.elsewhere);
        });
    }
}

#[test]
fn the_judge_passes_what_is_found() {
    for (main, states) in ALL.into_iter().flat_map(|main| [1, 2, 8, 64].map(|s| (main, s))) {
        of(main, states, |at, t| {
            assert_eq!(replay(&followed(at, t, &t.steps, None), t.shared), Ok(()), "{main}, {states}");
        });
    }
}

/// Each channel laid where another one is that is needed at the same time; each barrier left out; each group.
#[test]
fn the_judge_refuses_what_is_planted() {
    let (mut places, mut barriers) = (0, 0);
    for main in ALL {
        of(main, 8, |at, t| {
            let steps = followed(at, t, &t.steps, None);
            let mut lives: BTreeMap<ChannelId, (usize, usize)> = BTreeMap::new();
            for (i, step) in steps.iter().enumerate() {
                step.iter().for_each(|a| lives.entry(a.channel).or_insert((i, i)).1 = i);
            }
            for (c, (first, last)) in &lives {
                let others = lives.iter().filter(|(d, (from, to))| *d != c && from <= last && first <= to);
                for (d, _) in others {
                    let planted = followed(at, t, &t.steps, Some((*c, t.tiles[d].offset)));
                    assert!(replay(&planted, 1 << 20).is_err(), "{main}: {c} at the place of {d}");
                    places += 1;
                }
            }
            for i in 1..t.steps.len() {
                let mut steps = t.steps.clone();
                let step = steps.remove(i);
                steps[i - 1].extend(step);
                assert!(replay(&followed(at, t, &steps, None), t.shared).is_err(), "{main}: no barrier before {i}");
                barriers += 1;
            }
            for i in 0..t.steps.len() {
                let mut steps = t.steps.clone();
                if !steps[i].iter().any(|w| matches!(w, Work::Fire(_))) {
                    continue;
                }
                steps.remove(i);
                let offset = |c: ChannelId| t.tiles.get(&c).map(|t| t.offset);
                let planted = accesses(at, (&t.tiles, &t.elsewhere), &steps, &BTreeSet::new(), offset);
                assert!(planted.is_err(), "{main}: without step {i}");
            }
        });
    }
    assert!(places > 20 && barriers > 20, "{places} {barriers}");
}

#[test]
fn blocks_have_as_many_threads_as_are_busy() {
    let sum = |n: u32| {
        format!("int->int filter Sum100 {{ work pop {n} push {n} {{ int s = 0; for (int i = 0; i < {n}; i++) s += peek(i); for (int i = 0; i < {n}; i++) push(s + pop()); }} }}
                 int->int pipeline Main {{ add Sum100; }}")
    };
    let chosen = |main: &str, states: u64| {
        of(main, states, |at, t| {
            let options = CudaOptions { fewer: true, ..*at.making.input.options };
            let making = Making::unplaced(CudaInput { options: &options, ..at.making.input });
            let at = Place { making: &making, ..at };
            let n = threads(at, t);
            let told = counts(at, t, &t.steps, ("k", n.into(), t.shared));
            assert_eq!((told.barriers(), told.threads), (t.steps.len() - 1, n.into()));
            assert!(
                told.busy() > 10.0 && told.busy() <= 100.0 && told.text().lines().count() == t.steps.len() + 1,
                "{}",
                told.text()
            );
            n
        })
    };
    // 16 firings of 200 items, and 400 times four items to bring and to send: 64 threads make twice as many blocks, which take little longer than with 128; 32 would bring them for twice as long
    assert_eq!(chosen(&sum(100), 16), 64);
    assert_eq!(chosen(&sum(10), 256), 128);
    // nobody asks for fewer
    of(&sum(100), 16, |at, t| assert_eq!(threads(at, t), at.making.input.options.threads));
}
