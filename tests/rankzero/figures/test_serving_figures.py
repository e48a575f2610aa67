"""Pictures of serving: what is drawn is what was given, the same every time, readable on any page."""

from __future__ import annotations

import functools
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from random import Random

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from rankzero import figures
from rankzero.charts.marks import COLOURS
from rankzero.figures.picture import INK, QUIET
from rankzero.figures.serving import Piece, Step, pieces
from rankzero.grammar.automata import compile_regex
from rankzero.sim.batching import continuous, static


@dataclass(frozen=True)
class Node:
    parent: int
    tokens: tuple[int, ...]
    locks: int = 0
    touched: int = 0
    number: int = 0


@dataclass(frozen=True)
class Event:
    name: str
    request: str
    start: float
    end: float


#: A prompt in two parts, then two more tokens; another request beside it.
EVENTS = [
    Event("api", "a", 5.000, 5.001),
    Event("queue", "a", 5.001, 5.002),
    Event("runner", "a", 5.002, 5.010),
    Event("runner", "b", 5.002, 5.010),
    Event("runner", "a", 5.010, 5.016),
    Event("detokenizer", "a", 5.016, 5.017),
    Event("runner", "a", 5.017, 5.020),
    Event("detokenizer", "a", 5.020, 5.0201),
]
LENGTHS = [3, 1, 2, 5, 4]
RUNS = {"static": static(LENGTHS, 2), "continuous": continuous(LENGTHS, 2)}
TABLES = {"a": [0, 1, 2, 3], "b": [0, 1, 4]}
NODES = [Node(-1, (1, 2, 3), 0, 5), Node(0, (4, 5), 0, 1), Node(0, (6, 7), 1, 2), Node(-1, (8, 9), 0, 3)]
TREE = [Node(-1, (1, 2, 3), 1, 5), *NODES[1:]]
STEPS = [Step(8, 0, 0.004), Step(7, 57, 0.009), {"decode": 8, "prefill": 0, "seconds": 0.004}]
CPU = [("schedule", 1.0, 1.002), ("post", 1.012, 1.013)]
DEVICE = [("compute", 1.002, 1.012)]
PICTURES = {
    "request_gantt": lambda: figures.serving.request_gantt(EVENTS),
    "slot_chart": lambda: figures.serving.slot_chart(RUNS),
    "memory_map": lambda: figures.serving.memory_map(
        {"contiguous": [Piece(32, "a", 5), Piece(32)], "paged": pieces({"a": [3]}, {"a": 5}, 4, 16)}, 16
    ),
    "block_tables": lambda: figures.serving.block_tables({"now": TABLES, "then": {}}, 6, {"now": [(2, 4)]}),
    "radix_tree": lambda: figures.serving.radix_tree({"before": NODES[:1], "after": TREE}),
    "step_bars": lambda: figures.serving.step_bars({"whole": STEPS, "parts": STEPS[:1]}),
    "timelines": lambda: figures.serving.timelines({"": {"CPU": CPU, "device": DEVICE}}),
    "automaton": lambda: figures.serving.automaton(compile_regex("-?(0|[1-9][0-9]*)"), 1, allowed=["0", "12", "\n"]),
    "bars_p_q": lambda: figures.serving.bars_p_q((0.5, 0.3, 0.2, 0.0), (0.25,) * 4),
}
pytestmark = pytest.mark.xdist_group("serving figures")
#: Each is drawn once for the tests that look at it.
every_picture = pytest.mark.parametrize("draw", [*map(functools.cache, PICTURES.values())], ids=PICTURES)


