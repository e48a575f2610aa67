"""Chapter 8: ``stage_seconds``, time by stage."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip

NAMES = ("tokenizer", "scheduler", "runner", "sampler", "detokenizer", "adapter")


def _cuts(rng: Random, low: float, high: float, count: int) -> list[float]:
    """Times between two others, at least a hundredth of their distance apart."""
    places = sorted(rng.sample(range(1, 100), count))
    return [low + (high - low) * place / 100 for place in places]


def _flat(rng: Random) -> Case:
    """Spans apart from one another, with gaps; some stages come several times."""
    arrival = rng.uniform(0, 50)
    end = arrival + rng.uniform(0.1, 3)
    times = _cuts(rng, arrival, end, 2 * rng.randint(3, 8))
    spans = [(rng.choice(NAMES), begin, stop) for begin, stop in zip(times[::2], times[1::2], strict=True)]
    rng.shuffle(spans)
    return Case((spans, arrival, end))


def _nested(rng: Random) -> Case:
    """A span in a span in a span, beside one that is apart."""
    arrival = rng.uniform(0, 50)
    end = arrival + rng.uniform(0.1, 3)
    a, b, c, d, e, f, g, h = _cuts(rng, arrival, end, 8)
    outer, middle, inner, other = rng.sample(NAMES, 4)
    spans = [(outer, a, f), (middle, b, e), (inner, c, d), (other, g, h)]
    rng.shuffle(spans)
    return Case((spans, arrival, end))


def _again(rng: Random) -> Case:
    """Several inner spans of one stage in one outer span, which has time of its own between them."""
    arrival = rng.uniform(0, 50)
    end = arrival + rng.uniform(0.1, 3)
    times = _cuts(rng, arrival, end, 2 + 2 * rng.randint(2, 4))
    outer, inner = rng.sample(NAMES, 2)
    spans = [(inner, begin, stop) for begin, stop in zip(times[1:-1:2], times[2:-1:2], strict=True)]
    return Case(([*spans, (outer, times[0], times[-1])], arrival, end))


def _bare(rng: Random) -> list[Case]:
    """No span; one that fills all; one around another that begins or ends with it."""
    arrival = rng.uniform(0, 50)
    middle, end = arrival + rng.uniform(0.1, 3), arrival + rng.uniform(4, 6)
    outer, inner = rng.sample(NAMES, 2)
    return [
        Case(([], arrival, end)),
        Case(([(outer, arrival, end)], arrival, end)),
        Case(([(outer, arrival, end), (inner, arrival, middle)], arrival, end)),
        Case(([(inner, middle, end), (outer, arrival, end)], arrival, end)),
    ]


def stack(spans, arrival, end):
    """A sweep with a stack of open spans, as a profiler has it."""
    opened, found, last = ["waiting"], {}, arrival
    edges = [(begin, 1, -stop, stage) for stage, begin, stop in spans]
    edges += [(stop, 0, -begin, stage) for stage, begin, stop in spans]
    for time, opens, _, stage in sorted([*edges, (end, 2, 0.0, "")]):
        if time > last:
            found[opened[-1]] = found.get(opened[-1], 0.0) + time - last
            last = time
        if opens == 1:
            opened.append(stage)
        elif opens == 0:
            opened.pop()
    return found


def each_span(spans, arrival, end):
    """Every span whole, and as waiting what is left of the request."""
    found = {}
    for stage, begin, stop in spans:
        found[stage] = found.get(stage, 0.0) + stop - begin
    left = end - arrival - sum(found.values())
    if left > 1e-12:
        found["waiting"] = left
    return found


EXERCISE = Build(
    "08 stage_clock.stage_seconds",
    section="8.18",
    topic="time by stage",
    bonus=True,
    cases=(
        Case(([("runner", 2.0, 5.0), ("model", 3.0, 4.5)], 0.0, 6.0)),
        Case(([("runner", 1.0, 2.0), ("tokenizer", 0.0, 0.25), ("runner", 2.5, 4.0)], 0.0, 4.0)),
        Case(([], 1.0, 1.5)),
    ),
    groups=(
        Group("spans apart", _flat, 5, "Add up each stage's spans; what is left of the whole is waiting."),
        Group("spans inside spans", _nested, 5, "Of all spans around a moment, the innermost one gets it."),
        Group("several inside one", _again, 4, "The outer span keeps what its inner spans leave."),
        Group("corners", lambda rng: rng.choice(_bare(rng)), 4, "No span, one for everything, equal edges.", _bare),
    ),
    slips=(
        Slip(
            "Time inside an inner span is counted for the outer one as well, and too little is left for waiting.",
            program=each_span,
        ),
        Slip(
            "What no span covers is time that the request waited: it belongs to the whole, too.",
            edit=(
                '        stage = max(around)[2] if around else "waiting"\n',
                "        if not around:\n            continue\n        stage = max(around)[2]\n",
            ),
        ),
        Slip(
            "A stage may come several times, once for each pass: add its spans up.",
            edit=("found[stage] = found.get(stage, 0.0) + high - low", "found[stage] = high - low"),
        ),
        Slip(
            "Of the spans around a moment the innermost one counts, which began last.",
            edit=("max(around)[2]", "min(around)[2]"),
        ),
        Slip(
            "The clock of a request starts when it arrives and stops with its last text, not with its first and last "
            "span.",
            edit=("{arrival, end, *(time", "{*(time"),
        ),
    ),
    rights=(
        Right("a stack of open spans", program=stack),
        Right(
            "the shortest span around a moment",
            edit=(
                "(begin, -stop, stage) for stage, begin, stop in spans if begin <= low and high <= stop]\n"
                '        stage = max(around)[2] if around else "waiting"',
                "(stop - begin, stage) for stage, begin, stop in spans if begin <= low and high <= stop]\n"
                '        stage = min(around)[1] if around else "waiting"',
            ),
        ),
    ),
    promises=(Promise("Time inside an inner span counts for it", edit=("max(around)[2]", "min(around)[2]")),),
)
