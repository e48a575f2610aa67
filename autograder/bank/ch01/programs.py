"""Chapter 01: first programs on real ranks, three build items, and one buffer where there should be many, to fix."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Slip


def values(*numbers: float) -> Case:
    """One number for each rank."""
    return Case(args=tuple((float(number),) for number in numbers))


# --- roll_call


def _said(rng: Random, ranks: int = 0) -> Case:
    """Decreasing numbers of both signs: no two equal, none of them a float32."""
    numbers = sorted((rng.uniform(-1000, 1000) for _ in range(ranks or rng.randint(2, 4))), reverse=True)
    return values(*numbers)


def _large_and_equal(rng: Random) -> list[Case]:
    """Numbers out of the range of float32, equal ones, and one rank."""
    same = rng.uniform(-9, 9)
    return [
        values(1e300, -1e300, rng.uniform(1, 9)),
        values(same, same + 1, same, -same),
        values(rng.uniform(-9, 9)),
        values(0.1, 1e-300),
    ]


ROLL_CALL = Build(
    id="01-roll-call",
    module="first_program",
    function="roll_call",
    grade="world",
    section="1.3",
    topic="all-gather",
    tolerance=0.0,
    cases=(values(0, 10, 20, 30), values(7.5), values(0.1, -0.2)),
    groups=(
        listed(
            "numbers of both signs",
            lambda rng: [_said(rng, ranks) for ranks in (4, 3, 2)],
            "Entry r is the value of rank r, on every rank.",
        ),
        listed(
            "large, equal, alone",
            _large_and_equal,
            "Every bit of a float counts, values may be equal, and a rank may be alone.",
        ),
    ),
    slips=(
        Slip(
            "The list holds one buffer N times: make a new one for each rank.",
            edit=(
                "[torch.empty_like(mine) for _ in range(dist.get_world_size())]",
                "[torch.zeros_like(mine)] * dist.get_world_size()",
            ),
        ),
        Slip(
            "all_gather refuses a tensor whose type is not that of the buffers: make both float64.",
            edits=(
                ("torch.tensor([value], dtype=torch.float64)", "torch.tensor([int(value)])"),
                ("torch.empty_like(mine)", "torch.zeros(1)"),
            ),
        ),
        Slip(
            "Only rank 0 has the values: a gather has a root, an all-gather has none.",
            edits=(
                (
                    "[torch.empty_like(mine) for _ in range(dist.get_world_size())]",
                    "[torch.empty_like(mine) for _ in range(dist.get_world_size())] if dist.get_rank() == 0 else None",
                ),
                ("dist.all_gather(heard, mine)", "dist.gather(mine, heard, dst=0)"),
                ("for tensor in heard]", "for tensor in heard or []]"),
            ),
        ),
        Slip(
            "The values were sorted: they belong in rank order.",
            edit=("[float(tensor) for tensor in heard]", "sorted(float(tensor) for tensor in heard)"),
        ),
        Slip(
            "The values traveled as float32, which holds 24 bits: a Python float is float64.",
            edit=(", dtype=torch.float64", ""),
        ),
        Slip(
            "One broadcast for each rank: a single all-gather does it.",
            edit=(
                "    heard = [torch.empty_like(mine) for _ in range(dist.get_world_size())]\n"
                "    dist.all_gather(heard, mine)\n",
                "    heard = [mine.clone() for _ in range(dist.get_world_size())]\n"
                "    for rank, said in enumerate(heard):\n"
                "        dist.broadcast(said, src=rank)\n",
            ),
        ),
    ),
    rule=rules.every(
        rules.frugal(1, 8, "one all-gather, of 8 bytes from each rank, is enough"), least_received.from_each(8)
    ),
)


# --- debug_gather


def wrong_gather(value):
    import torch
    import torch.distributed as dist

    heard = [torch.zeros(1)] * dist.get_world_size()
    dist.all_gather(heard, torch.tensor([value]))
    return [float(tensor) for tensor in heard]


def _quarters(rng: Random, ranks: int = 0) -> Case:
    """Different multiples of a quarter, which float32 holds exactly; the last is not the first."""
    return values(*(number / 4 for number in rng.sample(range(-400, 400), ranks or rng.randint(2, 4))))


DEBUG_GATHER = Debug(
    id="01-debug-gather",
    module="first_program",
    function="debug_gather",
    grade="world",
    section="1.3",
    topic="buffers of the caller",
    tolerance=1e-5,
    cases=(values(0, 10, 20, 30), values(1.5, -2.5)),
    groups=(
        Group(
            "different values",
            _quarters,
            4,
            "Entry r is the value of rank r, on every rank.",
            lambda rng: [_quarters(rng, ranks) for ranks in (4, 3)],
        ),
        Group("one rank", lambda rng: values(rng.randint(-8, 8)), 2, "One rank hears itself."),
    ),
    slips=(
        Slip(
            "All entries are one tensor, which holds what came last; copying it afterwards is too late.", wrong_gather
        ),
        Slip(
            "One entry has a buffer of its own and the others still share one.",
            program=wrong_gather,
            edit=("    dist.all_gather(", "    heard[dist.get_rank()] = torch.zeros(1)\n    dist.all_gather("),
        ),
    ),
    rule=least_received.from_each(4),
    wrong=wrong_gather,
)

# --- pair_sum


def _of_odd_ranks(case: Case) -> list[int]:
    """Bytes that each rank has to hear: an odd one hears its partner."""
    return [8 * (rank % 2) for rank in range(len(case.args))]


def _pairs(rng: Random) -> list[Case]:
    return [_said(rng, 4), _said(rng, 2)]


def _left_over(rng: Random) -> list[Case]:
    """An odd number of ranks, and one rank alone."""
    return [_said(rng, 3), values(rng.uniform(-9, 9)), values(*(rng.uniform(1, 9) for _ in range(3)))]


def _bits(rng: Random) -> list[Case]:
    """Numbers that float32 cannot hold."""
    small = rng.uniform(1, 9) * 1e-12
    return [values(1.0, small, 1.0, -small), values(rng.uniform(1, 9) * 1e200, 1e199)]


PAIR_SUM = Build(
    id="01-pair-sum",
    module="first_program",
    function="pair_sum",
    grade="world",
    section="1.3",
    topic="ranks that branch",
    tolerance=0.0,
    cases=(values(1, 2, 3, 4), values(0.5, 0.25), values(5, 7, 9)),
    groups=(
        listed("pairs", _pairs, "The even rank sends, the odd one adds; the pairs work at the same time."),
        listed("left over", _left_over, "The last of an odd number of ranks has nobody to send to."),
        listed("bits", _bits, "A Python float is a float64, and every bit of it counts."),
    ),
    slips=(
        Slip(
            "The branches are swapped: rank 0 waits for a rank before it, and there is none.",
            edits=(
                ("if rank % 2 == 1:", "if rank % 2 == 0 and ranks > 1:"),
                ("dist.recv(partner, src=rank - 1)", "dist.recv(partner, src=(rank - 1) % ranks)"),
                ("dist.send(mine, dst=rank + 1)", "dist.send(mine, dst=(rank + 1) % ranks)"),
                ("if rank + 1 == ranks:", "if ranks == 1:"),
            ),
        ),
        Slip(
            "The last even rank sends to a rank that does not exist: keep its value instead.",
            edit=("    if rank + 1 == ranks:\n        return value\n", ""),
        ),
        Slip(
            "The last even rank sends to rank 0, which does not receive: it has no partner and keeps its value.",
            edits=(
                ("    if rank + 1 == ranks:\n        return value\n", ""),
                ("dst=rank + 1", "dst=(rank + 1) % ranks"),
            ),
        ),
        Slip(
            "The even rank returns its value, though it has given it away: the pair's sum would count it twice.",
            edit=("    return None", "    return value"),
        ),
        Slip(
            "The odd rank returns its partner's value alone: add its own.",
            edit=("return value + partner.item()", "return partner.item()"),
        ),
        Slip(
            "The value traveled as float32, which holds 24 bits: a Python float is float64.",
            edit=(", dtype=torch.float64", ""),
        ),
        Slip(
            "That adds up all ranks: only the two of a pair belong together.",
            edits=(
                ("dist.recv(partner, src=rank - 1)", "partner = mine.clone(); dist.all_reduce(partner)"),
                ("return value + partner.item()", "return partner.item()"),
                (
                    "    if rank + 1 == ranks:\n        return value\n    dist.send(mine, dst=rank + 1)",
                    "    dist.all_reduce(mine)",
                ),
            ),
        ),
    ),
    rule=rules.every(
        rules.only_messages,
        rules.frugal(1, 8, "one message of 8 bytes for each pair is enough"),
        least_received.heard(_of_odd_ranks),
    ),
)


# --- join


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


JOIN = Build(
    id="01-join",
    module="first_program",
    function="join",
    grade="world",
    section="1.4",
    topic="initializing a group",
    probe="ch01.met",
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
            "The world size is that of one node: each node starts a world of its own.",
            edit=('environ["WORLD_SIZE"]', 'environ["LOCAL_WORLD_SIZE"]'),
        ),
        Slip(
            "The device is the global rank: the second node has no device of that number.",
            edit=('return int(environ["LOCAL_RANK"])', 'return int(environ["RANK"])'),
        ),
        Slip(
            "The port is written into the program: two runs on one machine would meet each other.",
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
    rule=least_received.from_each(8),
)

ITEMS = (ROLL_CALL, DEBUG_GATHER, PAIR_SUM, JOIN)