def boxes(axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def colour(patch) -> str:
    return to_hex(patch.get_facecolor())


def words(picture) -> list[str]:
    return [text.get_text() for axes in picture.axes for text in axes.texts]


# Every picture


@pytest.mark.proof(part="runs")
@every_picture
def test_the_same_picture_gives_the_same_bytes(draw):
    first, second = draw.__wrapped__(), draw()
    assert first.html() == second.html()
    files = [io.BytesIO(), io.BytesIO()]
    for picture, file in zip((first, second), files, strict=True):
        picture.savefig(file, format="png", dpi=30)
    assert files[0].getvalue() == files[1].getvalue()


@every_picture
def test_a_picture_says_what_to_see_in_one_sentence(draw):
    picture = draw()
    assert re.fullmatch(r"[A-Z\d][^\n]+\.", picture.alt)
    assert ". " not in picture.alt
    svg = ET.fromstring(picture.html()).find("{*}svg")
    assert svg is not None
    assert (svg.get("role"), svg.get("aria-label")) == ("img", picture.alt)


@pytest.mark.proof(part="runs")
@every_picture
def test_a_picture_takes_the_pages_colour_and_leaves_the_page_alone(draw):
    """Kills fixed dark text, a style element that would reach other drawings, and pixels in the drawing."""
    html = draw().html()
    assert "currentColor" in html
    assert INK not in html
    assert "<style" not in html
    assert "<image" not in html


@every_picture
def test_ids_occur_once_and_are_used(draw):
    html = draw().html()
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


@every_picture
def test_axes_are_labelled(draw):
    """Panels that share an axis say once what it is."""
    panels = [axes for axes in draw().axes if axes.axison]
    assert not panels or panels[-1].get_xlabel()
    assert not panels or any(axes.get_ylabel() for axes in panels)


def test_every_picture_is_listed():
    """Kills a picture that is drawn for the pages and in no test."""
    drawn = {name for name in figures.serving.__all__ if name.islower()} - {"pieces"}
    assert drawn == set(PICTURES)


# One request


def test_a_request_has_a_row_for_each_stage_and_a_bar_for_each_event():
    picture = figures.serving.request_gantt(EVENTS, "a")
    axes = picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["api", "queue", "runner", "detokenizer"]
    bars = boxes(axes)
    assert len(bars) == 7
    assert min(bar.get_x() for bar in bars) == 0
    assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(20.1)
    assert [bar.get_y() + 0.35 for bar in bars] == pytest.approx([0, 1, 2, 2, 3, 2, 3])
    assert axes.get_xlabel().endswith("(ms)")


def test_tokens_are_marked_where_they_are_there_and_not_after_a_part_of_a_prompt():
    """Kills a mark for every run of the model: the first one here only read a part of the prompt."""
    picture = figures.serving.request_gantt(EVENTS)
    (marks,) = picture.axes[0].lines
    assert list(marks.get_xdata()) == pytest.approx([16, 20])
    assert set(marks.get_ydata()) == {2}
    assert "2 tokens" in picture.alt
    bare = [event for event in EVENTS if event.name == "runner"]
    assert len(figures.serving.request_gantt(bare).axes[0].lines[0].get_xdata()) == 3


def test_the_sum_of_each_stage_stands_beside_its_row_and_the_longest_in_the_sentence():
    picture = figures.serving.request_gantt(EVENTS)
    assert words(picture) == ["1 ms", "1 ms", "17 ms", "1.1 ms"]
    assert "the longest stage is runner, 85% of the time" in picture.alt


def test_events_may_be_lines_of_json_and_of_another_request():
    lines = [vars(event) for event in EVENTS]
    assert figures.serving.request_gantt(lines).html() == figures.serving.request_gantt(EVENTS).html()
    other = figures.serving.request_gantt(EVENTS, "b")
    assert other.alt.startswith("One request through 1 stage in 8 ms: runner; 1 token;")
    assert figures.serving.request_gantt([]).alt.startswith("One request through 0 stages")


# Slots and steps


def test_slots_show_each_request_where_and_when_it_runs():
    rng = Random(4)
    lengths = [rng.randint(1, 9) for _ in range(20)]
    run = continuous(lengths, 3)
    bars = boxes(figures.serving.slot_chart({"one": run}).axes[0])
    assert [(bar.get_x(), bar.get_width(), round(bar.get_y() + 0.42)) for bar in bars] == list(
        zip(run.starts, lengths, run.places, strict=True)
    )


def test_a_slot_that_is_kept_after_the_answer_is_shown_as_that():
    picture = figures.serving.slot_chart(RUNS)
    old, new = (boxes(axes) for axes in picture.axes)
    kept = [(bar.get_x(), bar.get_width()) for bar in old if colour(bar) == QUIET]
    assert kept == [(1, 2), (5, 3)]
    assert len(old) == 5 + 2
    assert [bar for bar in new if colour(bar) == QUIET] == []
    assert [axes.lines[0].get_xdata()[0] for axes in picture.axes] == [12, 8]
    assert picture.axes[0].get_xlim() == picture.axes[1].get_xlim()
    assert len(figures.serving.slot_chart({"new": RUNS["continuous"]}).legends) == 0


def test_the_sentence_of_a_slot_chart_has_the_runs_numbers():
    alt = figures.serving.slot_chart(RUNS).alt
    assert "static takes 12 steps on 2 slots and leaves 37.5% of the slot-steps idle" in alt
    assert "continuous takes 8 steps on 2 slots and leaves 6.2% of the slot-steps idle" in alt


def test_requests_have_the_same_colour_in_every_run_and_labels_can_be_left_out():
    old, new = (boxes(axes) for axes in figures.serving.slot_chart(RUNS).axes)
    assert [colour(bar) for bar in old if colour(bar) != QUIET] == [colour(bar) for bar in new]
    assert words(figures.serving.slot_chart(RUNS)) == ["0", "1", "2", "3", "4"] * 2
    assert words(figures.serving.slot_chart(RUNS, labels=False)) == []


def test_steps_stack_prefill_on_decode_over_the_time_they_took():
    tokens, gaps = figures.serving.step_bars(STEPS).axes
    assert [bar.get_height() for bar in tokens.patches] == [8, 7, 8, 0, 57, 0]
    assert [bar.get_y() for bar in tokens.patches] == [0, 0, 0, 8, 7, 8]
    assert [bar.get_height() for bar in gaps.patches] == pytest.approx([4, 9, 4])
    assert gaps.get_ylabel() == "time of the step (ms)"


def test_steps_of_an_engines_log_have_a_start_and_an_end():
    log = [{"decode": 1, "prefill": 0, "start": 2.0, "end": 2.5}]
    assert figures.serving.step_bars(log).axes[1].patches[0].get_height() == pytest.approx(500)


def test_runs_stand_side_by_side_on_one_scale():
    picture = figures.serving.step_bars({"whole": STEPS, "parts": STEPS[:1]})
    whole, parts, *_ = picture.axes
    assert (whole.get_title(), parts.get_title()) == ("whole", "parts")
    assert whole.get_ylim() == parts.get_ylim()
    assert "whole: at most 64 tokens and 9 ms in one of 3 steps; parts: at most 8 tokens" in picture.alt
    assert figures.serving.step_bars([]).alt.endswith("in one of 0 steps.")


def test_two_rows_of_work_and_how_busy_they_are():
    picture = figures.serving.timelines({"": {"CPU": CPU, "device": DEVICE}})
    axes = picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["CPU", "device"]
    assert [(bar.get_x(), bar.get_width()) for bar in boxes(axes)] == [
        pytest.approx(pair) for pair in [(0, 2), (12, 1), (2, 10)]
    ]
    assert picture.alt == "CPU busy 23% and device busy 77% of 13 ms."
    assert figures.serving.timelines({"": {"CPU": [], "device": []}}).alt.startswith("CPU busy 0%")


def test_several_timelines_share_their_axis_and_colours():
    picture = figures.serving.timelines({"one": {"CPU": CPU}, "two": {"CPU": CPU[:1], "GPU": DEVICE}})
    one, two = picture.axes
    assert one.get_xlim() == two.get_xlim()
    assert colour(boxes(one)[0]) == colour(boxes(two)[0])
    assert picture.alt == "one: CPU busy 23% of 13 ms; two: CPU busy 17% and GPU busy 83% of 12 ms."


# Memory


def test_a_pool_in_pieces_block_by_block():
    """What two sequences share has both as its owners, and is as full as the longer one makes it."""
    memory = pieces({"a": [3, 0], "b": [3, 2]}, {"a": 20, "b": 17}, blocks=5, block_size=16)
    assert memory == [
        Piece(16, "a", 4),
        Piece(16),
        Piece(16, "b", 1),
        Piece(16, "a and b", 16),
        Piece(16),
    ]


def test_a_memory_is_full_where_tokens_are_and_cut_where_rows_end():
    picture = figures.serving.memory_map({"m": [Piece(10, "a", 6), Piece(6)]}, columns=4)
    drawn = [(bar.get_x(), bar.get_y() + 0.4, bar.get_width()) for bar in boxes(picture.axes[0])]
    assert drawn == [pytest.approx(cut) for cut in [(0, 0, 4), (0, 1, 2), (2, 1, 2), (0, 2, 2), (2, 2, 2), (0, 3, 4)]]
    striped = [bool(bar.get_hatch()) for bar in boxes(picture.axes[0])]
    assert striped == [False, False, True, True, False, False]
    assert picture.alt == "Token slots: m has 6 with a token, 4 reserved and empty, 6 free of 16."


def test_owners_have_one_colour_in_all_memories():
    picture = PICTURES["memory_map"]()
    first, second = (boxes(axes)[0] for axes in picture.axes)
    taken = next(bar for bar in boxes(picture.axes[1]) if bar.get_fill() and not bar.get_hatch())
    assert colour(first) == colour(taken) == COLOURS[0]
    assert not second.get_fill()
    assert "27 reserved and empty, 32 free of 64; paged has 5 with a token, 11 reserved" in picture.alt


def test_every_cell_of_a_table_points_to_its_block():
    axes = figures.serving.block_tables(TABLES, 6).axes[0]
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    ends = [(round(arrow._posA_posB[0][0]), round(arrow._posA_posB[1][0])) for arrow in arrows]
    assert ends == [*enumerate(TABLES["a"]), *enumerate(TABLES["b"])]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "pool"]


