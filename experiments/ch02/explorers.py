"""The three explorers of chapter 2: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(rings_of_calls, ranks=Range(2, 12, 6), ...)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from rankzero.charts import COLOURS, Axis, Spec, below, beside, chart, graph, lines, shares, table, timeline
from rankzero.events import Event
from rankzero.facts.hardware import ETHERNET_100G, IB_NDR, NVLINK4
from rankzero.facts.units import GB, MB, format_bytes, ms, us
from solutions.ch02.alpha_beta import message_time
from solutions.ch02.model_parallel import naive_step, stage_layers

from .ring_policies import play_rounds, ring_programs

#: The orders of a rank's two calls: the label a reader sees, and the policy's name.
ORDERS = {
    "all send first": "all_send",
    "one receives first": "one_receives_first",
    "odd ranks receive first": "parity",
    "non-blocking": "non_blocking",
}

#: What a send does when its receiver is not ready.
TRANSPORTS = ("waits for the receiver", "buffers every message")

#: What a rank does in a round; one that has finished does nothing.
STATES = ("send", "recv", "stuck", "waits", "both")

#: The color of a rank that has finished, which is none of those of ``STATES``.
FINISHED = "#ffffff"

#: Links by name, each with an assumed start-up (seconds) and its bandwidth (bytes/s, one direction).
LINKS = {
    NVLINK4.name: (1 * us, NVLINK4.bandwidth),
    IB_NDR.name: (5 * us, IB_NDR.bandwidth),
    ETHERNET_100G.name: (10 * us, ETHERNET_100G.bandwidth),
}

#: The name of the curve that sums the other two.
BOTH = "start-up + bytes"

#: The link that the sliders describe.
SLIDERS = "set by the sliders"


def rings_of_calls(ranks: int = 6, order: str = "all send first", transport: str = TRANSPORTS[0]) -> Spec:
    """What each rank of a ring does in each round, and who waits for whom at the end.

    Args:
        ranks: on the ring, 2 to 12.
        order: a key of ``ORDERS``.
        transport: one of ``TRANSPORTS``.
    """
    programs = ring_programs(ORDERS[order], ranks)
    rounds, blocked = play_rounds(programs, eager=transport == TRANSPORTS[1])
    cells = _cells(ranks, rounds, blocked)
    rows = table(
        cells,
        Axis("round", "round", category=True),
        Axis("rank", "rank", category=True),
        colour="does",
        label="text",
        tooltip=("rank", "round", "does", "text"),
        title=f"rounds: {len(rounds)}",
        names=STATES,
    )
    end = f"{len(blocked)} of {ranks} ranks are stuck" if blocked else "all ranks finish"
    text = f"{ranks} ranks on a ring, {order}, where a send {transport}: {len(rounds)} rounds, then {end}."
    return chart(beside(_ring_graph(ranks, rounds, blocked), rows), text)


#: The arrow that a cell shows for each kind of call.
_ARROWS = {"send": "→", "recv": "←"}


def _cells(ranks: int, rounds: list[list[tuple[str, int, int]]], blocked: dict[int, tuple[str, int]]) -> list[Spec]:
    """What every rank does in every round, and its final state."""
    last = {rank: number for number, calls in enumerate(rounds, 1) for _, rank, _ in calls}  # round of its last call
    cells = []
    for rank in range(ranks):
        for number, calls in enumerate(rounds, 1):
            waits = rank in blocked or number < last.get(rank, 0)
            mine = [(verb, peer) for verb, who, peer in calls if who == rank]
            cells.append(_cell(rank, str(number), mine, "waits" if waits else None))
        cells.append(_cell(rank, "end", [], "stuck" if rank in blocked else None))
    return cells


def _cell(rank: int, number: str, calls: list[tuple[str, int]], otherwise: str | None) -> Spec:
    """One rank in one round: the calls it completes, or else the state ``otherwise``; None once it has finished."""
    verbs = [verb.removeprefix("i") for verb, _ in calls]
    does = "both" if len(calls) > 1 else verbs[0] if calls else otherwise
    text = " ".join(f"{_ARROWS[verb]}{peer}" for verb, (_, peer) in zip(verbs, calls, strict=True))
    text = text or ("" if otherwise else "✓")
    return {"rank": rank, "round": number, "does": does, "text": text}


def _ring_graph(ranks: int, rounds: list[list[tuple[str, int, int]]], blocked: dict[int, tuple[str, int]]) -> Spec:
    """The ranks on a circle, with an arrow for each message that was received and one for each wait that never ends."""
    angles = [2 * math.pi * rank / ranks for rank in range(ranks)]
    places = [{"x": math.sin(angle), "y": math.cos(angle)} for angle in angles]
    nodes = [
        {"name": f"rank {r}", "label": str(r), "colour": COLOURS[2] if r in blocked else FINISHED} | place
        for r, place in enumerate(places)
    ]
    ends = [(peer, rank, "") for calls in rounds for verb, rank, peer in calls if verb.endswith("recv")]
    ends += [(rank, peer, f"waits in {verb}") for rank, (verb, peer) in blocked.items()]
    edges = [
        places[start] | {"x2": places[stop]["x"], "y2": places[stop]["y"], "kind": kind} for start, stop, kind in ends
    ]
    title = f"{len(blocked)} of {ranks} ranks are stuck" if blocked else "all ranks finish"
    return graph(nodes, edges, title=title)


def message_cost(
    link: str = SLIDERS,
    latency: float = 5 * us,
    bandwidth: float = 50 * GB,
    message_bytes: float = 1 * MB,
    messages: int = 100,
) -> Spec:
    """Time and effective bandwidth of a message against its size, and the same bytes in one message or in many.

    Args:
        link: a key of ``LINKS``, or ``SLIDERS`` to use the next two values.
        latency: start-up of one message, seconds.
        bandwidth: bytes/s, one direction.
        message_bytes: the size to mark, bytes.
        messages: k, the number of messages that size is cut into.
    """
    latency, bandwidth = LINKS.get(link, (latency, bandwidth))
    sizes = [10 ** (power / 4) for power in range(41)]  # 1 B to 10 GB
    parts: dict[str, Callable[[float], float]] = {
        BOTH: lambda size: message_time(size, bandwidth, latency),
        "start-up alone": lambda size: latency,
        "bytes alone": lambda size: message_time(size, bandwidth, 0.0),
    }
    curves = [
        {"size": size, "seconds": seconds(size), "part": part} for part, seconds in parts.items() for size in sizes
    ]
    rates = [{"size": s, "rate": s / message_time(s, bandwidth, latency) / GB, "part": "bytes / time"} for s in sizes]
    rates += [{"size": s, "rate": bandwidth / GB, "part": "bandwidth of the link"} for s in (sizes[0], sizes[-1])]
    size = Axis("size", "size of the message (bytes)", log=True)
    marked = message_time(message_bytes, bandwidth, latency)
    times = lines(
        curves,
        size,
        Axis("seconds", "time (seconds)", log=True),
        by="part",
        points=[{"size": message_bytes, "seconds": marked, "part": BOTH}],
    )
    effective = lines(
        rates,
        size,
        Axis("rate", "effective bandwidth (GB/s)", log=True),
        by="part",
        mark=latency * bandwidth,
        points=[{"size": message_bytes, "rate": message_bytes / marked / GB, "part": "bytes / time"}],
    )
    half = format_bytes(latency * bandwidth)
    effective["title"] = f"half of the bandwidth is reached at {half}"
    return chart(
        below(times, effective, _one_or_many(message_bytes, messages, latency, bandwidth)),
        f"Time of a message against its size: start-up dominates below {half}, bytes above.",
    )


def _one_or_many(message_bytes: float, messages: int, latency: float, bandwidth: float) -> Spec:
    """The time of the same bytes in one message and in ``messages``, split into start-up and bytes."""
    total = message_time(message_bytes, bandwidth, messages * latency)
    size, unit = _unit(total)
    rows = []
    for count in dict.fromkeys((1, messages)):
        for part, seconds in (("start-up", count * latency), ("bytes", message_bytes / bandwidth)):
            way = "1 message" if count == 1 else f"{count:,} messages"
            rows.append({"way": way, "part": part, "time": seconds / size})
    return shares(rows, Axis("time", f"time of the same bytes ({unit})"), Axis("way", "", category=True), by="part")


def cut_model(
    layers: int = 32,
    stages: int = 4,
    layer_time: float = 2 * ms,
    transfer_time: float = 1 * ms,
    backward_ratio: float = 2.0,
) -> Spec:
    """One step of a model cut into stages: who works when, and what share of the time a stage works on average.

    Args:
        layers: of the model, 4 to 128.
        stages: 1 to 16.
        layer_time: forward time of one layer, seconds.
        transfer_time: of the activation or its gradient across one boundary, seconds.
        backward_ratio: backward time over forward time.
    """
    events = staircase(layers, stages, layer_time, transfer_time, backward_ratio)
    step, utilization = naive_step(layers, stages, layer_time, transfer_time, backward_ratio)
    size, unit = _unit(step)
    rows = [{"lane": e.rank, "start": e.start / size, "end": e.end / size, "kind": e.operation} for e in events]
    kinds = ("forward", "backward", "send")
    steps = timeline(
        rows,
        Axis("start", f"time ({unit})"),
        Axis("lane", "stage", category=True),
        title=f"one step: {step / size:.4g} {unit}, an average stage works {utilization:.1%} of it",
        names=[kind for kind in kinds if any(row["kind"] == kind for row in rows)],
    )
    curves = []
    for count in range(1, 17):
        share = naive_step(layers, count, layer_time, transfer_time, backward_ratio)[1]
        curves += [
            {"stages": count, "percent": 100 * share, "what": "with transfers"},
            {"stages": count, "percent": 100 / count, "what": "1 / P"},
        ]
    point = {"stages": stages, "percent": 100 * utilization, "what": "with transfers"}
    x, y = Axis("stages", "P, stages"), Axis("percent", "share of the time that an average stage works (%)")
    took = f"One step of {layers} layers on {stages} stages: {step / size:.4g} {unit}"
    text = f"{took}; an average stage works {utilization:.1%}."
    return chart(below(steps, lines(curves, x, y, by="what", points=[point])), text)


def staircase(
    layers: int, stages: int, layer_time: float, transfer_time: float, backward_ratio: float = 2.0
) -> tuple[Event, ...]:
    """What the stages of a cut model do in one step, one after another: sends, forward passes and backward passes.

    Args:
        layers: of the model; not negative.
        stages: at least 1.
        layer_time: forward time of one layer, seconds; not negative.
        transfer_time: of one message, seconds; not negative.
        backward_ratio: backward time over forward time; not negative.
    """
    clock, events = 0.0, []

    def add(rank: int, operation: str, seconds: float, peers: tuple[int, ...] = ()) -> None:
        nonlocal clock
        if seconds > 0:
            events.append(Event(rank, operation, peers, 0, 0, clock, clock + seconds))
        clock += seconds

    for rank in range(stages):
        add(rank, "forward", layer_time * len(stage_layers(layers, stages, rank)))
        if rank < stages - 1:
            add(rank, "send", transfer_time, (rank + 1,))
    for rank in reversed(range(stages)):
        add(rank, "backward", backward_ratio * layer_time * len(stage_layers(layers, stages, rank)))
        if rank > 0:
            add(rank, "send", transfer_time, (rank - 1,))
    return tuple(events)


def _unit(seconds: float) -> tuple[float, str]:
    """The unit that suits ``seconds``: its size and its name."""
    return next(((size, name) for size, name in ((1.0, "s"), (ms, "ms")) if seconds >= size), (us, "µs"))
