"""Prompts that share a prefix, as BPE tokens in a radix tree: what is found, what is stored, and the closed form.

python -m demos prefix_sharing --requests 100 --system 500 --user 100 --page 16
python -m demos prefix_sharing --file prompts.txt --page 4 --save tree.png
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch09.paging_runs import distinct_pages
from rankzero.tiny.text import BpeTokenizer, bundled_text

DRAWN = 8  # prompts in the picture


def lines(name: str) -> list[str]:
    """An argparse type: the lines of a file that are not empty, a prompt each."""
    try:
        found = [line for line in Path(name).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"cannot be read: {error}") from None
    if not found:
        raise argparse.ArgumentTypeError(f"{name} must have a line that is not empty")
    return found


def prompts(tokens: Sequence[int], count: int, system: int, user: int) -> list[list[int]]:
    """A common prefix, followed in each prompt by a different passage; no two passages begin with the same token."""
    starts = list({token: place for place, token in enumerate(tokens[system : len(tokens) - user], system)}.values())
    return [[*tokens[:system], *tokens[start : start + user]] for start in starts[:count]]


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--requests", type=whole(1, 500), default=100)
    options.add_argument("--system", type=whole(0, 4000), default=500, help="tokens that all prompts begin with")
    options.add_argument("--user", type=whole(1, 1000), default=100, help="tokens of each prompt's own")
    options.add_argument("--page", type=whole(1, 1024), default=16, help="tokens of a page")
    options.add_argument("--file", type=lines, metavar="FILE", help="prompts of your own, one in a line")
    asked = options.parse_args(argv)
    tokenizer = BpeTokenizer()
    if asked.file:
        given = [tokenizer.encode(line) for line in asked.file]
    else:
        given = prompts(tokenizer.encode(bundled_text()[:40_000]), asked.requests, asked.system, asked.user)
    page, radix = asked.page, part(asked.code, "ch09.radix_cache", "RadixCache")
    cache, found, blocks = radix(page), list[int](), 0
    for prompt in given:
        found.append(cache.match(prompt)[0])
        cache.insert(prompt, list(range(blocks * page, blocks * page + len(prompt))))
        blocks += -(-(len(prompt) - found[-1]) // page)  # an incomplete page takes a block, too
    alone = sum(-(-len(prompt) // page) for prompt in given)
    header = ("prompts", "tokens", "found cached", "blocks alone", "blocks shared", "saved (%)")
    row = (len(given), sum(map(len, given)), sum(found), alone, blocks, 100 * (1 - blocks / alone))

    def picture():
        from rankzero.figures.kv_cache import radix_tree, shortened

        few = radix(page)
        for prompt in given[:DRAWN]:
            few.insert(prompt, prompt)
        return radix_tree(few.nodes(), lambda tokens: shortened(" ".join(tokenizer.decode(list(tokens)).split())))

    show(asked, Table(header, [row]), picture)
    cache.check()
    once = cache.evictable_size == page * distinct_pages(given, page)
    if asked.file or not once:
        return verdict(once, "the tree holds each page of each prefix once")
    formula = part(asked.code, "ch09.kv_cache", "prefix_sharing_saving")(len(given), asked.system, asked.user, page)
    return verdict(abs(row[-1] - 100 * formula) < 1e-9, f"the closed form says so, too: {100 * formula:.6g} %")


if __name__ == "__main__":
    sys.exit(main())
