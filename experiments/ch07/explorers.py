"""The four explorers of chapter 7: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(pipelines, ranks=Range(1, 8, 4), ...)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.charts import COLOURS, Axis, Spec, below, chart, lines, stacks, table, timeline
from rankzero.charts.vega_lite import USUAL
from rankzero.facts import models
from rankzero.facts.layouts import Job
from rankzero.facts.shapes import shaped
from rankzero.facts.units import GB, billion
from rankzero.room import room
from rankzero.sim.schedules import NAMES, parse_op
from solutions.ch07.experts import all_to_all_bytes, expert_capacity
from solutions.ch07.layout import step_parts
from solutions.ch07.pipeline_charts import SCHEDULES, Chart, pipeline_chart

from .layout_search import priced
from .routing_counts import dropped_share, expert_loads, popularity, random_choices

#: The most experts that are drawn one by one; more are drawn in groups of adjacent experts.
COLUMNS = 32

#: Layouts whose time is drawn in parts.
BEST = 5

#: The models of the advisor, by the names of its control.
MODELS = {
    "Llama 3 8B": models.LLAMA3_8B,
    "Llama 3 70B": models.LLAMA3_70B,
    "Llama 3 405B": models.LLAMA3_405B,
    "Mixtral 8x7B": models.MIXTRAL_8X7B,
}

#: The choice in the same control of a dense model that no paper describes.
OWN = "your own"

#: Layouts that are drawn: the fastest ones that fit, and the fastest ones that do not.
DRAWN = 120

#: Sizes of the element of an activation, bytes.
BF16 = 2


def pipelines(
    schedule: str = "1f1b",
    ranks: int = 4,
    microbatches: int = 8,
    virtual_stages: int = 1,
    backward_ratio: float = 2.0,
    hop: float = 0.0,
    slow_last_stage: float = 1.0,
) -> Spec:
    """A simulated schedule, its idle time in both units, and what every rank holds. A forward pass takes 1.

    Args:
        schedule: a key of ``SCHEDULES``.
        ranks: of the pipeline, 1 to 8.
        microbatches: 1 to 32; the interleaved schedule uses the next multiple of ``ranks``.
        virtual_stages: chunks on each rank; at least 2 for the interleaved schedule.
        backward_ratio: time of a whole backward pass over that of a forward pass.
        hop: time of a message.
        slow_last_stage: how many times longer the last stage takes.
    """
    cut = max(2, virtual_stages) if schedule == "interleaved" else 1
    count = -(-microbatches // ranks) * ranks if schedule == "interleaved" else microbatches
    slow = {ranks * cut - 1: slow_last_stage}
    found = pipeline_chart(schedule, ranks, count, cut, 1.0, backward_ratio, hop, slow)
    rows = []
    for op, (start, end) in found.times.items():
        stage, kind, microbatch = parse_op(op)
        place = {"lane": stage % ranks, "start": start, "end": end, "kind": NAMES[kind]}
        rows.append(place | {"label": str(microbatch), "operation": op})
    rows.sort(key=lambda row: (row["lane"], row["start"]))
    kinds = [name for name in NAMES.values() if any(row["kind"] == name for row in rows)]
    name = SCHEDULES[schedule] + (f", {cut} chunks" if cut > 1 else "")
    said = f"bubble fraction {found.fraction:.3f}, bubble overhead {found.overhead:.3f}, makespan {found.makespan:.4g}"
    title = f"{name}, {ranks} ranks, {count} micro-batches: {said}"
    played = timeline(rows, Axis("start", "time (forward times)"), Axis("lane", "rank"), title=title, names=kinds)
    return chart(below(played, _held(found)), f"{title}. Rank 0 holds {found.peaks[0]:g} micro-batches at most.")


def _held(found: Chart) -> Spec:
    """A row of cells: the micro-batches that each rank holds."""
    cells: list[Spec] = [
        {"rank": rank, "of": "holds", "kind": COLOURS[0] if peak == max(found.peaks) else None, "text": f"{peak:g}"}
        for rank, peak in enumerate(found.peaks)
    ]
    seen = ("rank", "of", "text")
    title = "most micro-batches held at once, in whole stages"
    return table(cells, Axis("rank", "rank"), Axis("of", ""), colour="kind", label="text", tooltip=seen, title=title)


def balance_of(loads: Sequence[int], skew: float) -> float:
    """The balancing loss of these loads, with the experts' popularities as their mean probabilities."""
    assigned = sum(loads)
    shares = popularity(len(loads), skew)
    return len(loads) * sum(load / assigned * share for load, share in zip(loads, shares, strict=True))


