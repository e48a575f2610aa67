"""Chapter 1: ``join``, initializing a group."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received
from autograder.bank.groups import listed
from autograder.items import Build, Case, Right, Slip


def launched(nodes: int, per_node: int, address: str, port: int) -> Case:
    """What torchrun tells each process of a run on several nodes."""
    world = nodes * per_node
    environs = [
        {
            "LOCAL_RANK": str(rank % per_node),
            "RANK": str(rank),
            "GROUP_RANK": str(rank // per_node),
            "LOCAL_WORLD_SIZE": str(per_node),
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": address,
            "MASTER_PORT": str(port),
        }
        for rank in range(world)
    ]
    return Case(args=tuple((environ,) for environ in environs))


def _host(rng: Random) -> tuple[str, int]:
    host = rng.choice(("localhost", "node-0", "10.0.0.7", f"gpu{rng.randrange(100)}.cluster.local"))
    return host, rng.randrange(1024, 65_536)


def _one_node(rng: Random) -> list[Case]:
    return [launched(1, ranks, *_host(rng)) for ranks in (2, 3, 4)]


def _several_nodes(rng: Random) -> list[Case]:
    return [launched(nodes, each, *_host(rng)) for nodes, each in ((2, 2), (3, 1), (4, 1))]


def joined_at_a_store(environ):
    import torch.distributed as dist

    rank, size = int(environ["RANK"]), int(environ["WORLD_SIZE"])
    store = dist.TCPStore(environ["MASTER_ADDR"], int(environ["MASTER_PORT"]), size, is_master=rank == 0)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    return int(environ["LOCAL_RANK"])


def joined_through_the_environment(environ):
    import os

    import torch.distributed as dist

    os.environ.update(environ)
    dist.init_process_group("gloo")
    return int(environ["LOCAL_RANK"])


EXERCISE = Build(
    "01 first_program.join",
    section="1.4",
    topic="initializing a group",
    grade="world",
    probe="ch01.met",
    rule=least_received.from_each(8),
    cases=(launched(1, 4, "localhost", 29_400), launched(2, 2, "node-0", 40_123)),
    groups=(
        listed("one node", _one_node, "All processes name the same store, and each its own rank."),
        listed("several nodes", _several_nodes, "Ranks count over all nodes; devices count from 0 on each node."),
        listed("alone", lambda rng: [launched(1, 1, *_host(rng))] * 2, "A process may be alone in its world."),
    ),
    slips=(
        Slip(
            "The rank is the local rank: on two nodes, two processes claim rank 0, and nobody is rank 2.",
            edit=('rank=int(environ["RANK"])', 'rank=int(environ["LOCAL_RANK"])'),
        ),
        Slip(
            "The world size is that of one node: the ranks of the other nodes do not fit into so small a world.",
            edit=('environ["WORLD_SIZE"]', 'environ["LOCAL_WORLD_SIZE"]'),
        ),
        Slip(
            "The device is the global rank: the second node has no device of that number.",
            edit=('return int(environ["LOCAL_RANK"])', 'return int(environ["RANK"])'),
        ),
        Slip(
            "The port is written into the program: two runs on one machine would want the same one.",
            edit=("{environ['MASTER_PORT']}", "29500"),
        ),
        Slip(
            "The address is written into the program: processes on other nodes wait at their own localhost.",
            edit=("{environ['MASTER_ADDR']}", "localhost"),
        ),
        Slip(
            "The device is text, but a device is a number: convert it with int.",
            edit=('return int(environ["LOCAL_RANK"])', 'return environ["LOCAL_RANK"]'),
        ),
        Slip(
            "The group was closed again: it must stay open for the program that goes on.",
            edit=("    return int(", "    dist.destroy_process_group()\n    return int("),
        ),
        Slip(
            "The library read os.environ, but the variables are in the argument: pass them on.",
            edits=(
                ("f\"tcp://{environ['MASTER_ADDR']}:{environ['MASTER_PORT']}\"", '"env://"'),
                ('        rank=int(environ["RANK"]),\n        world_size=int(environ["WORLD_SIZE"]),\n', ""),
            ),
        ),
        Slip(
            "The processes never meet: call init_process_group before you return.",
            edit=("dist.init_process_group(", "str().format("),
        ),
    ),
    rights=(
        Right("through os.environ", program=joined_through_the_environment),
        Right("a store", program=joined_at_a_store),
        Right(
            "arguments by place",
            edit=('dist.init_process_group(\n        "gloo",', 'dist.init_process_group(\n        backend="gloo",'),
        ),
    ),
)
