"""A ping-pong between two real ranks, alpha and B fitted to it, and the error of the fit at each size.

Other load on the machine shows up as residuals. The fit weighs relative errors, so no single size dominates. On a very
busy machine large messages may seem no slower than small ones: then the demo measures again, three times at most.

python -m demos fit_link --repeats 30
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch02.ping_pong import SIZES, ping_pong
from experiments.ch04.link_fits import fitted
from rankzero.facts.units import KiB, MiB, format_bytes, format_time, us


def squared_errors(latency: float, bandwidth: float, times: dict[int, float]) -> float:
    """The sum of squared relative errors of a line."""
    return sum(((latency + size / bandwidth) / seconds - 1) ** 2 for size, seconds in times.items())


def _picture(rows: Sequence[tuple]):
    from rankzero.figures import plots

    points = [(row[0], row[3]) for row in rows]
    worst = max(rows, key=lambda row: abs(row[3]))
    alt = f"Error of the fitted line at {len(rows)} sizes; the largest is {worst[3]:+.1f} % at {worst[0]:,} bytes."
    line = [(points[0][0], 0.0), (points[-1][0], 0.0)]
    return plots.curves(
        {"fitted line": line}, {"predicted over measured": points}, x="size (bytes)", y="error (%)", log="x", alt=alt
    )


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--repeats", type=whole(1, 1000), default=30, help="round trips of a small message")
    arguments = options.parse_args(argv)
    fit_alpha_beta = part(arguments.code, "ch04.bandwidth", "fit_alpha_beta")
    sizes = tuple(size for size in SIZES if size <= 4 * MiB) if arguments.quick else SIZES
    repeats = min(arguments.repeats, 10) if arguments.quick else arguments.repeats
    try:
        times, latency, bandwidth = fitted(lambda: ping_pong(sizes, repeats), fit_alpha_beta)
    except ValueError as error:
        print(error)
        return verdict(False, "the times grow with the size")
    print(f"alpha {format_time(latency)}, B {format_bytes(bandwidth)}/s")
    half = latency * bandwidth
    words = (
        f"a message of {format_bytes(half)} spends half of its time starting up"
        if half > 0
        else "alpha is not positive"
    )
    print(words)
    rows = [
        (size, seconds / us, (latency + size / bandwidth) / us, 100 * ((latency + size / bandwidth) / seconds - 1))
        for size, seconds in times.items()
    ]
    header = ("bytes", "measured (us)", "fitted (us)", "error (%)")
    show(arguments, Table(header, rows), lambda: _picture(rows))
    least = squared_errors(latency, bandwidth, times)
    step = max(abs(latency), KiB / bandwidth) / 100
    others = [
        (latency + up * step, bandwidth * (1 + wide / 100)) for up in (-1, 0, 1) for wide in (-1, 0, 1) if up or wide
    ]
    right = all(squared_errors(*other, times) >= least for other in others)
    return verdict(right, "no line next to the fitted one has smaller relative errors")


if __name__ == "__main__":
    sys.exit(main())
