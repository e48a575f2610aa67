"""The world of a submission: each rank is a child with its own channel, and the broker carries their messages.

The broker acts only when every rank is quiet, that is, waiting or finished. Then it carries out one operation, resumes
the ranks that waited for it, and listens again. The outcome of a case therefore never depends on timing, a deadlock is
detected at once, and data are read as late as a legal program allows. No rank can speak for another, and only the
broker's own events count.
"""

from __future__ import annotations

import time
from binascii import b2a_base64
from collections.abc import Callable, Sequence
from typing import Any, Literal

from autograder.items import Desk, Kill, Later, NoQuestion
from autograder.marking.outcome import Outcome
from autograder.marking.values import Malformed
from autograder.running import collectives
from autograder.running.matching import OpenOperations
from autograder.running.messages import Message
from autograder.running.operations import COLLECTIVES, Operation, blocks_of, check, read
from autograder.running.transport import Child, Transport, deadline_of
from rankzero.events import Event

#: Limits of one case: operations of one rank, and bytes sent by all ranks.
MAX_OPERATIONS = 10_000
MAX_TRAFFIC = 64 << 20


#: The end of a case whose processes the desk has killed.
KILLED = Outcome("died", detail="the grader killed it")

#: How a rank waits for an operation: until it is done, or only to ask whether it is.
Wait = Literal["wait", "poll"]
#: How a rank's function has ended; empty while it runs.
Ending = Literal["", "finished", "raised"]


