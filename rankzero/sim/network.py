"""A simulator of messages between ranks: when each one starts and ends, and whose values each rank then holds.

Every rank has one full-duplex port: it sends one message at a time and receives one at a time. A message of m bytes
occupies the output of its sender and the input of its receiver for ``latency + m / bandwidth``. A rank's program lists
the messages that it sends and receives. The rank sends in that order, receives in that order, and handles the messages
of any one chunk in that order; nothing else waits. So a chunk is passed on as soon as it has arrived.

>>> there, back = Transfer(0, 1, (0,), "reduce"), Transfer(1, 0, (0,), "copy")
>>> run = simulate_programs(by_rank([there, back], ranks=2), sizes=[1000], network=Network(1e9, latency=1e-6))
>>> run.seconds
4e-06
>>> [sorted(chunks[0]) for chunks in run.holds]
[[0, 1], [0, 1]]

Standard library only.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rankzero import checks
from rankzero.events import Event, Ledger

#: ``holds[rank][chunk]``: the ranks whose values are in that chunk; empty if the rank holds nothing there.
Holds = tuple[tuple[frozenset[int], ...], ...]

TransferKind = Literal["reduce", "copy"]
KINDS = get_args(TransferKind)


@dataclass(frozen=True)
class Transfer:
    """One message.

    Attributes:
        source: the rank that sends.
        target: the rank that receives; not the source.
        chunks: numbers of the chunks in the message.
        kind: whether the chunks are added to what the target holds (``reduce``) or replace it (``copy``).
    """

    source: int
    target: int
    chunks: tuple[int, ...]
    kind: TransferKind

    def __str__(self) -> str:
        """The chunks in words: ``chunk 3``, ``chunks 0, 1``."""
        return f"chunk{'s' * (len(self.chunks) != 1)} {', '.join(map(str, self.chunks))}"


@dataclass(frozen=True)
class Network:
    """The cost of a message between two ranks; with nodes, it may differ within a node and between nodes.

    Attributes:
        bandwidth: bandwidth of one port, one direction, bytes/s, above 0; with nodes, for messages within a node.
        latency: start-up time of one message, seconds; with nodes, for messages within a node.
        ranks_per_node: number of consecutive ranks that share a node; None if all ranks do.
        inter_bandwidth: bytes/s of a message between nodes; None if it is the same as within a node.
        inter_latency: start-up time of a message between nodes, seconds; None if it is the same as within a node.
    """

    bandwidth: float
    latency: float = 0.0
    ranks_per_node: int | None = None
    inter_bandwidth: float | None = None
    inter_latency: float | None = None

    def __post_init__(self) -> None:
        between = self.bandwidth if self.inter_bandwidth is None else self.inter_bandwidth
        checks.positive(bandwidth=self.bandwidth, inter_bandwidth=between)
        checks.amount(latency=self.latency, inter_latency=0 if self.inter_latency is None else self.inter_latency)
        checks.count(ranks_per_node=1 if self.ranks_per_node is None else self.ranks_per_node)

    def seconds(self, source: int, target: int, message_bytes: float) -> float:
        """Time of one message."""
        latency, bandwidth = self.latency, self.bandwidth
        if self.ranks_per_node is not None and source // self.ranks_per_node != target // self.ranks_per_node:
            latency = latency if self.inter_latency is None else self.inter_latency
            bandwidth = bandwidth if self.inter_bandwidth is None else self.inter_bandwidth
        return latency + message_bytes / bandwidth


@dataclass(frozen=True)
class Run:
    """The result of a simulation.

    Attributes:
        events: a send and a recv for each message, by rank and then by time.
        seconds: time from the start to the end of the last message.
        ranks: number of ranks.
        holds: ``holds[rank][chunk]``, the ranks whose values are in that chunk at the end.
    """

    events: tuple[Event, ...]
    seconds: float
    ranks: int
    holds: Holds

    def ledger(self) -> Ledger:
        """Bytes by rank and operation."""
        return Ledger(self.events, self.ranks)


def by_rank(transfers: Iterable[Transfer], ranks: int) -> list[list[Transfer]]:
    """The program of each rank: in order, the transfers that it takes part in.

    Such programs never deadlock, since both ends of every message follow the order of one list.
    """
    programs: list[list[Transfer]] = [[] for _ in range(ranks)]
    for transfer in transfers:
        checks.count(0, ranks - 1, source=transfer.source, target=transfer.target)
        for end in (transfer.source, transfer.target):
            programs[end].append(transfer)
    return programs


def simulate_programs(
    programs: Sequence[Sequence[Transfer]],
    sizes: Sequence[int],
    network: Network,
    holds: Sequence[Sequence[Collection[int]]] | None = None,
) -> Run:
    """Run the programs of all ranks; every message starts as soon as it can.

    Args:
        programs: for each rank, in order, the transfers that it sends and receives. Both ends list a transfer, and list
            the transfers from one rank to another in the same order.
        sizes: bytes of each chunk, integers >= 0.
        network: the cost of a message.
        holds: what the ranks start with, as in :class:`Run`; None means that every rank has its own values in every
            chunk.

    Raises:
        ValueError: the programs cannot run. The message says why: a rank sends a chunk of which it holds nothing, adds
            a rank's values twice, or overwrites values that the copy lacks; the two ends of a message disagree; or
            there is a deadlock.
    """
    checks.count(0, sizes=sizes)
    ranks = len(programs)
    held = _start(holds, ranks, len(sizes))
    messages, queues = _match_messages(programs, len(sizes))
    followers, missing = _dependencies(messages, queues)
    starts = [0.0] * len(messages)
    ready = deque(number for number, count in enumerate(missing) if count == 0)
    events: list[Event] = []
    while ready:
        number = ready.popleft()
        message, start = messages[number], starts[number]
        _deliver(message, held)
        size = sum(sizes[chunk] for chunk in message.chunks)
        end = start + network.seconds(message.source, message.target, size)
        events.append(Event(message.source, "send", (message.target,), size, 0, start, end))
        events.append(Event(message.target, "recv", (message.source,), 0, size, start, end))
        for follower in followers[number]:
            starts[follower] = max(starts[follower], end)
            missing[follower] -= 1
            if missing[follower] == 0:
                ready.append(follower)
    if any(missing):
        raise ValueError(_stuck(messages, queues, missing))
    events.sort(key=lambda event: (event.rank, event.start, event.end))
    seconds = max((event.end for event in events), default=0.0)
    return Run(tuple(events), seconds, ranks, tuple(tuple(chunks) for chunks in held))


def _start(holds: Sequence[Sequence[Collection[int]]] | None, ranks: int, chunks: int) -> list[list[frozenset[int]]]:
    if holds is None:
        return [[frozenset((rank,))] * chunks for rank in range(ranks)]
    if len(holds) != ranks or any(len(row) != chunks for row in holds):
        raise ValueError(f"holds must have {chunks} chunks on each of {ranks} ranks, got {[len(row) for row in holds]}")
    return [[frozenset(chunk) for chunk in row] for row in holds]


def _match_messages(programs: Sequence[Sequence[Transfer]], chunks: int) -> tuple[list[Transfer], list[list[int]]]:
    """All messages and, for each rank, the numbers of its messages in the order of its program."""
    messages: list[Transfer] = []
    sent: dict[tuple[int, int], deque[int]] = defaultdict(deque)  # source, target -> messages not yet received
    for rank, program in enumerate(programs):
        for transfer in program:
            _check_transfer(transfer, rank, len(programs), chunks)
            if transfer.source == rank:
                sent[rank, transfer.target].append(len(messages))
                messages.append(transfer)
    outgoing = iter(range(len(messages)))  # messages were numbered in the order in which the senders come up again here
    queues = [
        [next(outgoing) if transfer.source == rank else _received(transfer, sent, messages) for transfer in program]
        for rank, program in enumerate(programs)
    ]
    for (source, target), left in sent.items():
        if left:
            raise ValueError(f"rank {source} sends {messages[left[0]]} to rank {target}, which does not receive it")
    return messages, queues


def _received(transfer: Transfer, sent: dict[tuple[int, int], deque[int]], messages: list[Transfer]) -> int:
    """The number of the message that the receiver's ``transfer`` matches."""
    source, target = transfer.source, transfer.target
    if not sent[source, target]:
        raise ValueError(f"rank {target} receives {transfer} from rank {source}, which does not send it")
    number = sent[source, target].popleft()
    if messages[number] != transfer:
        theirs = messages[number]
        raise ValueError(
            f"rank {source} sends {theirs} to rank {target} to {theirs.kind}, "
            f"which receives {transfer} to {transfer.kind}"
        )
    return number


