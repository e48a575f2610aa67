"""A machine's topology: GPU pairs by kind of link, the cores, memory and network card nearest to each GPU, a good ring.

Without --file or --sample it asks nvidia-smi; where there is none, it says so and shows a stored sample.

python -m demos topology --sample cube-mesh
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from demos.common import Table, demo, parser, part, show, verdict
from rankzero.facts.topologies import MEANINGS, SAMPLES, nearness, this_machine

#: The most GPUs among which the best ring is searched.
MOST = 8


def matrix(arguments) -> tuple[str, str]:
    """The text to read, and where it comes from."""
    if arguments.file:
        return Path(arguments.file).read_text(encoding="utf-8"), f"the file {arguments.file}"
    here = None if arguments.sample else this_machine()
    if here is not None:
        return here, "this machine, as nvidia-smi topo -m prints it"
    sample = SAMPLES[arguments.sample or "nvswitch"]
    missing = "" if arguments.sample else "nvidia-smi does not answer here. "
    return sample.text, f"{missing}{sample.name}. {sample.note} Layout: {sample.source}"


def slowest(links: Mapping[str, Mapping[str, str]], ring: Sequence[str]) -> int:
    """The rank of a ring's slowest hop in the order of links; a single GPU has no hop."""
    hops = zip(ring, [*ring[1:], *ring[:1]], strict=True)
    return min((nearness(links[a][b]) for a, b in hops if a != b), default=0)


def _picture(gpus: Sequence[str], links: Mapping[str, Mapping[str, str]], ring: Sequence[str]):
    from rankzero.figures import diagrams

    return diagrams.link_circle(gpus, links, ring if len(ring) > 2 else None)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--file", help="a file with the output of nvidia-smi topo -m")
    options.add_argument("--sample", choices=tuple(SAMPLES), help="a stored matrix")
    arguments = options.parse_args(argv)
    try:
        text, name = matrix(arguments)
        topology = part(arguments.code, "ch04.topology", "parse_topology")(text)
    except (OSError, ValueError) as error:
        options.error(f"argument --file: {error}" if arguments.file else str(error))
    print(name)
    links, gpus = topology.links, [device for device in topology.devices if device.startswith("GPU")]
    kinds = Counter(links[a][b] for a, b in combinations(gpus, 2))
    for code in sorted(kinds, key=nearness, reverse=True):
        print(f"  {code:5}{kinds[code]:3} pairs of GPUs: {MEANINGS['NV#' if code.startswith('NV') else code]}")
    cards = [device for device in topology.devices if device not in gpus]
    rows = []
    for gpu in gpus:
        card = max(cards, key=lambda card: nearness(links[gpu][card]), default="-")
        code = links[gpu].get(card, "-")
        rows.append((gpu, topology.cpus.get(gpu, "-"), topology.numa.get(gpu, "-"), card, code))
    chosen = gpus[:MOST]
    ring = part(arguments.code, "ch04.topology", "best_ring")(links, chosen)
    if len(ring) > 1:
        print(f"best ring of {len(ring)} GPUs: {' - '.join(ring)}")
    table = Table(("GPU", "cores", "NUMA node", "nearest card", "by"), rows)
    show(arguments, table, lambda: _picture(chosen, links, ring))
    right = sorted(ring) == sorted(chosen) and slowest(links, ring) >= slowest(links, chosen)
    return verdict(right, "the ring visits each of them once, and no hop is slower than the slowest in number order")


if __name__ == "__main__":
    sys.exit(main())