class Ended(Exception):
    """The case is over, with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


#: The outcome of a child's final reply.
ReadReply = Callable[[Child, Message], Outcome]
#: The number of a line, as a child says it in its unit; None if there is no such line.
ReadLine = Callable[[Any, Any], int | None]


class Broker:
    """Carries out one case of a world item; ``children[r]`` has already been sent the request of rank ``r``.

    If there is a desk, drivers may ask it; a question of a rank is answered when all others are quiet, too.
    """

    def __init__(
        self,
        transport: Transport,
        children: Sequence[Child],
        seconds: float,
        read_reply: ReadReply,
        read_line: ReadLine,
        desk: Desk | None = None,
    ) -> None:
        self.transport, self.children, self.desk = transport, list(children), desk
        self.read_reply, self.read_line = read_reply, read_line
        self.deadline = deadline_of(children, seconds)
        self.began = time.monotonic()
        ranks = range(len(self.children))
        self.operations: list[list[Operation]] = [[] for _ in ranks]
        self.open = OpenOperations()  # those that have not been carried out yet
        self.waits: list[tuple[Wait, Operation] | None] = [None for _ in ranks]
        self.ended: list[Ending] = ["" for _ in ranks]
        self.replies: list[Message | None] = [None for _ in ranks]
        self.asking: dict[int, Any] = {}  # questions for the desk, by rank
        self.later: dict[int, Any] = {}  # answers that are given when nothing else can go on
        self.events: list[Event] = []
        self.traffic = 0

    def run(self) -> Outcome:
        """Carry messages until every rank has ended, and return the outcome of the case."""
        try:
            while True:
                self._listen()
                self._check_time()
                if self._answer() or self._release() or self._match():
                    continue
                if self._over():
                    break
                if not (self._answer_late() or self._answer_polls()):
                    raise Ended(self._stuck())
            self._check_leftovers()
            self._end("end")
        except Ended as ended:
            self._end("abort")
            return self._worst() or ended.outcome
        return self._outcome()

    def _over(self) -> bool:
        return all(ended or reply for ended, reply in zip(self.ended, self.replies, strict=True))

    def _running(self) -> list[int]:
        quiet = zip(self.waits, self.ended, self.replies, strict=True)
        return [rank for rank, why in enumerate(quiet) if not any(why) and rank not in self.asking | self.later]

    # Listening.

    def _listen(self) -> None:
        """Handle messages until all ranks are quiet."""
        while running := self._running():
            for child, message in self._said(running):
                self._hear(self.children.index(child), message)

    def _said(self, ranks: Sequence[int]) -> list[tuple[Child, Message | None]]:
        """Messages of some of these ranks; ends the case if none comes in time."""
        while not (got := self._exchange(ranks, self.deadline.until)):
            if not self.deadline.extend():
                raise Ended(self._late(ranks))
        return got

    def _exchange(self, ranks: Sequence[int], until: float) -> list[tuple[Child, Message | None]]:
        return self.transport.exchange([self.children[rank] for rank in ranks], until)

    def _check_time(self) -> None:
        """End the case if its time is up: carrying messages takes time too."""
        if self.deadline.passed and not self.deadline.extend():
            raise Ended(
                self._late([rank for rank, ended in enumerate(self.ended) if not ended] or range(len(self.ended)))
            )

    def _late(self, running: Sequence[int]) -> Outcome:
        for rank in running:
            self.children[rank].kill()
        who = f"rank {running[0]}" if len(running) == 1 else f"ranks {' and '.join(map(str, running))}"
        return Outcome("timeout", detail=f"{who} did not end within {self.deadline.seconds:.0f} s")

    def _hear(self, rank: int, message: Message | None) -> None:
        """Handle a message of a running rank; None means that its process died."""
        if message is None:
            raise Ended(Outcome("died", detail=f"rank {rank}: {self.children[rank].ended}"))
        try:
            kind = message.get("kind")
            if kind == "post":
                self._begin(rank, message)
            elif kind in ("wait", "poll"):
                operation = self._operation_of(rank, message.get("handle"))
                check(not operation.waited)  # a child that knows that it is done does not ask
                self.waits[rank] = (kind, operation)
            elif kind == "ask" and self.desk:
                self.asking[rank] = message.get("question")
            elif kind == "leave":
                self.ended[rank] = "raised" if message.get("raised") is True else "finished"
            elif kind != "running":
                self.replies[rank] = message
        except Malformed:
            self.children[rank].kill()
            raise Ended(Outcome("died", detail=f"rank {rank} broke the rules of its channel")) from None

    def _begin(self, rank: int, message: Message) -> None:
        line = self.read_line(message.get("unit"), message.get("line"))
        operation = read(message, rank, len(self.children), line, time.monotonic() - self.began)
        check(
            operation.handle == len(self.operations[rank]) < MAX_OPERATIONS
            and max(operation.members) < len(self.children)
        )
        self.operations[rank].append(operation)
        self.open.add(operation)

    def _operation_of(self, rank: int, handle: Any) -> Operation:
        check(type(handle) is int and 0 <= handle < len(self.operations[rank]))
        return self.operations[rank][handle]

    def _take(self, operation: Operation) -> list[bytes]:
        """Fetch the data of ``operation`` from its rank, which is quiet."""
        child = self.children[operation.rank]
        child.tell(do="take", handle=operation.handle)
        ((_, message),) = self._said([operation.rank])
        if message is None:
            raise Ended(Outcome("died", detail=f"rank {operation.rank}: {child.ended}"))
        try:
            check(message.get("kind") == "data")
            data = blocks_of(message, operation)
            self.traffic += sum(map(len, data))
            check(self.traffic <= MAX_TRAFFIC)
        except Malformed:
            child.kill()
            raise Ended(Outcome("died", detail=f"rank {operation.rank} broke the rules of its channel")) from None
        return data

    # Acting.

    def _answer(self) -> bool:
        """Have the question of one rank answered; False if there is none."""
        if not self.asking or not self.desk:
            return False
        first = self.desk.first
        rank = min(self.asking, key=lambda rank: (rank - first) % len(self.children))
        try:
            self.children[rank].tell(answer=self.desk(rank, self.asking.pop(rank)))
        except NoQuestion:
            self.children[rank].kill()
            raise Ended(Outcome("died", detail=f"rank {rank} broke the rules of its channel")) from None
        except Later as later:
            self.later[rank] = later.answer
        except Kill:
            for child in self.children:
                child.kill()
            raise Ended(KILLED) from None
        return True

    def _answer_late(self) -> bool:
        """Give the first answer that was put off; False if there is none."""
        if not self.later:
            return False
        rank = min(self.later)
        self.children[rank].tell(answer=self.later.pop(rank))
        return True

    def _release(self) -> bool:
        """Resume every rank whose operation is done; False if there is none."""
        ready = [(rank, wait[1]) for rank, wait in enumerate(self.waits) if wait and wait[1].done]
        for rank, operation in ready:
            blocks = [b2a_base64(block, newline=False).decode() for block in operation.blocks or []]
            source = operation.members.index(operation.source) if operation.source in operation.members else -1
            self.waits[rank], operation.waited, operation.blocks = None, True, None
            self.children[rank].tell(do="done", blocks=blocks, source=source)
        return bool(ready)

    def _match(self) -> bool:
        """Carry out one operation, or one collective; False if none can be."""
        together = self.open.next()
        if together and together[0].kind == "send":
            self._deliver(*together)
        elif together:
            self._carry_out(together)
        return bool(together)

    def _deliver(self, send: Operation, receive: Operation) -> None:
        if (send.gives, send.types) != (receive.takes, receive.types):
            given = f"gives {_sizes(send.gives)} to {collectives.described(send)}"
            taken = f"takes {_sizes(receive.takes)} in {collectives.described(receive)}"
            raise Ended(_broken(f"rank {send.rank} {given}, rank {receive.rank} {taken}"))
        receive.blocks, receive.source = self._take(send), send.rank
        for operation, peer in ((send, receive.rank), (receive, send.rank)):
            self._record(operation, (peer,), sum(operation.gives), sum(operation.takes))

    def _carry_out(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            if reason := collectives.difference(operations[0], operation):
                raise Ended(_broken(reason))
            if (len(operation.gives), len(operation.takes)) != collectives.counts(operation):
                raise Ended(_broken(f"rank {operation.rank} calls {operation} with a wrong number of tensors"))
        gave = [self._take(operation) for operation in operations]
        root = 0 if operations[0].root is None else operations[0].members.index(operations[0].root)
        for index, operation in enumerate(operations):
            operation.blocks = collectives.ROUTES[operation.kind](gave, index, root)
            if (sizes := tuple(map(len, operation.blocks))) != operation.takes:
                expected = f"rank {operation.rank} expects {_sizes(operation.takes)} from {operation}"
                raise Ended(_broken(f"{expected}, and {_sizes(sizes)} arrive"))
        for operation in operations:
            self._record(operation, operation.members, *collectives.payload(operation))

    def _record(self, operation: Operation, peers: tuple[int, ...], sent: int, received: int) -> None:
        operation.done = True
        where = f"line {operation.line}" if operation.line else ""
        end = time.monotonic() - self.began
        self.events.append(
            Event(operation.rank, operation.kind, peers, sent, received, operation.start, end, operation.root, where)
        )

    def _answer_polls(self) -> bool:
        """Tell the ranks that only poll that their operation is not done yet; False if there are none."""
        polls = [rank for rank, wait in enumerate(self.waits) if wait and wait[0] == "poll"]
        for rank in polls:
            self.waits[rank] = None
            self.children[rank].tell(do="not yet")
        return bool(polls)

    # Ending.

    def _stuck(self) -> Outcome:
        """The outcome when no rank can continue."""
        parts = []
        for rank, wait in enumerate(self.waits):
            done = {"raised": "raised", "finished": "has finished"}.get(self.ended[rank], "ended")
            parts.append(f"rank {rank} " + (f"waits in {wait[1]}" if wait else done))
        return Outcome("deadlock", detail="deadlock: " + "; ".join(parts), events=tuple(self.events))

    def _check_leftovers(self) -> None:
        """End the case if a message was never received, a collective never joined, or a handle never waited for.

        The library sometimes loses a message whose handle nobody waits for; the broker reports every such handle.
        """
        operations = [operation for of_rank in self.operations for operation in of_rank]
        for operation in (operation for operation in operations if not operation.done):
            if operation.kind == "send":
                raise Ended(_broken(f"the message of rank {operation.rank} in {operation} was never received"))
            if operation.kind in COLLECTIVES:
                raise Ended(_broken(f"rank {operation.rank} calls {operation}, and not every rank of its group does"))
        for operation in operations:
            if not operation.waited and "raised" not in self.ended:
                detail = f"rank {operation.rank} never waited for {operation}"
                raise Ended(Outcome("deadlock", detail=detail, events=tuple(self.events)))

    def _end(self, how: Literal["end", "abort"]) -> None:
        """Make every rank send its final reply, and kill those that do not within a second."""
        deadline = deadline_of(self.children, 1.0)
        for rank, child in enumerate(self.children):
            if child.alive and self.replies[rank] is None and (self.ended[rank] or self.waits[rank]):
                child.tell(do="end" if self.ended[rank] else how)
        while open_ranks := [r for r, child in enumerate(self.children) if child.alive and self.replies[r] is None]:
            got = self._exchange(open_ranks, deadline.until)
            if not got and not deadline.extend():
                for rank in open_ranks:
                    self.children[rank].kill()
            for child, message in got:
                self._last_words(self.children.index(child), message)

    def _last_words(self, rank: int, message: Message | None) -> None:
        kind = message.get("kind") if message else None
        if kind in ("wait", "poll"):
            self.children[rank].tell(do="abort")
        elif kind == "leave":
            self.ended[rank] = "raised" if message and message.get("raised") is True else "finished"
            self.children[rank].tell(do="end")
        elif kind not in ("post", "data", "running", None):
            self.replies[rank] = message

    def _outcomes(self) -> list[Outcome]:
        pairs = enumerate(zip(self.children, self.replies, strict=True))
        return [self.read_reply(child, reply) if reply else _gone(rank, child) for rank, (child, reply) in pairs]

    def _worst(self) -> Outcome | None:
        """The outcome of ranks that raised by themselves, which explains why others got stuck; None if none did."""
        raised = {
            r: o
            for r, o in enumerate(self._outcomes())
            if self.ended[r] == "raised" and o.kind in ("raised", "refused")
        }
        own = {rank: outcome for rank, outcome in raised.items() if not self._was_aborted(rank)}
        return self._of_some(own) if own else None

    def _was_aborted(self, rank: int) -> bool:
        """Whether the rank says that the broker ended its function."""
        reply = self.replies[rank]
        return reply is not None and reply.get("error") == "Abort"

    def _outcome(self) -> Outcome:
        """The outcome when every rank has ended by itself."""
        outcomes = self._outcomes()
        failed = {rank: outcome for rank, outcome in enumerate(outcomes) if outcome.kind != "value"}
        if failed:
            return self._of_some(failed)
        given = tuple(outcome.arguments for outcome in outcomes)
        return Outcome(
            "value",
            tuple(outcome.value for outcome in outcomes),
            arguments=given if any(given) else None,
            events=tuple(self.events),
        )

    def _of_some(self, failed: dict[int, Outcome]) -> Outcome:
        """The outcome when some ranks failed: the first failure, with the ranks that share it unless all do."""
        first = next(iter(failed.values()))
        alike = [rank for rank, outcome in failed.items() if (outcome.kind, outcome.error) == (first.kind, first.error)]
        if first.kind != "raised" or len(alike) == len(self.children):
            return first
        who = f"rank {alike[0]}" if len(alike) == 1 else f"ranks {' and '.join(map(str, alike))}"
        return Outcome(
            "raised", error=f"{first.error} on {who} only", line=first.line, detail=first.detail, where=first.where
        )


def _gone(rank: int, child: Child) -> Outcome:
    """The outcome of a rank without a final reply."""
    return Outcome("died", detail=f"rank {rank}: {child.ended}" if child.ended else "a rank did not answer")


def _broken(sentence: str) -> Outcome:
    """The outcome when the ranks' calls do not fit together."""
    return Outcome("deadlock", detail=sentence)


def _sizes(sizes: Sequence[int]) -> str:
    return f"{' + '.join(map(str, sizes)) or '0'} bytes"