def _dependencies(messages: list[Transfer], queues: list[list[int]]) -> tuple[list[set[int]], list[int]]:
    """For each message, the messages that wait for it, and the number of messages that it waits for.

    At each of its two ranks a message waits for the previous message through the same output or input, and for the
    previous message with one of its chunks.
    """
    followers: list[set[int]] = [set() for _ in messages]
    for rank, queue in enumerate(queues):
        last: dict[Hashable, int] = {}
        for number in queue:
            message = messages[number]
            for use in ("out" if message.source == rank else "in", *message.chunks):
                if use in last:
                    followers[last[use]].add(number)
                last[use] = number
    missing = [0] * len(messages)
    for waiting in followers:
        for number in waiting:
            missing[number] += 1
    return followers, missing


def _deliver(message: Transfer, held: list[list[frozenset[int]]]) -> None:
    """Update what the target holds, or raise an error that says why the message is wrong."""
    source, target = message.source, message.target
    for chunk in message.chunks:
        sent, there = held[source][chunk], held[target][chunk]
        if not sent:
            raise ValueError(f"rank {source} sends chunk {chunk} to rank {target} before it has any of it")
        if message.kind == "reduce" and sent & there:
            twice = min(sent & there)
            raise ValueError(f"rank {target} adds rank {twice}'s numbers to chunk {chunk} twice, from rank {source}")
        if message.kind == "copy" and there - sent:
            lost = min(there - sent)
            raise ValueError(
                f"rank {source} sends chunk {chunk} to rank {target} before it has rank {lost}'s numbers, "
                f"and the copy would replace them"
            )
        held[target][chunk] = sent | there


