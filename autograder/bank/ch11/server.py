"""The milestone of Part III: the engine of an inference server, graded level by level.

Every level draws a load, has the engine serve it on a device in the grader's process, and compares each client's text
with a plain twin that has no cache. Time, tokens and blocks are the device's. The figures of the reference come from a
run of the same load. A mistake costs the level that is about it: only one level is short of blocks, only one has a
small budget, only one has stop strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from autograder.bank.ch11.server_desk import Client, Desk, Load
from autograder.bank.ch11.server_draws import Author, played, reference, small
from autograder.items import Build, Cost, Level, LevelCosts, Play, Slip, System, Verdict

#: How far above the reference's a figure may be.
TIME, COMPUTED, AGAIN = 1.1, 1.05, 1.2
#: How much longer than with the reference a request may wait for its first text, and how long a stream for its next.
LATER, GAP = 4.0, 2.2
#: Sizes of a device, unless a level is about them.
SIZES = {"blocks": 256, "block_size": 4, "budget": 128, "slots": 4}


def _load(author: Author, clients: Sequence[Client], prompt: bool = False, **sizes: int) -> Load:
    return Load(author.seed, {**SIZES, **sizes}, clients, prompt)


def _author(rng: Random) -> Author:
    return Author(rng, rng.randrange(2**31))


def _verdict(desk: Desk, best: Desk, wrong: str = "") -> Verdict:
    """The verdict on a run beside the reference's."""
    if wrong := desk.wrong or wrong:
        return Verdict(wrong)
    time, computed = Cost(desk.clock, best.clock), Cost(desk.computed, best.computed)
    return Verdict(costs=LevelCosts(time=time, computed=computed, waited=Cost(desk.waited, best.waited)))


def _alone(rng: Random, play: Play) -> Verdict:
    """One at a time: text in the pass that makes it, and no token computed twice."""
    author = _author(rng)
    sizes = [rng.randint(1, 3), rng.randint(6, 12), rng.randint(13, 20)]
    rng.shuffle(sizes)
    clients = [
        author.client("r0", sizes[0], 7, temperature=0.0),
        author.client("r1", sizes[1], 1),
        author.client("r2", sizes[2], 12, ends=rng.randint(4, 9)),
    ]
    load = _load(author, clients, prompt=True, slots=1)
    desk, best = played(load, play), reference(load)
    return _verdict(desk, best, _again(desk, best))


def _again(desk: Desk, best: Desk) -> str:
    """Whose tokens were computed more than once; empty if nobody's."""
    for name, one in desk.served.items():
        if one.computed > best.served[name].computed:
            return (
                f"{one.computed} tokens were computed for {name}; {best.served[name].computed} are enough: keys and "
                "values stay in their blocks, and a pass computes what is new."
            )
    return ""


def _batch(rng: Random, play: Play) -> Verdict:
    """Many at once: requests join as soon as a slot is free, in the order of their arrival."""
    author = _author(rng)
    tokens = [rng.choice((2, 3, 4)) for _ in range(10)] + [rng.randint(22, 25) for _ in range(4)]
    rng.shuffle(tokens)
    clients = [author.client(f"r{n}", rng.randint(2, 6), count, at=n / 2) for n, count in enumerate(tokens)]
    load = _load(author, clients)
    desk, best = played(load, play), reference(load)
    if desk.wrong:
        return Verdict(desk.wrong)
    for name in desk.served:
        waited, enough = desk.first_text(name), best.first_text(name)
        if waited > enough + LATER:
            return Verdict(f"{name} waited {waited:.0f} for its first token; {enough:.0f} is enough.")
    slow = desk.clock > TIME * best.clock
    return _verdict(desk, best, f"All took {desk.clock:.0f}; {best.clock:.0f} is enough." if slow else "")


def _blocks(rng: Random, play: Play) -> Verdict:
    """Answers that end early: room is taken when it is needed, not for the tokens that might come."""
    author = _author(rng)
    clients = [author.client(f"r{n}", rng.randint(3, 5), 90, ends=rng.randint(5, 7)) for n in range(8)]
    load = _load(author, clients, blocks=28, slots=8)
    desk, best = played(load, play), reference(load)
    most = max((len(one) for one in desk.passes), default=0)
    few = f"No pass had more than {most} of the requests; the tokens that they have leave room for {len(clients)}."
    return _verdict(desk, best, few if most < len(clients) - 1 else "")


def _prefixes(rng: Random, play: Play) -> Verdict:
    """The same beginning is computed once for each salt, as long as its blocks are there."""
    author = _author(rng)
    head = author.words(24)
    clients = [
        author.client(f"r{n}", [*head, *author.words(5)], 6, at=10.0 * n, salt="b" if n == 3 else "a") for n in range(5)
    ]
    first = author.client("r0", [*head, *author.words(5)], 7, salt="a")
    clients[0] = first
    clients += [
        author.client("turn", [*first.tokens, *author.words(4)], 4, at=50.0, salt="a"),
        author.client("other", [*head[:4], *head[8:24], *author.words(3)], 4, at=60.0, salt="a"),
        author.client("again", head, 4, at=70.0, salt="a"),
        author.client("long", 50, 8, at=80.0, salt="a"),
        author.client("then", [*head, *author.words(3)], 12, at=80.0, salt="a"),
        author.client("p", [*head, *author.words(2)], 3, at=120.0, salt="a"),
        author.client("q", [*head, *author.words(3)], 24, at=120.0, salt="a"),
        *(author.client(f"z{n}", 40, 12, at=124.0 + n, salt="a") for n in range(3)),
    ]
    load = _load(author, clients, blocks=48, slots=3)
    desk, best = played(load, play), reference(load)
    return _verdict(desk, best, _recomputed(desk, best))


