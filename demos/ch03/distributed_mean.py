"""The mean of values on several ranks, and the mean of the ranks' means, which is right only for equal counts.

The same holds for gradients: below, those of a small network, averaged over ranks and over samples.

python -m demos distributed_mean --counts 100,100,100,50
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict
from rankzero import world


def _counts(text: str) -> list[int]:
    counts = [int(piece) for piece in text.split(",") if piece.strip().isdecimal()]
    if len(counts) != text.count(",") + 1 or not 1 <= len(counts) <= 8 or not sum(counts) or max(counts) > 10**6:
        raise argparse.ArgumentTypeError(f"must be 1 to 8 numbers up to 1,000,000, not all 0, got {text}")
    return counts


def gradient(inputs: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean loss of a two-layer network over ``inputs`` [n, 3], flat; zeros for no input."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    errors = (network(inputs) - inputs.sum(1, keepdim=True)).square()
    (errors.sum() / max(1, len(inputs))).backward()
    return torch.cat([parameter.grad.flatten() for parameter in network.parameters() if parameter.grad is not None])


def samples(counts: Sequence[int]) -> list[torch.Tensor]:
    """Inputs of the network for each rank, the same on every call."""
    generator = torch.Generator().manual_seed(3)
    return [rank + torch.randn(count, 3, generator=generator).double() for rank, count in enumerate(counts)]


def on_every_rank(mean: Callable[[torch.Tensor], float], counts: list[int]) -> tuple[float, torch.Tensor, torch.Tensor]:
    """The mean of ``counts[r]`` values r, and the gradient averaged over ranks and over samples."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    answer = mean(torch.full((counts[rank],), float(rank)))
    plain = gradient(samples(counts)[rank])
    both = torch.stack([plain, plain * counts[rank]])
    dist.all_reduce(both)
    return answer, both[0] / ranks, both[1] / sum(counts)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--counts", type=_counts, default=[100, 100, 100, 50], help="values on each rank, with commas")
    arguments = options.parse_args(argv)
    counts = arguments.counts
    mean = part(arguments.code, "ch03.distributed_stats", "distributed_mean")
    answer, plain, weighted = world.run(on_every_rank, mean, counts, ranks=len(counts)).values[0]
    everything = torch.cat([torch.full((count,), float(rank)) for rank, count in enumerate(counts)]).double()
    truth, whole = everything.mean().item(), gradient(torch.cat(samples(counts)))
    means = statistics.mean(rank for rank, count in enumerate(counts) if count)
    far = [((g - whole).norm() / whole.norm()).item() for g in (weighted, plain)]
    rows = [
        ("mean of all values", truth, 0.0),
        ("distributed_mean", answer, abs(answer - truth)),
        ("mean of the ranks' means", float(means), abs(means - truth)),
        ("gradient, weighted by samples", weighted.norm().item(), far[0]),
        ("gradient, averaged over ranks", plain.norm().item(), far[1]),
    ]
    show(arguments, Table(("quantity", "value or norm", "error"), rows))
    return verdict(
        abs(answer - truth) <= 1e-9 and far[0] < 1e-9, "distributed_mean and the weighted gradient are exact"
    )


if __name__ == "__main__":
    sys.exit(main())
