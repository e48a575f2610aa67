"""The three explorers of chapter 1: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(groups_as_coordinates, dp=Range(1, 16, 4), ...)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankzero.charts import Axis, Spec, below, chart, lines, table
from rankzero.facts import hardware
from rankzero.facts.units import PFLOP, billion, day, hour
from solutions.ch01.ranks import coordinates, locate, process_groups
from solutions.ch01.scale import training_time
from solutions.ch01.scaling import amdahl_speedup

#: Devices of the first explorer, by the names that people use.
DEVICES = {
    "A100": hardware.A100_SXM,
    "H100": hardware.H100_SXM,
    "H200": hardware.H200_SXM,
    "B200": hardware.B200_SXM,
}

#: Device counts in the first explorer: powers of 2.
COUNTS = tuple(2**power for power in range(16))

#: The six orders of three axes, slowest first.
ORDERS = ("dp, pp, tp", "dp, tp, pp", "pp, dp, tp", "pp, tp, dp", "tp, dp, pp", "tp, pp, dp")

#: The most ranks that the second explorer draws.
MOST_RANKS = 512

#: The most ranks that the third explorer draws.
FAR = 4096


def how_long(
    billion_parameters: float = 405.0,
    billion_tokens: float = 15_600.0,
    device: str = "H100",
    count: int = 16_384,
    utilization: float = 40.0,
    price: float = 3.0,
    efficiency: float = 100.0,
) -> Spec:
    """How many days a training run takes on each number and kind of device, and what the chosen run costs.

    Args:
        billion_parameters: parameters that each token is multiplied with, in units of 1e9.
        billion_tokens: of training text, in units of 1e9.
        device: the chosen device, a name in ``DEVICES``.
        count: the chosen number of devices.
        utilization: share of the dense peak that one device sustains alone, percent.
        price: of one device for an hour, USD.
        efficiency: of scaling, percent: together the devices sustain this share of what each does alone; the same for
            every number of them.
    """
    flops = 6 * billion_parameters * billion * billion_tokens * billion
    sustained = utilization / 100 * efficiency / 100

    def days(name: str, devices: int) -> float:
        return training_time(flops, devices, DEVICES[name].peak_bf16, sustained) / day

    curves = [{"count": n, "days": days(name, n), "device": name} for name in DEVICES for n in COUNTS]
    chosen = [{"count": count, "days": days(device, count), "device": device}]
    cells = []
    for name in DEVICES:
        hours = days(name, count) * count * day / hour
        for what, value in (("days", days(name, count)), ("device-hours", hours), ("cost (USD)", hours * price)):
            mark = "chosen" if name == device else None
            cells.append({"device": name, "what": what, "value": f"{value:,.4g}", "kind": mark, "text": _short(value)})
    x = Axis("count", "number of devices", log=True)
    picture = lines(curves, x, Axis("days", "days", log=True), by="device", points=chosen)
    head = f"{count:,} devices; {_short(flops / (PFLOP * day))} PF-days of work, whatever the device"
    numbers = table(
        cells,
        Axis("what", ""),
        Axis("device", ""),
        colour="kind",
        label="text",
        tooltip=("device", "what", "value"),
        title=head,
    )
    return chart(
        below(picture, numbers),
        f"Days against the number of devices, falling in proportion; {count:,} {device} take {chosen[0]['days']:.3g} "
        "days. The table below gives days, device-hours and cost for each kind of device.",
    )


def _short(value: float) -> str:
    """A number with four significant digits, its thousands and millions as people write them."""
    for size, name in ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.4g}{name}"
    return f"{value:.4g}"


def leaving_groups(groups: Sequence[Sequence[int]], ranks_per_node: int) -> int:
    """How many groups have members on more than one node."""
    return sum(len({locate(rank, ranks_per_node)[0] for rank in group}) > 1 for group in groups)


def groups_as_coordinates(
    dp: int = 4, pp: int = 2, tp: int = 8, order: str = "dp, pp, tp", ranks_per_node: int = 8, axis: str = "tp"
) -> Spec:
    """A world as nodes and devices, colored by the groups along one axis, and how many groups span nodes.

    Args:
        dp, pp, tp: ranks along each axis, 1 to 16; at most 512 together.
        order: of the axes, slowest first; one of ``ORDERS``.
        ranks_per_node: 1, 4 or 8.
        axis: the axis whose groups are colored.

    Raises:
        ValueError: more than 512 ranks.
    """
    given = {"dp": dp, "pp": pp, "tp": tp}
    ranks = math.prod(given.values())
    if ranks > MOST_RANKS:
        raise ValueError(f"dp * pp * tp must be at most {MOST_RANKS} ranks, got {ranks}")
    sizes = {name: given[name] for name in order.split(", ")}
    groups = {name: process_groups(sizes, name) for name in sizes}
    leaving = {name: leaving_groups(groups[name], ranks_per_node) for name in sizes}
    home = {name: {rank: group for group in groups[name] for rank in group} for name in sizes}
    cells = []
    for rank in range(ranks):
        node, local = locate(rank, ranks_per_node)
        place = ", ".join(f"{name} {position}" for name, position in coordinates(rank, sizes).items())
        cell = {"node": node, "device": local, "rank": rank, "coordinates": place}
        cell["group"] = groups[axis].index(home[axis][rank])
        cells.append(cell | {f"{name} group": ", ".join(map(str, home[name][rank])) for name in sizes})
    picture = table(
        cells,
        Axis("device", "device (local rank)"),
        Axis("node", "node"),
        colour="group",
        label="rank",
        tooltip=("rank", "coordinates", *(f"{name} group" for name in sizes)),
        title=f"ranks, colored by {axis} group",
    )
    said = ", ".join(f"{leaving[name]} of {len(groups[name])} {name} groups" for name in sizes)
    return chart(
        below(picture, _counts(groups, leaving, axis)),
        f"{ranks} ranks on nodes of {ranks_per_node}, axes {order} from slowest to fastest; {said} leave a node.",
    )


def _counts(groups: dict[str, list[list[int]]], leaving: dict[str, int], axis: str) -> Spec:
    """The table under the picture: each axis's groups, their size, and how many of them span nodes."""
    cells = []
    for name, found in groups.items():
        columns = (("groups", len(found)), ("group size", len(found[0])), ("leave a node", leaving[name]))
        cells += [
            {"axis": name, "what": what, "number": number, "kind": "shown" if name == axis else None}
            for what, number in columns
        ]
    seen = ("axis", "what", "number")
    return table(cells, Axis("axis", "axis"), Axis("what", ""), colour="kind", label="number", tooltip=seen)