def _recomputed(desk: Desk, best: Desk) -> str:
    """Which request computed a beginning that was in the pool; empty if none did."""
    if desk.computed <= COMPUTED * best.computed:
        return ""
    more = max(desk.served, key=lambda name: desk.served[name].computed - best.served[name].computed)
    return (
        f"{desk.computed} tokens were computed; {best.computed} are enough. For {more} alone it was "
        f"{desk.served[more].computed} instead of {best.served[more].computed}: the rest was in blocks of the pool."
    )


def _long(rng: Random, play: Play) -> Verdict:
    """A long prompt arrives while others read along: it is computed in pieces."""
    author = _author(rng)
    clients = [author.client(f"s{n}", 4, 40) for n in range(3)] + [author.client("long", 160, 4, at=8.0)]
    load = _load(author, clients, budget=16)
    desk, best = played(load, play), reference(load)
    return _verdict(desk, best, "" if desk.wrong else _stalled(desk, best))


def _stalled(desk: Desk, best: Desk) -> str:
    """Who waits for whom; empty if nobody waits too long."""
    gaps = [b - a for name in ("s0", "s1", "s2") for a, b in zip(*_shifted(desk.served[name].times), strict=False)]
    if max(gaps) > GAP:
        return f"A stream waited {max(gaps):.1f} for its next token; a full pass takes {1 + 292 / 512:.1f}."
    took, enough = _passes(desk), _passes(best)
    if took > enough + 1:
        return f"The long prompt took {took} passes; with what the streams leave of the budget, {enough} are enough."
    return ""