def _stuck(messages: list[Transfer], queues: list[list[int]], missing: list[int]) -> str:
    """The error message for a deadlock: which rank waits in which transfer."""
    waits = []
    for rank, queue in enumerate(queues):
        message = next((messages[number] for number in queue if missing[number]), None)
        if message is not None and message.source == rank:
            waits.append(f"rank {rank} waits to send {message} to rank {message.target}")
        elif message is not None:
            waits.append(f"rank {rank} waits to receive {message} from rank {message.source}")
    more = f"; and {len(waits) - 4} more" if len(waits) > 4 else ""
    return f"deadlock: {'; '.join(waits[:4])}{more}"


def _check_transfer(transfer: Transfer, rank: int, ranks: int, chunks: int) -> None:
    """Check that ranks and chunks exist, that no chunk occurs twice, and that ``rank`` is one end of the transfer."""
    if _is_fine(transfer, rank, ranks, chunks):
        return
    source, target = transfer.source, transfer.target
    checks.count(0, ranks - 1, source=source, target=target)
    checks.require(source != target, "be two ranks", source=source, target=target)
    if rank not in (source, target):
        ends = f"from rank {source} to {target}"
        raise ValueError(f"the program of rank {rank} must hold its own transfers, got one {ends}")
    checks.one_of(KINDS, kind=transfer.kind)
    checks.count(0, chunks - 1, chunks=transfer.chunks)
    checks.require(len(set(transfer.chunks)) == len(transfer.chunks) > 0, "be different", chunks=transfer.chunks)


def _is_fine(transfer: Transfer, rank: int, ranks: int, chunks: int) -> bool:
    """Whether nothing is wrong with a transfer: there are thousands, and to say what is wrong takes much longer."""
    source, target, moved = transfer.source, transfer.target, transfer.chunks
    return (
        type(source) is type(target) is int
        and type(moved) is tuple
        and all(type(chunk) is int and 0 <= chunk < chunks for chunk in moved)
        and len(set(moved)) == len(moved) > 0
        and 0 <= source < ranks
        and 0 <= target < ranks
        and source != target
        and rank in (source, target)
        and transfer.kind in KINDS
    )