def expert_routing(
    tokens: int = 512, experts: int = 64, top_k: int = 2, capacity_factor: float = 1.0, skew: float = 0.0
) -> Spec:
    """The load of every expert of a random router, against the capacity.

    Args:
        tokens: T, 64 to 8,192.
        experts: E, 4 to 128.
        top_k: k, at most the number of experts; larger values mean all of them.
        capacity_factor: c, 0.5 to 2.
        skew: exponent of the Zipf distribution of the experts' popularity; 0 is fair.
    """
    top_k = min(top_k, experts)
    loads = expert_loads(random_choices(tokens, experts, top_k, skew), experts)
    slots = expert_capacity(tokens, experts, top_k, capacity_factor)
    dropped, hottest = dropped_share(loads, slots), max(loads) * experts / sum(loads)
    group = -(-experts // COLUMNS)
    rows: list[Spec] = []
    for first in range(0, experts, group):
        part = loads[first : first + group]
        name = f"{first}" if group == 1 else f"{first}-{first + len(part) - 1}"
        kept = sum(min(load, slots) for load in part) / len(part)
        over = sum(max(0, load - slots) for load in part) / len(part)
        rows += [
            {"expert": name, "what": "kept", "assignments": kept},
            {"expert": name, "what": "dropped", "assignments": over},
        ]
    balance = balance_of(loads, skew)
    title = f"{100 * dropped:.1f} % dropped, hottest/mean {hottest:.2f}, balancing loss {balance:.2f}"
    what = "assignments" if group == 1 else f"assignments, mean of {group} experts"
    x, y = Axis("expert", "expert", category=True), Axis("assignments", what)
    return chart(
        stacks(rows, x, y, by="what", title=title, mark=float(slots)),
        f"Load of {experts} experts by {tokens} tokens that visit {top_k} each, capacity {slots}: {title}.",
    )


#: Tokens drawn to count the rows of a skewed router.
COUNTED = 2000


def expert_traffic(
    tokens: int = 4096,
    top_k: int = 2,
    ranks: int = 8,
    hidden: int = 4096,
    once_per_rank: str = "one row for each expert",
    skew: float = 0.0,
) -> Spec:
    """Bytes one rank sends in the forward pass of a mixture of 64 experts in bf16, against the number of ranks.

    Expert parallelism sends rows out and back. With a skew the hottest rank has more results to send back than the
    others, and the lines of expert parallelism show that rank, counted over :data:`COUNTED` drawn tokens of each rank.
    Tensor parallelism all-reduces every token over a ring.

    Args:
        tokens: in one layer; of all ranks together, or of each.
        top_k: experts of one token.
        ranks: the marked number of ranks.
        hidden: width of a row.
        once_per_rank: whether a row is sent to a rank once, or once for each of its experts there.
        skew: exponent of the Zipf distribution of the experts' popularity.
    """
    once = once_per_rank.endswith("rank")
    experts, rows, marked = 64, [], ""
    choices = random_choices(COUNTED, experts, top_k, skew) if skew else []
    for count in (2, 4, 8, 16, 32, 64):
        sent = {
            own: 2 * all_to_all_bytes(own, hidden, top_k, count, BF16, once, experts)
            for own in (tokens // count, tokens)
        }
        if skew:
            each = hottest_rank(choices, experts // count, count, once)
            sent = {own: own * each * hidden * BF16 for own in sent}
        ways = {
            "experts, tokens split": sent[tokens // count],
            "experts, tokens on each rank": sent[tokens],
            "tensor parallel": 2 * (count - 1) / count * tokens * hidden * BF16,
        }
        rows += [{"ranks": count, "bytes": size, "way": way} for way, size in ways.items()]
        if count == ranks:
            marked = ", ".join(f"{way} {size / 1e6:.4g} MB" for way, size in ways.items())
    x, y = Axis("ranks", "ranks", log=True, plain=True), Axis("bytes", "bytes sent by one rank", log=True)
    return chart(
        lines(rows, x, y, by="way", mark=ranks, title=f"{ranks} ranks: {marked}"),
        f"Bytes that a rank sends in one mixture layer, {tokens} tokens: with {ranks} ranks {marked}.",
    )


def hottest_rank(choices: Sequence[Sequence[int]], share: int, ranks: int, once: bool) -> float:
    """Rows that the rank with the most popular experts sends in a forward pass, for each of its own tokens.

    Those of its tokens go out to the other ranks, and the results of all other ranks' tokens go back from it.

    Args:
        choices: the experts of each token, as on every rank; experts lie in order of popularity, ``share`` on a rank.
        share: experts of a rank.
        ranks: that have equally many tokens.
        once: whether a row goes to a rank once, or once for each of its experts there.
    """
    visited = [[expert // share for expert in own] for own in choices]
    rows = [sorted(set(own)) if once else own for own in visited]
    here = sum(own.count(0) for own in rows) / len(rows)
    return sum(map(len, rows)) / len(rows) - here + (ranks - 1) * here


def layouts(
    model: str = "Llama 3 70B",
    billion_parameters: float = 34.0,
    gpus: int = 64,
    gpu_memory: float = 80 * GB,
    global_batch: int = 1024,
    sequence: int = 4096,
    network_bandwidth: float = 50 * GB,
    efficiency: float = 0.6,
) -> Spec:
    """Step time against memory of the layouts of a job, and the time of the best five in parts.

    Args:
        model: a key of :data:`MODELS`, or :data:`OWN`.
        billion_parameters: of a model of one's own, in units of 1e9; its shape is that of ``shaped``.
        gpus: the number of GPUs.
        gpu_memory: of one GPU, bytes.
        global_batch: sequences in a step.
        sequence: tokens of one sequence.
        network_bandwidth: of one GPU across nodes, one direction, bytes/s.
        efficiency: of kernels, as a share of the peak.
    """
    chosen = shaped(billion_parameters * billion) if model == OWN else MODELS[model]
    if model == OWN:
        model = f"{billion_parameters:g}B, {chosen.layers} layers of {chosen.hidden:,},"
    job = Job(
        chosen,
        gpus,
        global_batch,
        sequence,
        gpu_memory=gpu_memory,
        network_bandwidth=network_bandwidth,
        efficiency=efficiency,
    )
    fitting, others = priced(job)
    rows: list[Spec] = [
        {"memory": memory, "seconds": seconds, "fits": name, "layout": str(shape)}
        for name, found in (("fits", fitting), ("does not fit", others))
        for seconds, memory, shape in found[:DRAWN]
    ]
    parts: list[Spec] = []
    for seconds, _, shape in fitting[:BEST]:
        named = {name: spent for name, spent in step_parts(shape, job).items() if spent > 1e-3 * seconds}
        parts += [{"layout": str(shape), "part": name, "seconds": spent} for name, spent in named.items()]
    near = sum(seconds <= 1.1 * fitting[0][0] for seconds, *_ in fitting) if fitting else 0
    said = f"{fitting[0][2]}, {fitting[0][0]:.4g} s; {near} within a tenth" if fitting else "no layout fits"
    title = f"{model} on {gpus} GPUs: {said}"
    views = [_clouds(rows, gpu_memory * (1 - job.reserve), title)]
    if parts:
        views.append(_best(parts))
    return chart(below(*views), f"{len(fitting)} of {len(fitting) + len(others)} layouts fit. {title}.")


def _clouds(rows: list[Spec], capacity: float, title: str) -> Spec:
    """A point for each layout, gray if it does not fit."""
    names = ["fits", "does not fit"]
    colour = {"domain": names, "range": [COLOURS[0], "#9a9a9a"]}
    x, y = (
        Axis("memory", "memory of the fullest GPU (bytes)", log=True),
        Axis("seconds", "step time (seconds)", log=True),
    )
    rule = {"type": "rule", "strokeDash": [4, 4], "color": "currentColor"}
    encoding = {
        "x": x.channel(),
        "y": y.channel(),
        "color": {"field": "fits", "type": "nominal", "title": None, "scale": colour},
        "shape": {
            "field": "fits",
            "type": "nominal",
            "title": None,
            "scale": {"domain": names, "range": ["circle", "cross"]},
        },
        "tooltip": [{"field": "layout"}, x.hover(), y.hover()],
    }
    points = {"data": {"values": rows}, "mark": {"type": "point", "filled": True, "size": 40}, "encoding": encoding}
    limit = {
        "data": {"values": [{"memory": capacity}]},
        "mark": rule,
        "encoding": {"x": x.channel(), "tooltip": [x.hover()]},
    }
    return {"title": title, "width": room(*USUAL), "height": 240, "layer": [points, limit]}


def _best(parts: list[Spec]) -> Spec:
    """Horizontal bars of the best layouts, split into parts."""
    names = list(dict.fromkeys(row["part"] for row in parts))
    colour = {"domain": names, "range": [COLOURS[i % len(COLOURS)] for i in range(len(names))]}
    lines = "replace(replace(datum.label, ' DP', '|DP'), regexp('(ZeRO-[0-9]) '), '$1|')"  # a layout in three lines
    axis = room({"labelLimit": 260}, {"labelLimit": 110, "labelExpr": f"split({lines}, '|')"})
    encoding = {
        "y": {"field": "layout", "type": "nominal", "sort": None, "title": None, "axis": axis},
        "x": {"field": "seconds", "type": "quantitative", "stack": "zero", "title": "step time (seconds)"},
        "color": {"field": "part", "type": "nominal", "title": None, "scale": colour},
        "order": {"field": "order"},
        "tooltip": [{"field": "layout"}, {"field": "part"}, {"field": "seconds", "format": ".4~g"}],
    }
    data = {"values": [row | {"order": names.index(row["part"])} for row in parts]}
    title = f"the best {len({row['layout'] for row in parts})} and what they spend their time on"
    size = {"width": room(360, 220), "height": {"step": room(24, 44)}}
    return {"title": title, **size, "data": data, "mark": "bar", "encoding": encoding}
