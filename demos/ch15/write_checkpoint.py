"""A checkpoint of one size, written to this disk by more and more processes: where it stops getting faster.

python -m demos write_checkpoint --writers 1,2,4,8 --size 256MB
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from demos.common import Table, demo, parser, part, show, verdict
from experiments.ch15.checkpoint_writers import Written, write_rates
from rankzero.facts.units import GB, KB, MB, ms


def _writers(text: str) -> list[int]:
    counts = [int(piece) for piece in text.split(",") if piece.isdecimal()]
    if len(counts) != text.count(",") + 1 or not all(1 <= count <= 16 for count in counts):
        raise argparse.ArgumentTypeError(f"must be numbers of processes from 1 to 16, with commas, got {text}")
    return counts


def _size(text: str) -> float:
    match = re.fullmatch(r"(\d{1,6})(KB|MB|GB)", text)
    size = int(match[1]) * {"KB": KB, "MB": MB, "GB": GB}[match[2]] if match else 0
    if not 1 * KB <= size <= 8 * GB:
        raise argparse.ArgumentTypeError(f"must be a size from 1KB to 8GB, as in 256MB, got {text}")
    return size


def _picture(found: list[Written]):
    from rankzero.figures import plots

    points = {"measured": [(written.writers, written.bandwidth / MB) for written in found]}
    alone = found[0].bandwidth / found[0].writers
    ideal = {"as many times one writer": [(written.writers, written.writers * alone / MB) for written in found]}
    most = max(written.bandwidth for written in found)
    alt = f"Bytes per second of all writers together against their number; the most is {most / MB:.0f} MB/s."
    return plots.curves(ideal, points, x="writers", y="MB/s together", log="x", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--writers", type=_writers, default=[1, 2, 4, 8], help="processes, with commas")
    options.add_argument("--size", type=_size, default=128 * MB, help="size of the whole checkpoint, as in 256MB")
    options.add_argument("--folder", type=Path, help="a folder on the disk to measure")
    given = options.parse_args(argv)
    if given.folder is not None and not given.folder.is_dir():
        options.error(f"--folder must be a folder, got {given.folder}")
    model = part(given.code, "ch15.checkpointing", "checkpoint_write_time")
    model(1, 1, 1, 1, 1)
    writers, size = (given.writers[:2], 1 * MB) if given.quick else (given.writers, given.size)
    found = write_rates(writers, size, folder=given.folder and str(given.folder))
    link, storage = found[0].bandwidth / found[0].writers, max(one.bandwidth for one in found)
    rows = []
    for one in found:
        seconds = model(one.size, 1, one.writers, link, storage)
        rows.append((one.writers, one.size, one.seconds / ms, one.bandwidth / MB, seconds / ms))
    header = ("writers", "bytes on the disk", "measured (ms)", "MB/s together", "min(writers x link, storage) (ms)")
    show(given, Table(header, rows), lambda: _picture(found))
    print("link: the first row's rate over its writers; storage: the best rate of all rows")
    right = all(one.size == int(size) // one.writers * one.writers for one in found)
    return verdict(right, "every byte is on the disk, whichever process wrote it")


if __name__ == "__main__":
    sys.exit(main())
