"""What a message costs between two ranks of this machine: a ping-pong, and the line start-up + bytes / bandwidth.

python -m demos ping_pong --max-bytes 16777216 --repeats 50
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch02 import ping_pong
from rankzero.units import GB, MB, MiB, format_bytes, us


def _picture(times: Mapping[int, float], line: Callable[[int], float], latency: float, bandwidth: float):
    from rankzero import plots

    model = {
        "start-up + bytes": [(size, line(size)) for size in times],
        "start-up alone": [(size, latency) for size in times if latency],
        "bytes alone": [(size, size / bandwidth) for size in times],
    }
    return plots.curves(
        {name: points for name, points in model.items() if points},
        {"start-up + bytes": list(times.items())},
        x="size of the message (bytes)",
        y="time (s)",
        log="xy",
        rules={"alpha B": latency * bandwidth} if latency else {},
        alt="Measured times of messages against their size, between the lines of start-up and of bytes.",
    )


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--max-bytes", type=whole(16, 2**28), default=16 * MiB, help="size of the largest message")
    options.add_argument("--repeats", type=whole(1, 10_000), default=50, help="round trips of a small message")
    arguments = options.parse_args(argv)
    message_time = part(arguments.code, "ch02.alpha_beta", "message_time")
    largest, repeats = (
        (min(arguments.max_bytes, 4 * MiB), 5) if arguments.quick else (arguments.max_bytes, arguments.repeats)
    )
    sizes = [4**power for power in range(1, 15) if 4**power <= largest]
    for _ in range(3):  # measured again where the machine was busy with something else
        times = ping_pong.ping_pong(sizes, repeats)
        grows = times[max(times)] > times[min(times)]
        if grows:
            break
    if not grows:  # no line goes through such times
        print(Table(("bytes", "time (us)"), [(size, seconds / us) for size, seconds in times.items()]))
        return verdict(grows, "the largest message takes longer than the smallest")
    latency, bandwidth = ping_pong.link_of(times)
    print(f"alpha {latency / us:.4g} us, B {bandwidth / GB:.4g} GB/s, alpha B {format_bytes(latency * bandwidth)}")
    rows = [
        (size, seconds / us, message_time(size, bandwidth, latency) / us, size / seconds / MB)
        for size, seconds in times.items()
    ]
    table = Table(("bytes", "time (us)", "alpha + m/B (us)", "MB/s"), rows)
    show(arguments, table, lambda: _picture(times, lambda m: message_time(m, bandwidth, latency), latency, bandwidth))
    return verdict(grows, "the largest message takes longer than the smallest")


if __name__ == "__main__":
    sys.exit(main())