def what_you_can_hope_for(
    compute: float = 100.0,
    communication: float = 1.0,
    serial: float = 2.0,
    ranks: int = 16,
    measured: Sequence[float] = (1.0,),
) -> Spec:
    """Speed-up against the number of ranks: ideal, with a constant communication time, and with a serial fraction.

    Args:
        compute: time of the whole problem on one rank, seconds.
        communication: time that communication adds as soon as there are two ranks, seconds.
        serial: share of the time on one rank that does not shrink, percent (Amdahl).
        ranks: the number of ranks to mark, 1 to 4,096.
        measured: times of the same problem on 1, 2, 4, 8, ... ranks, in any unit; drawn as points.
    """
    laws = {
        "ideal": lambda n: float(n),
        "C/n + X": lambda n: compute / (compute / n + (communication if n > 1 else 0.0)),
        "Amdahl": lambda n: amdahl_speedup(serial / 100, n),
    }
    counts = sorted({round(2 ** (step / 2)) for step in range(2 * FAR.bit_length() - 1)} | {ranks})
    curves = [{"ranks": n, "speed-up": law(n), "law": name} for name, law in laws.items() for n in counts]
    points = [{"ranks": 2**i, "speed-up": measured[0] / t, "law": "measured"} for i, t in enumerate(measured)]
    cells = []
    for name, law in laws.items():
        for what, text in (("speed-up", f"{law(ranks):.4g}"), ("efficiency", f"{law(ranks) / ranks:.1%}")):
            cells.append({"law": name, "what": what, "text": text, "kind": None})
    x, y = Axis("ranks", "ranks", log=True), Axis("speed-up", "speed-up over one rank", log=True)
    seen = ("law", "what", "text")
    numbers = table(
        cells, Axis("what", ""), Axis("law", ""), colour="kind", label="text", tooltip=seen, title=f"on {ranks} ranks"
    )
    found = ", ".join(f"{name} {law(ranks):.3g}" for name, law in laws.items())
    return chart(
        below(lines(curves, x, y, by="law", mark=ranks, points=points), numbers),
        f"Speed-up against ranks under three laws, up to {FAR} ranks, and measured points; on {ranks} ranks: {found}.",
    )
