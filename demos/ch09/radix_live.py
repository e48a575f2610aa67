"""A prefix cache call by call: what each call returns, how many tokens are evictable, and the tree afterwards.

python -m demos radix_live --calls "insert 1 2 3 4; insert 1 2 5; lock 1 2 3; evict 9; unlock 0" --save tree.png
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch09.paging_runs import tree_text

CALLS = "insert 1 2 3 4; insert 1 2 5; match 1 2 3; lock 1 2 3; evict 9; unlock 0; evict 1"
NUMBERS = {"unlock": "a handle", "evict": "a number of tokens"}


def calls(text: str) -> list[tuple[str, list[int]]]:
    """An argparse type: ``insert TOKENS``, ``match TOKENS``, ``lock TOKENS``, ``unlock HANDLE``, ``evict COUNT``."""
    result = []
    for piece in filter(str.strip, text.split(";")):
        name, *words = piece.split()
        if name not in ("insert", "match", "lock", *NUMBERS) or not all(word.isdecimal() for word in words):
            raise argparse.ArgumentTypeError(f"must be insert, match, lock, unlock or evict and numbers, got {piece!r}")
        if name in NUMBERS and len(words) != 1:
            raise argparse.ArgumentTypeError(f"{name} must be followed by {NUMBERS[name]}, got {piece!r}")
        result.append((name, [int(word) for word in words]))
    if not result:
        raise argparse.ArgumentTypeError("must be at least one call")
    return result


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--calls", type=calls, default=calls(CALLS), help=f'as "{CALLS}"')
    options.add_argument("--page", type=whole(1, 64), default=1, help="tokens of a page")
    asked = options.parse_args(argv)
    cache = part(asked.code, "ch09.radix_cache", "RadixCache")(asked.page)
    rows, moments, slot, right = [], {}, 0, True
    for number, (name, numbers) in enumerate(asked.calls, 1):
        arguments: list[Any] = numbers if name in NUMBERS else [numbers]
        if name == "insert":
            arguments.append(list(range(slot, slot + len(numbers))))
            slot += len(numbers)
        try:
            answer = getattr(cache, name)(*arguments)
        except ValueError as error:
            options.error(f"call {number}, {name} {' '.join(map(str, numbers))}: {error}")
        cache.check()
        moments[f"{number}. {name} {' '.join(map(str, numbers))}"] = nodes = cache.nodes()
        right = right and cache.evictable_size + cache.protected_size == sum(len(node.tokens) for node in nodes)
        rows.append(
            (list(moments)[-1], "" if answer is None else str(answer), cache.evictable_size, cache.protected_size)
        )
        print(f"{rows[-1][0]}: {answer}\n{tree_text(nodes)}")

    def picture():
        from rankzero.figures.serving import radix_tree

        return radix_tree(moments)

    print()
    show(asked, Table(("call", "answer", "evictable", "protected"), rows), picture)
    return verdict(right, "after every call, evictable and protected tokens add up to all that is cached")


if __name__ == "__main__":
    sys.exit(main())
