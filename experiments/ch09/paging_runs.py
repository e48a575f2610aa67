"""Paging and prefix reuse call by call, with the block tables or the tree after each call.

    shown = tell(BlockManager(8, 4), [("a prompt of 6", "allocate", "p", 6), ("a fork", "fork", "p", "c")])
    memory_figures.block_tables(shown.tables, 8, shown.copies)

Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Told:
    """The states of a block manager, call by call.

    Attributes:
        tables: for each call's title, the tables after it.
        copies: for each call's title, the blocks to copy.
        queues: for each call's title, the free blocks after it.
    """

    tables: dict[str, dict[str, list[int]]]
    copies: dict[str, list[tuple[int, int]]]
    queues: dict[str, list[int]]


def tell(manager: Any, calls: Sequence[tuple[Any, ...]]) -> Told:
    """Make some calls to a manager, and record its state after each.

    Args:
        manager: a new :class:`.block_manager.BlockManager`, or one with the same methods.
        calls: ``(title, method, *arguments)``; titles differ.
    """
    known: list[str] = []
    told = Told({}, {}, {})
    for title, name, *arguments in calls:
        answer = getattr(manager, name)(*arguments)
        known += {"allocate": arguments[:1], "fork": arguments[1:2]}.get(name, [])
        if name == "free":
            known.remove(arguments[0])
        told.tables[title] = {sequence: manager.table(sequence) for sequence in known}
        told.copies[title] = answer if name == "append" else []
        told.queues[title] = manager.free_queue()
    return told


def tree_after(cache: Any, calls: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Make some calls of a radix cache; for each call's title, the nodes after it.

    Args:
        cache: a new :class:`.radix_cache.RadixCache`, or one with the same methods.
        calls: ``(title, method, *arguments)``; titles differ.
    """
    shown = {}
    for title, name, *arguments in calls:
        getattr(cache, name)(*arguments)
        shown[title] = cache.nodes()
    return shown


def tree_text(nodes: Sequence[Any]) -> str:
    """A tree as text, one line for each of its ``nodes()``, indented by depth."""
    depths: list[int] = []
    for node in nodes:
        depths.append(1 if node.parent < 0 else depths[node.parent] + 1)
    rows = [
        f"{'  ' * depth}{' '.join(map(str, node.tokens))}  (slots {' '.join(map(str, node.slots))}, "
        f"locks {node.locks}, touched {node.touched})"
        for depth, node in zip(depths, nodes, strict=True)
    ]
    return "\n".join(rows) or "  empty"


def distinct_pages(prompts: Sequence[Sequence[int]], page: int) -> int:
    """Whole pages over all prompts, shared prefixes counted once; pages are equal if all tokens up to their end are."""
    known: dict[tuple[int, ...], int] = {}
    for prompt in prompts:
        before = 0
        for start in range(0, len(prompt) - page + 1, page):
            before = known.setdefault((before, *prompt[start : start + page]), len(known) + 1)
    return len(known)


def conversation(system: int, turns: int, user: int, answer: int) -> list[list[int]]:
    """The prompts of a chat, each with everything said before it; every token is a different number.

    Args:
        system: tokens of the system prompt.
        turns: of the user.
        user, answer: tokens of a message and of an answer.
    """
    return [list(range(system + turn * (user + answer) + user)) for turn in range(turns)]


def hits_with_tree(cache: Any, prompts: Sequence[Sequence[int]], answer: int = 0) -> list[int]:
    """Tokens of each prompt that are cached when it arrives; afterward the prompt is inserted with its answer.

    Args:
        cache: a new :class:`.radix_cache.RadixCache`, or one with the same methods.
        prompts: in the order of their arrival.
        answer: tokens of each answer, counting on from the prompt's last token.
    """
    hits = []
    for prompt in prompts:
        hits.append(cache.match(prompt)[0])
        whole = [*prompt, *range(prompt[-1] + 1, prompt[-1] + 1 + answer)]
        cache.insert(whole, whole)
    return hits


def hits_with_hashes(prompts: Sequence[Sequence[int]], page: int) -> list[int]:
    """The same without a tree: the key of each whole page is made from its tokens and the key of the previous page.

    Args:
        prompts: in the order of their arrival.
        page: tokens of a page.
    """
    known: set[int] = set()
    hits = []
    for prompt in prompts:
        keys, key = [], 0
        for start in range(0, len(prompt) - page + 1, page):
            key = hash((key, *prompt[start : start + page]))
            keys.append(key)
        found = next((index for index, key in enumerate(keys) if key not in known), len(keys))
        hits.append(found * page)
        known.update(keys)
    return hits