def test_blocks_show_how_many_tables_hold_them_or_what_is_in_them():
    picture = figures.serving.block_tables(TABLES, 6)
    assert words(picture) == ["0", "1", "2", "3", "0", "1", "4", "x2", "x2", "x1", "x1", "x1", ""]
    pool = boxes(picture.axes[0])[-6:]
    assert [colour(box) if box.get_fill() else None for box in pool] == [
        figures.kv_cache.SHARED,
        figures.kv_cache.SHARED,
        COLOURS[0],
        COLOURS[0],
        COLOURS[1],
        None,
    ]
    assert picture.alt.endswith("a has [0, 1, 2, 3], b has [0, 1, 4], 1 of 6 blocks free, shared: 0, 1.")
    filled = figures.serving.block_tables({"a": [1]}, ["", "the cat"])
    assert words(filled) == ["1", "", "the cat"]


def test_a_copy_is_an_arrow_in_the_pool():
    axes = figures.serving.block_tables(TABLES, 6, [(2, 4)]).axes[0]
    copy = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)][-1]
    assert [end[0] for end in copy._posA_posB] == [2, 4]
    assert copy.get_linestyle() != "-"


def test_moments_stand_above_one_another():
    picture = PICTURES["block_tables"]()
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["now", "then"]
    assert picture.alt.endswith("then: no tables, 6 of 6 blocks free.")