def _shifted(times: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    return times, times[1:]


def _passes(desk: Desk) -> int:
    """Passes in which the long prompt was computed."""
    return sum(name == "long" and start < 160 for one in desk.passes for name, start, _ in one)


def _crowded(rng: Random, play: Play) -> Verdict:
    """Too few blocks: a request loses its own, and goes on later as if nothing had happened."""
    author = _author(rng)
    clients = [author.client(f"r{n}", 6, 22, at=3.0 * n) for n in range(4)]
    load = _load(author, clients, blocks=14)
    apart = replace(load, clients=[_salted(client, client.name) for client in clients])
    desk, best = played(load, play), reference(load)
    if desk.wrong:
        return Verdict(desk.wrong)
    if desk.served["r0"].taken:
        return Verdict("r0 came first, and its blocks were taken away: take those of the request that came last.")
    enough = reference(apart).computed
    far = desk.computed > AGAIN * enough
    return _verdict(desk, best, f"{desk.computed} tokens were computed; {enough} are enough." if far else "")


def _salted(client: Client, salt: str) -> Client:
    return replace(client, asked={**client.asked, "salt": salt})


def _stops(rng: Random, play: Play) -> Verdict:
    """Stop strings that begin and end inside of tokens, and characters of several tokens."""
    author = _author(rng)

    clients = [
        author.client(f"r{n}", 5, 18, temperature=1.5, halves=True, stop=size, at=n / 2)
        for n, size in enumerate((1, 1, 2, 3, 3))
    ]
    clients.append(author.client("free", 5, 12, temperature=1.5, halves=True))
    load = _load(author, clients)
    return _verdict(played(load, play), reference(load))


def _leaving(rng: Random, play: Play) -> Verdict:
    """Clients leave at any time; one answer has to fit a form within few tokens."""
    author = _author(rng)
    schema = {
        "type": "object",
        "properties": {
            rng.choice(("name", "who", "in")): {"type": "string", "maxLength": 12},
            rng.choice(("n", "age", "at")): {"type": "integer"},
        },
    }
    clients = [
        author.client("c0", 9, 20, leaves=("characters", rng.randint(2, 5))),
        author.client("c1", 14, 20, leaves=("computed", 14)),
        author.client("c2", 9, 20, leaves=("time", 0)),
        author.client("c3", 9, 20, at=1.0, leaves=("time", 2)),
        author.client("form", 5, small.shortest(schema) + 1 + rng.randint(3, 5), form=small.form(schema), at=12.0),
        author.client("c4", 9, 20, at=13.0, leaves=("characters", rng.randint(3, 6))),
        author.client("beside", 7, 6, at=13.0),
        author.client("last", 28, 16, at=60.0),
    ]
    load = _load(author, clients, blocks=11, slots=2)
    return _verdict(played(load, play), reference(load))


SERVER = System(
    item=Build(
        "11 engine.EngineCore",
        named="server",
        grade="world",
        section="11.11",
        topic="a server, built whole",
        cases=(),
        groups=(),
        slips=(
            Slip(
                "New requests wait until all that run have ended.",
                edit=(
                    "while self.waiting and budget",
                    "while self.waiting and not any(one.drawn for one in self.running) and budget",
                ),
            ),
            Slip(
                "The newest request goes first.",
                edit=("self.waiting.append(_Answer(request))", "self.waiting.appendleft(_Answer(request))"),
            ),
            Slip(
                "Blocks are reserved for all tokens that an answer may have.",
                edit=(
                    "self._lacks(answer, len(answer.tokens), len(shared)) + idle > len(self.pool.free)",
                    "sum(max(len(one.table), -(-(len(one.request.prompt) + one.request.max_tokens) // "
                    "self.job.block_size)) for one in (*self.running, answer)) > self.job.blocks and self.running",
                ),
            ),
            Slip(
                "A block is free as soon as one of those who share it has ended.",
                edit=(
                    "        if not self.holders[block]:\n            (self.free",
                    "        if block not in self.free:\n            (self.free",
                ),
            ),
            Slip(
                "The name of a block leaves the salt out.",
                edit=("answer.names else answer.request.salt", 'answer.names else ""'),
            ),
            Slip(
                "The name of a block leaves out what comes before it.",
                edit=(
                    "before = answer.names[-1] if answer.names else answer.request.salt",
                    "before = answer.request.salt",
                ),
            ),
            Slip(
                "Nothing is found again.",
                edit=("return [self.pool.found[name] for name in names]", "return []"),
            ),
            Slip(
                "A prompt may come from the pool as a whole.",
                edit=("self._chain(answer, len(answer.tokens) - 1)", "self._chain(answer, len(answer.tokens))"),
            ),
            Slip(
                "A block has a name before all of its tokens are computed.",
                edit=(
                    "        for block in reversed(answer.table):\n            self.pool.give",
                    "        names = self._chain(answer, len(answer.tokens))\n"
                    "        for block, name in zip(answer.table, names, strict=False):\n"
                    "            self.pool.name(block, name)\n"
                    "        for block in reversed(answer.table):\n            self.pool.give",
                ),
            ),
            Slip(
                "Prompts go first.",
                edit=(
                    "for answer in list(self.running):",
                    "for answer in sorted(self.running, key=lambda one: one.drawn > 0):",
                ),
            ),
            Slip(
                "A prompt is computed in one pass.",
                edit=(
                    "            tokens = min(answer.missing, budget)\n            self._grow",
                    "            tokens = answer.missing\n            self._grow",
                ),
            ),
            Slip(
                "A request that has lost its blocks still counts as computed.",
                edits=(
                    ("answer.table, answer.computed = [], 0", "answer.table = []"),
                    (
                        "answer.computed = shared, len(shared) * self.job.block_size",
                        "answer.computed = shared, max(answer.computed, len(shared) * self.job.block_size)",
                    ),
                ),
            ),
            Slip(
                "A request that has lost its blocks draws its tokens anew.",
                edit=(
                    "        self.waiting.appendleft(answer)",
                    "        answer.drawn = 0\n        self.waiting.appendleft(answer)",
                ),
            ),
            Slip(
                "The oldest request loses its blocks.",
                edits=(
                    ("answer = self.running.pop()", "answer = self.running.pop(0)"),
                    ("        return plan\n", "        return [(one, n) for one, n in plan if one in self.running]\n"),
                ),
            ),
            Slip(
                "The last piece of text is dropped with the stop string.",
                edit=("cut = min(ends) if ends", "cut = 0 if ends"),
            ),
            Slip(
                "The beginning of a stop string is sent.",
                edit=("keep = 0 if final else", "keep = 0 if final or True else"),
            ),
            Slip(
                "Every token is decoded by itself.",
                edit=("self.decoder.decode(data, final)", 'data.decode(errors="replace")'),
            ),
            Slip(
                "The blocks of a client that has left stay taken.",
                edit=(
                    "                self._release(answer)\n                queue.remove",
                    "                queue.remove",
                ),
            ),
            Slip(
                "Only running requests are cancelled.",
                edit=("for queue in (self.waiting, self.running):", "for queue in (self.running,):"),
            ),
            Slip(
                "The form does not know how many tokens are left.",
                edit=("constraint.allowed(request.max_tokens - 1 - answer.drawn)", "constraint.allowed(None)"),
            ),
        ),
        probe="engine.served",
    ),
    levels=(
        Level("one at a time", _alone),
        Level("many at once", _batch),
        Level("blocks when needed", _blocks),
        Level("the same beginning", _prefixes),
        Level("a long prompt", _long),
        Level("out of blocks", _crowded),
        Level("stop strings", _stops),
        Level("leaving; a form", _leaving),
    ),
    lines=220,
    seconds=30.0,
    measured="time and longest wait on the device's clock; each figure beside the reference's",
    columns={"time": "time / reference's", "computed": "computed / ref.'s", "waited": "wait / ref."},
)
