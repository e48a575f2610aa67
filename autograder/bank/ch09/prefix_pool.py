"""Chapter 9: ``PrefixPool``, prefix cache."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Slip, lazily

reference = lazily("solutions.ch09.block_pool")

Call = tuple[str, tuple[Any, ...]]
_QUEUE: Call = ("free_queue", ())


def _words(rng: Random, count: int) -> list[int]:
    return [rng.randint(1, 9) for _ in range(count)]


def _other(rng: Random, token: int) -> int:
    """Another token."""
    return rng.choice([one for one in range(1, 10) if one != token])


def _known(sequence: str, tokens: list[int], computed: int | None = None, salt: str = "") -> tuple[Call, Call]:
    """A sequence that is given its blocks and whose first tokens are computed."""
    return ("allocate", (sequence, len(tokens))), ("keep", (sequence, tokens[:computed], salt))


def _prefixes(rng: Random) -> Case:
    """Prompts that go with a known text for some blocks, up to a border, before it or behind it."""
    size, whole = rng.randint(2, 5), rng.randint(3, 5)
    text = _words(rng, whole * size + rng.randint(1, size - 1))
    calls: list[Call] = list(_known("a", text))
    for blocks in rng.sample(range(whole + 1), 3):
        place = blocks * size + rng.randint(0, size - 1)
        prompt = [*text[:place], *([_other(rng, text[place])] if place < len(text) else []), *_words(rng, 2 * size)]
        calls.append(("match", (prompt,)))
    return Case((12, size), calls=(*calls, ("match", ([*text, 1],)), _QUEUE))


def _two_texts(rng: Random) -> Case:
    """Two texts that part after some blocks."""
    size, shared = rng.randint(2, 4), rng.randint(1, 2)
    head = _words(rng, shared * size)
    first, second = [*head, 1, *_words(rng, 2 * size)], [*head, 2, *_words(rng, 2 * size)]
    return Case(
        (14, size),
        calls=(
            *_known("a", first),
            ("match", (second,)),
            *_known("b", second),
            ("match", ([*first, 5],)),
            ("match", ([*second, 5],)),
            ("match", ([*head, 3, *second],)),
        ),
    )


def _other_beginning(rng: Random) -> Case:
    """The same paragraph behind another word."""
    size = rng.randint(2, 5)
    text = _words(rng, 3 * size + 1)
    moved = [_other(rng, text[0]), *text[1:]]
    return Case(
        (16, size),
        calls=(
            *_known("a", text),
            ("match", (moved,)),
            ("match", ([*_words(rng, size - 1), 0, *text],)),
            *_known("b", moved),
            ("match", (moved,)),
            ("match", (text,)),
        ),
    )


def _salts(rng: Random) -> Case:
    size = rng.randint(2, 5)
    text = _words(rng, 2 * size + 1)
    one, two = rng.sample(("north", "south", "east", "west"), 2)
    return Case(
        (16, size),
        calls=(
            *_known("a", text, salt=one),
            ("match", (text, one)),
            ("match", (text, two)),
            ("match", (text,)),
            *_known("b", text, salt=two),
            ("match", (text, two)),
            ("match", (text, one)),
        ),
    )


def _whole_prompt(rng: Random) -> Case:
    """A prompt that is known as a whole, at the border of a block and around it."""
    size, whole = rng.randint(2, 5), rng.randint(2, 3)
    text = _words(rng, (whole + 1) * size)
    prompts = [text[: whole * size + more] for more in (-1, 0, 1)]
    return Case((12, size), calls=(*_known("a", text), *(("match", (prompt,)) for prompt in prompts)))


def _half_computed(rng: Random) -> Case:
    """A sequence whose prompt is computed in two parts."""
    size = rng.randint(3, 5)
    text = _words(rng, 4 * size)
    half = size * rng.randint(1, 2) + rng.randint(1, size - 1)
    return Case(
        (12, size),
        calls=(
            *_known("a", text, half),
            ("match", ([*text, 1],)),
            ("keep", ("a", text)),
            ("match", ([*text, 1],)),
        ),
    )


def _twice(rng: Random) -> Case:
    """Two sequences that computed the same: the first stays the one that is found."""
    size = rng.randint(2, 5)
    text, more = _words(rng, 2 * size), _words(rng, size)
    return Case(
        (12, size),
        calls=(*_known("a", text), *_known("b", [*text, *more]), ("match", ([*text, *more, 1],)), ("match", (text,))),
    )


def _served(rng: Random, blocks: int, size: int) -> Case:
    """Requests that come and go, with texts that often begin alike; what is there is asked for after each."""
    pool, calls = reference.PrefixPool(blocks, size), list[Call]()
    heads = [_words(rng, rng.randint(size, 3 * size)) for _ in range(2)]
    texts: dict[str, list[int]] = {}

    def make(name: str, *arguments: Any) -> Any:
        calls.append((name, arguments))
        return getattr(pool, name)(*arguments)

    for number in range(rng.randint(6, 9)):
        name = f"r{number}"
        if len(texts) > 2 or (texts and rng.random() < 0.4):
            gone = rng.choice(sorted(texts))
            del texts[gone]
            make("free", gone)
            make("free_queue")
        text = [*rng.choice(heads), *_words(rng, rng.randint(1, size))]
        found = make("share", name, text)
        if -(-len(text) // size) - found // size > len(pool.queue):
            make("free", name)
            continue
        make("append", name, len(text) - found)
        make("keep", name, text)
        texts[name] = text
    for name in sorted(texts):
        make("free", name)
        make("free_queue")
    return Case((blocks, size), calls=tuple(calls))


def _some_served(rng: Random) -> Case:
    return _served(rng, rng.randint(10, 16), rng.choice((1, 2, 3, 4)))


def _little_memory(rng: Random) -> Case:
    """Blocks of known texts are taken by others."""
    size, whole = rng.randint(2, 4), rng.randint(2, 3)
    text, stranger = [0, *_words(rng, whole * size)], [10, *_words(rng, whole * size)]
    left = rng.randint(1, whole)  # blocks of the text that the stranger leaves
    calls: tuple[Call, ...] = (
        ("share", ("a", text)),
        ("append", ("a", len(text))),
        ("keep", ("a", text)),
        ("free", ("a",)),
        _QUEUE,
        ("allocate", ("b", (2 + whole - left) * size)),
        ("match", (text,)),
        ("share", ("c", text)),
        ("table", ("c",)),
        _QUEUE,
        ("free", ("c",)),
        ("keep", ("b", stranger[: (2 + whole - left) * size])),
        ("match", ([*stranger, 1],)),
        ("match", (text,)),
        ("free", ("b",)),
        _QUEUE,
    )
    return Case((whole + 2, size), calls=calls)


def _shared_by_two(rng: Random) -> Case:
    """One of two that share ends, strangers come, and the other one ends."""
    size, whole = rng.randint(2, 4), rng.randint(1, 3)
    head = _words(rng, whole * size)
    first, second = [*head, 1], [*head, 2]
    calls: tuple[Call, ...] = (
        ("share", ("a", first)),
        ("append", ("a", len(first))),
        ("keep", ("a", first)),
        ("share", ("b", second)),
        ("append", ("b",)),
        ("free", ("a",)),
        _QUEUE,
        ("allocate", ("c", 2 * size)),
        ("table", ("b",)),
        ("match", (first,)),
        ("free", ("b",)),
        _QUEUE,
        ("free", ("c",)),
        _QUEUE,
    )
    return Case((whole + 4, size), calls=calls)


def _lost_head(rng: Random) -> Case:
    """The head of a known text is overwritten while a later block is still held: nothing of it is found."""
    size = rng.randint(2, 4)
    head = _words(rng, size)
    longer = [*head, *_words(rng, size)]
    calls: tuple[Call, ...] = (
        *_known("a", head),
        *_known("b", longer),
        ("match", ([*longer, 1],)),
        ("free", ("a",)),
        ("allocate", ("c", 3 * size)),
        ("match", ([*longer, 1],)),
        ("share", ("d", [*longer, 1])),
        ("table", ("d",)),
    )
    return Case((5, size), calls=calls)


def _prompt(*tokens: int) -> list[int]:
    return list(tokens)


_FIRST = list(range(1, 16))  # vLLM's example: requests 0, 1 and 2
_SECOND = [*range(1, 11), 21, 22, 23, 24]
_THIRD = [*range(1, 13), *range(31, 48)]

EXERCISE = Build(
    "09 block_pool.PrefixPool",
    section="9.8",
    topic="prefix cache",
    grade="calls",
    cases=(
        Case(
            (8, 4),
            calls=(
                *_known("a", _FIRST),
                ("match", (_SECOND,)),
                ("match", (_FIRST[:12],)),
                ("match", ([9, *_FIRST],)),
                ("match", (_SECOND, "another tenant")),
            ),
        ),
        Case(
            (10, 4),
            calls=(
                ("share", ("r0", _FIRST)),
                ("append", ("r0", 16)),
                ("keep", ("r0", [*_FIRST, 16])),
                ("append", ("r0",)),
                ("share", ("r1", _SECOND)),
                ("append", ("r1", 6)),
                ("keep", ("r1", _SECOND)),
                ("free", ("r0",)),
                _QUEUE,
                ("free", ("r1",)),
                _QUEUE,
                ("share", ("r2", _THIRD)),
                ("append", ("r2", 17)),
            ),
        ),
        Case(
            (4, 2),
            calls=(
                *_known("a", _prompt(1, 2, 3)),
                ("share", ("b", _prompt(1, 2, 9))),
                ("free", ("a",)),
                _QUEUE,
                ("free", ("b",)),
                _QUEUE,
            ),
        ),
    ),
    groups=(
        Group(
            "known prefixes",
            _prefixes,
            6,
            "Write the name of each full block under a text: a prompt has the blocks whose names it shares, up to the "
            "first that differs.",
            lambda rng: [_two_texts(rng), _two_texts(rng)],
        ),
        Group(
            "other beginnings, other salts",
            _salts,
            6,
            "A name stands for the salt and for all tokens up to the block's end.",
            lambda rng: [_other_beginning(rng) for _ in range(3)],
        ),
        Group("whole prompts", _whole_prompt, 3, "The last token of a prompt is always computed."),
        Group(
            "computed in parts",
            _half_computed,
            4,
            "Only full blocks of computed tokens are named, each once; of two blocks with the same text the first is "
            "found.",
            lambda rng: [_twice(rng), _twice(rng)],
        ),
        Group(
            "requests that share",
            _some_served,
            7,
            "Count the holders of each block: it is free when nobody holds it, and joins the tail with a name, the "
            "head without one.",
            lambda rng: [_shared_by_two(rng) for _ in range(3)],
            step="share and free",
        ),
        Group(
            "blocks that others take",
            _little_memory,
            6,
            "A block that is taken from the queue loses its name, and its text is found no more.",
            lambda rng: [_lost_head(rng) for _ in range(3)],
            step="share and free",
        ),
    ),
    slips=(
        Slip(
            "A block's name stands for everything before it: yours finds the same words behind another beginning.",
            edit=('before = names[-1] if names else f"salt {salt}"', 'before = f"salt {salt}"'),
        ),
        Slip("Two salts must not share a block: yours ignores the salt.", edit=('f"salt {salt}"', '"no salt"')),
        Slip(
            "Only a full block has a name: the tokens of a block that is filled in part still change.",
            edit=("len(tokens) + 1, self.block_size)", "len(tokens) + self.block_size, self.block_size)"),
        ),
        Slip(
            "The last token of the prompt has to be computed: the first word of the answer comes from its logits.",
            edit=("self.names(tokens[:-1], salt)", "self.names(tokens, salt)"),
        ),
        Slip(
            "A block is of use only with all blocks before it: stop at the first name that is not there.",
            edit=("                break\n", "                continue\n"),
        ),
        Slip(
            "A block that others still hold is not free: it joins the queue when nobody holds it any more.",
            edit=("            self.holders[block] -= 1\n", "            self.holders[block] = 0\n"),
        ),
        Slip(
            "A block without a name can never be found again: it joins the head of the queue, and goes first.",
            edit=("self.queue.appendleft(block)", "self.queue.append(block)"),
        ),
        Slip(
            "`free` goes from the last block to the first: the head of a sequence is to be taken again last.",
            edit=("for block in reversed(self.tables.pop(sequence)):", "for block in self.tables.pop(sequence):"),
        ),
        Slip(
            "A block that is shared again is no longer free: take it out of the queue.",
            edit=("                self.queue.remove(block)\n", "                pass\n"),
        ),
        Slip(
            "A block that is taken gets other contents: it must lose its name, or others will find a text that is "
            "gone.",
            edit=(
                (
                    "            if self.named[block] is not None:\n"
                    "                del self.found[self.named[block]]\n"
                    "                self.named[block] = None\n"
                ),
                "",
            ),
        ),
        Slip(
            "A name that another block has is not given again: the first one stays the one that is found.",
            edit=("if self.named[block] is None and name not in self.found:", "if self.named[block] is None:"),
        ),
    ),
    promises=(
        Promise(
            "Two names are equal exactly where the salt and all tokens",
            edit=('before = names[-1] if names else f"salt {salt}"', 'before = f"salt {salt}"'),
        ),
        Promise(
            "The block of the last token is never among them",
            edit=("self.names(tokens[:-1], salt)", "self.names(tokens, salt)"),
        ),
        Promise(
            "Begin a new sequence with the blocks that",
            edit=("blocks = self.match(tokens, salt)", "blocks = self.match(tokens, salt)[:1]"),
        ),
        Promise(
            "nobody else can take them from then on",
            edit=("                self.queue.remove(block)\n", "                pass\n"),
        ),
    ),
)