def test_nodes_of_a_tree_stand_under_their_parents():
    axes = figures.serving.radix_tree(TREE).axes[0]
    left = [bar.get_x() for bar in boxes(axes)]
    assert left[0] == left[3] < left[1] == left[2]
    assert words(figures.serving.radix_tree(TREE))[1::2] == ["1 2 3", "4 5", "6 7", "8 9"]
    assert words(figures.serving.radix_tree(TREE))[2::2] == ["1 lock", "1.", "1 lock", "2."]
    assert [colour(bar) for bar in boxes(axes)] == [COLOURS[1], COLOURS[0], COLOURS[1], COLOURS[0]]


def test_the_order_of_eviction_is_that_of_the_cache():
    """Against a radix cache: what it frees, node by node, is what the picture says, locks and parents included."""
    from solutions.ch09.radix_cache import RadixCache

    for seed in range(200):
        rng, cache, slot = Random(seed), RadixCache(), 0
        known = [[rng.randint(0, 2) for _ in range(rng.randint(1, 6))] for _ in range(rng.randint(1, 9))]
        for tokens in known:
            cache.insert(tokens, list(range(slot, slot + len(tokens))))
            slot += len(tokens)
        for tokens in rng.sample(known, len(known)):  # each leaf at a time of its own
            cache.match(tokens)
        if rng.random() < 0.5:
            cache.lock(rng.choice(known)[: rng.randint(1, 6)])
        nodes = cache.nodes()
        order = figures.kv_cache.eviction_order(nodes)
        expected = [slot for place in sorted(order, key=order.__getitem__) for slot in nodes[place].slots]
        assert cache.evict(10**6) == expected, seed


def test_of_one_time_the_older_node_goes_first():
    nodes = [Node(-1, (1,), 0, 4, 9), Node(-1, (2,), 0, 4, 3), Node(-1, (3,), 0, 1, 10)]
    assert figures.kv_cache.eviction_order(nodes) == {2: 1, 1: 2, 0: 3}


def test_a_tree_says_how_much_it_holds():
    alt = figures.serving.radix_tree(TREE).alt
    assert alt == "A tree of prefixes: 4 nodes with 9 tokens, 5 of them locked, the first to go holds 4 5."
    assert figures.serving.radix_tree([]).alt == "A tree of prefixes: 0 nodes with 0 tokens, 0 of them locked."
    assert words(figures.serving.radix_tree(NODES[:1], text=lambda tokens: "abc"))[1] == "abc"


def test_long_edges_are_cut_in_their_middle():
    text = figures.kv_cache.shortened(list(range(100)))
    assert len(text) <= 34
    assert text.startswith("0 1 2")
    assert text.endswith("98 99")
    assert figures.kv_cache.shortened("as it is") == "as it is"
    assert figures.kv_cache.shortened("abcdefghijklmnopqrst", 10) == "abcde ... t"


