"""The world of a submission: every rank is a child with a channel of its own, and the broker carries their messages.

The broker acts only when every rank is quiet: it waits, or its function has ended. Then it carries out one operation,
lets those go on that waited for it, and listens again. So the end of a case never depends on timing, a deadlock is seen
at once, and data are read as late as a legal program allows. No rank can speak for another, and only the broker's
events count.
"""

from __future__ import annotations

import time
from binascii import b2a_base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograder import routes
from autograder.items import Build
from autograder.matching import OpenPosts
from autograder.messages import Message
from autograder.outcome import Outcome
from autograder.patience import Patience
from autograder.posts import COLLECTIVES, Post, blocks_of, check, read
from autograder.process import Process, exchange
from autograder.values import Malformed
from rankzero.events import Event

if TYPE_CHECKING:
    from autograder.runner import Runner

#: Bounds of one case: operations of one rank, and bytes that travel.
MAX_POSTS = 10_000
MAX_TRAFFIC = 64 << 20


class Ended(Exception):
    """The case is over, with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class World:
    """One case of a world item: ``children[r]`` has been asked to be rank ``r``."""

    def __init__(self, runner: Runner, item: Build, children: Sequence[Process], seconds: float) -> None:
        self.runner, self.item, self.children = runner, item, list(children)
        self.patience = Patience([child.pid for child in children], seconds)
        self.began = time.monotonic()
        ranks = range(len(self.children))
        self.posts: list[list[Post]] = [[] for _ in ranks]
        self.open = OpenPosts()  # those of them that are not carried out yet
        self.waits: list[tuple[str, Post] | None] = [None for _ in ranks]
        self.left: list[str] = ["" for _ in ranks]  # "finished" or "raised" once the function has ended
        self.replies: list[Message | None] = [None for _ in ranks]
        self.events: list[Event] = []
        self.traffic = 0

    def run(self) -> Outcome:
        """Carry the messages until every rank has ended, and say how the case ended."""
        try:
            while True:
                self._listen()
                self._check_time()
                if self._release() or self._match():
                    continue
                if self._over():
                    break
                if not self._answer_polls():
                    raise Ended(self._stuck())
            self._check_leftovers()
            self._end("end")
        except Ended as ended:
            self._end("abort")
            return self._worst() or ended.outcome
        return self._outcome()

    def _over(self) -> bool:
        return all(left or reply for left, reply in zip(self.left, self.replies, strict=True))

    def _running(self) -> list[int]:
        return [rank for rank, wait in enumerate(self.waits) if not (wait or self.left[rank] or self.replies[rank])]

    # Listening.

    def _listen(self) -> None:
        """Hear the ranks until all are quiet."""
        while running := self._running():
            for child, message in self._said(running):
                self._hear(self.children.index(child), message)

    def _said(self, ranks: Sequence[int]) -> list[tuple[Process, Message | None]]:
        """What some of these ranks say, in time."""
        while not (got := exchange([self.children[rank] for rank in ranks], self.patience.deadline)):
            if not self.patience.lasts():
                raise Ended(self._late(ranks))
        return got

    def _check_time(self) -> None:
        """Carrying messages takes time, too."""
        if self.patience.passed and not self.patience.lasts():
            raise Ended(self._late([rank for rank, left in enumerate(self.left) if not left] or range(len(self.left))))

    def _late(self, running: Sequence[int]) -> Outcome:
        for rank in running:
            self.children[rank].kill()
        who = f"rank {running[0]}" if len(running) == 1 else f"ranks {' and '.join(map(str, running))}"
        return Outcome("timeout", detail=f"{who} did not end within {self.patience.seconds:.0f} s")

    def _hear(self, rank: int, message: Message | None) -> None:
        """One message of a rank that was running."""
        if message is None:
            raise Ended(Outcome("died", detail=f"rank {rank}: {self.children[rank].ended}"))
        try:
            kind = message.get("kind")
            if kind == "post":
                self._post(rank, message)
            elif kind in ("wait", "poll"):
                self.waits[rank] = (kind, self._posted(rank, message.get("handle")))
            elif kind == "leave":
                self.left[rank] = "raised" if message.get("raised") is True else "finished"
            elif kind != "running":
                self.replies[rank] = message
        except Malformed:
            self.children[rank].kill()
            raise Ended(Outcome("died", detail=f"rank {rank} broke the rules of its channel")) from None

    def _post(self, rank: int, message: Message) -> None:
        line = self.runner.reader.line(message.get("unit"), message.get("line"))
        post = read(message, rank, len(self.children), line, time.monotonic() - self.began)
        check(post.handle == len(self.posts[rank]) < MAX_POSTS and max(post.members) < len(self.children))
        self.posts[rank].append(post)
        self.open.add(post)

    def _posted(self, rank: int, handle: Any) -> Post:
        check(type(handle) is int and 0 <= handle < len(self.posts[rank]))
        return self.posts[rank][handle]

    def _take(self, post: Post) -> list[bytes]:
        """The data of ``post``, from the rank that posted it, which is quiet."""
        child = self.children[post.rank]
        child.tell(do="take", handle=post.handle)
        ((_, message),) = self._said([post.rank])
        if message is None:
            raise Ended(Outcome("died", detail=f"rank {post.rank}: {child.ended}"))
        try:
            check(message.get("kind") == "data")
            data = blocks_of(message, post)
            self.traffic += sum(map(len, data))
            check(self.traffic <= MAX_TRAFFIC)
        except Malformed:
            child.kill()
            raise Ended(Outcome("died", detail=f"rank {post.rank} broke the rules of its channel")) from None
        return data

    # Acting.

    def _release(self) -> bool:
        """Let every rank go on whose operation is done; False when there is none."""
        ready = [(rank, wait[1]) for rank, wait in enumerate(self.waits) if wait and wait[1].done]
        for rank, post in ready:
            blocks = [b2a_base64(block, newline=False).decode() for block in post.blocks or []]
            source = post.members.index(post.source) if post.source in post.members else -1
            self.waits[rank], post.heard = None, True
            self.children[rank].tell(do="done", blocks=blocks, source=source)
        return bool(ready)

    def _match(self) -> bool:
        """Carry out the first operation that can be; False when there is none."""
        together = self.open.next()
        if together and together[0].operation == "send":
            self._deliver(*together)
        elif together:
            self._carry_out(together)
        return bool(together)

    def _deliver(self, send: Post, receive: Post) -> None:
        if (send.gives, send.types) != (receive.takes, receive.types):
            given = f"gives {_sizes(send.gives)} to {routes.described(send)}"
            taken = f"takes {_sizes(receive.takes)} in {routes.described(receive)}"
            raise Ended(_broken(f"rank {send.rank} {given}, rank {receive.rank} {taken}"))
        receive.blocks, receive.source = self._take(send), send.rank
        for post, peer in ((send, receive.rank), (receive, send.rank)):
            self._record(post, (peer,), sum(post.gives), sum(post.takes))

    def _carry_out(self, posts: Sequence[Post]) -> None:
        for post in posts:
            if reason := routes.difference(posts[0], post):
                raise Ended(_broken(reason))
            if (len(post.gives), len(post.takes)) != routes.counts(post):
                raise Ended(_broken(f"rank {post.rank} calls {post} with a wrong number of tensors"))
        gave = [self._take(post) for post in posts]
        root = 0 if posts[0].root is None else posts[0].members.index(posts[0].root)
        for place, post in enumerate(posts):
            post.blocks = routes.ROUTES[post.operation](gave, place, root)
            if (sizes := tuple(map(len, post.blocks))) != post.takes:
                expected = f"rank {post.rank} expects {_sizes(post.takes)} from {post}"
                raise Ended(_broken(f"{expected}, and {_sizes(sizes)} arrive"))
        for post in posts:
            self._record(post, post.members, *routes.payload(post))

    def _record(self, post: Post, peers: tuple[int, ...], sent: int, received: int) -> None:
        post.done = True
        where = f"line {post.line}" if post.line else ""
        end = time.monotonic() - self.began
        self.events.append(Event(post.rank, post.operation, peers, sent, received, post.start, end, post.root, where))

    def _answer_polls(self) -> bool:
        """Nothing can be carried out: tell those who only asked that they must go on asking."""
        polls = [rank for rank, wait in enumerate(self.waits) if wait and wait[0] == "poll"]
        for rank in polls:
            self.waits[rank] = None
            self.children[rank].tell(do="not yet")
        return bool(polls)

    # Ending.

    def _stuck(self) -> Outcome:
        """Nobody can go on."""
        parts = []
        for rank, wait in enumerate(self.waits):
            done = {"raised": "raised", "finished": "has finished"}.get(self.left[rank], "ended")
            parts.append(f"rank {rank} " + (f"waits in {wait[1]}" if wait else done))
        return Outcome("deadlock", detail="deadlock: " + "; ".join(parts), events=tuple(self.events))

    def _check_leftovers(self) -> None:
        """No function ends before its operations: no message untaken, no collective unjoined, no handle unwaited.

        The library may lose a message for whose handle nobody waits; it does not always, so the broker always says so.
        """
        posts = [post for posts in self.posts for post in posts]
        for post in (post for post in posts if not post.done):
            if post.operation == "send":
                raise Ended(_broken(f"the message of rank {post.rank} in {post} was never received"))
            if post.operation in COLLECTIVES:
                raise Ended(_broken(f"rank {post.rank} calls {post}, and not every rank of its group does"))
        for post in posts:
            if not post.heard and "raised" not in self.left:
                detail = f"rank {post.rank} never waited for {post}"
                raise Ended(Outcome("deadlock", detail=detail, events=tuple(self.events)))

    def _end(self, how: str) -> None:
        """Make every rank give its reply; one that does not within a second is killed."""
        patience = Patience([child.pid for child in self.children], 1.0)
        for rank, child in enumerate(self.children):
            if child.alive and self.replies[rank] is None and (self.left[rank] or self.waits[rank]):
                child.tell(do="end" if self.left[rank] else how)
        while open_ranks := [r for r, child in enumerate(self.children) if child.alive and self.replies[r] is None]:
            got = exchange([self.children[rank] for rank in open_ranks], patience.deadline)
            if not got and not patience.lasts():
                for rank in open_ranks:
                    self.children[rank].kill()
            for child, message in got:
                self._last_words(self.children.index(child), message)

    def _last_words(self, rank: int, message: Message | None) -> None:
        kind = message.get("kind") if message else None
        if kind in ("wait", "poll"):
            self.children[rank].tell(do="abort")
        elif kind == "leave":
            self.left[rank] = "raised" if message and message.get("raised") is True else "finished"
            self.children[rank].tell(do="end")
        elif kind not in ("post", "data", "running", None):
            self.replies[rank] = message

    def _outcomes(self) -> list[Outcome]:
        gone = Outcome("died", detail="a rank did not answer")
        return [
            self.runner.outcome(self.item, child, reply) if reply else gone
            for child, reply in zip(self.children, self.replies, strict=True)
        ]

    def _worst(self) -> Outcome | None:
        """Why others waited in vain: the exception of a rank of its own, if there is one."""
        raised = {
            r: o for r, o in enumerate(self._outcomes()) if self.left[r] == "raised" and o.kind in ("raised", "refused")
        }
        own = {rank: outcome for rank, outcome in raised.items() if self.replies[rank].get("error") != "Abort"}  # type: ignore[union-attr]
        return self._of_some(own) if own else None

    def _outcome(self) -> Outcome:
        """All ranks have ended by themselves."""
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
        """The outcome when some ranks failed: the first failure, and who shared it when not all did."""
        first = next(iter(failed.values()))
        alike = [rank for rank, outcome in failed.items() if (outcome.kind, outcome.error) == (first.kind, first.error)]
        if first.kind != "raised" or len(alike) == len(self.children):
            return first
        who = f"rank {alike[0]}" if len(alike) == 1 else f"ranks {' and '.join(map(str, alike))}"
        return Outcome(
            "raised", error=f"{first.error} on {who} only", line=first.line, detail=first.detail, where=first.where
        )


def _broken(sentence: str) -> Outcome:
    """The ranks broke the contract of their group."""
    return Outcome("deadlock", detail=sentence)


def _sizes(sizes: Sequence[int]) -> str:
    return f"{' + '.join(map(str, sizes)) or '0'} bytes"
