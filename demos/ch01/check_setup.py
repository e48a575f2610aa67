"""What this machine offers for distributed programs, and one real all-reduce that decides the exit status.

python -m demos check_setup --ranks 2
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import sys
from collections.abc import Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, show, verdict, whole
from rankzero import world
from rankzero.world import systems


def total() -> float:
    """On every rank: the sum of 1, 2, ..., N, to which rank r contributes r + 1."""
    number = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(number)
    return number.item()


def found() -> list[tuple[str, str]]:
    """Versions, devices, backends and ways to start processes."""
    backends = {"gloo": dist.is_gloo_available(), "nccl": dist.is_nccl_available(), "mpi": dist.is_mpi_available()}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    devices = [torch.cuda.get_device_name(device) for device in range(torch.cuda.device_count())]
    return [
        ("system", platform.platform(terse=True)),
        ("Python", platform.python_version()),
        ("torch", torch.__version__),
        ("cores for this process", str(cores)),
        ("CUDA devices", ", ".join(devices) or "none"),
        ("backends", ", ".join(name for name, there in backends.items() if there)),
        ("backends not built in", ", ".join(name for name, there in backends.items() if not there) or "none"),
        ("ways to start processes", ", ".join(multiprocessing.get_all_start_methods())),
        ("works here", systems.what_works()),
    ]


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--ranks", type=whole(1, 8), default=2)
    arguments = options.parse_args(argv)
    if not systems.can_fork():  # then a world only says why
        show(arguments, Table(("what", "found"), found()))
    run = world.run(total, ranks=arguments.ranks)
    sums = ", ".join(f"{value:g}" for value in run.values)
    show(arguments, Table(("what", "found"), [*found(), (f"sum on {arguments.ranks} ranks", sums)]))
    wanted = arguments.ranks * (arguments.ranks + 1) / 2
    return verdict(all(value == wanted for value in run.values), f"the all-reduce gives {wanted:g} on every rank")


if __name__ == "__main__":
    sys.exit(main())