# Decoding


def test_an_automaton_has_a_circle_for_each_state_and_a_second_one_where_a_text_may_end():
    dfa = compile_regex("true|false")
    axes = figures.serving.automaton(dfa, 3).axes[0]
    circles = [patch for patch in axes.patches if isinstance(patch, Circle)]
    assert len(circles) == len(dfa.edges) + len(dfa.accepting)
    lit = [patch.center for patch in circles if patch.get_fill() and colour(patch) == figures.decoding.LIT]
    assert len(lit) == 1
    edges = {(state, after) for state, row in dfa.edges.items() for after in row.values()}
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == len(edges) + 1  # and the one into the start


def test_no_two_states_share_a_place():
    for pattern in (r'\{"name":"[a-z]{0,8}","age":-?(0|[1-9][0-9]{0,8})\}', "(a|b)*abb", "a{30}", "[0-9]{3}-[0-9]{4}"):
        places = list(figures.decoding._places(compile_regex(pattern)).values())
        near = [
            (a, b)
            for i, a in enumerate(places)
            for b in places[:i]
            if (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 < (2 * figures.decoding.RADIUS) ** 2
        ]
        assert near == [], pattern


@dataclass(frozen=True)
class Small:
    start: int
    accepting: tuple[int, ...]
    edges: dict[int, dict[int, int]]


def test_arrows_carry_their_bytes_or_the_callers_text():
    small = Small(0, (1,), {0: {97: 1, 98: 1, 99: 1, 34: 0}, 1: {}, 7: {120: 0}})
    assert words(figures.serving.automaton(small))[:2] == ["a-c", '"']
    assert "letters" in words(figures.serving.automaton(small, labels={(0, 1): "letters"}))
    assert figures.serving.automaton(small).alt == "An automaton of 2 states, 1 accepting."


@pytest.mark.parametrize(
    ("taken", "text"),
    [
        (b"0123456789", "0-9"),
        (b"ab", "a b"),
        (b" \n", "x0a space"),
        (b"aceg", "4 bytes"),
        (b"_abcxyz", "_ a-c x-z"),
        (range(256), "x00-xff"),
    ],
)
def test_bytes_as_text(taken, text):
    assert figures.decoding.byte_ranges(taken) == text


def test_what_may_follow_stands_below_and_in_the_sentence():
    picture = figures.serving.automaton(compile_regex("a*"), 0, allowed=["a", "aa", "\n", *"b" * 20])
    assert any("may follow: 'a'  'aa'  '\\x0a'" in text for text in words(picture))
    assert "state 0 is highlighted; 23 tokens may follow: 'a'  'aa'  '\\x0a'" in picture.alt
    assert picture.alt.endswith("and 11 more.")
    assert "0 tokens may follow: nothing" in figures.serving.automaton(compile_regex("a"), 1, allowed=[]).alt


def test_two_laws_are_their_overlap_and_what_each_has_alone():
    picture = figures.serving.bars_p_q((0.5, 0.3, 0.2, 0.0), (0.25,) * 4, list("wxyz"))
    laws, redrawn = picture.axes
    heights = [bar.get_height() for bar in laws.patches]
    assert heights[:4] == [0.25, 0.25, 0.2, 0.0]
    assert heights[4:8] == pytest.approx([0.25, 0.05, 0.0, 0.0])
    assert heights[8:] == pytest.approx([0.0, 0.0, 0.05, 0.25])
    assert [bar.get_y() for bar in laws.patches[4:8]] == heights[:4]
    assert [bar.get_height() for bar in redrawn.patches] == pytest.approx([5 / 6, 1 / 6, 0, 0])
    assert laws.get_title() == "accepted: 0.7"
    assert "they share 0.7, the probability of acceptance; a rejected token is redrawn from 0.833, 0.167" in picture.alt
    assert [label.get_text() for label in laws.get_xticklabels()] == list("wxyz")


def test_equal_laws_reject_nothing_and_unequal_lengths_are_refused():
    same = figures.serving.bars_p_q((0.5, 0.5), (0.5, 0.5))
    assert "they share 1," in same.alt
    assert [bar.get_height() for bar in same.axes[1].patches] == [0.5, 0.5]
    with pytest.raises(ValueError, match="q must have as many entries as p, 2, got"):
        figures.serving.bars_p_q((0.5, 0.5), (1.0,))
