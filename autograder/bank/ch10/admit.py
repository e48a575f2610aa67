"""Chapter 10: ``admit``, admission."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip


def _blocks(tokens: int, size: int) -> int:
    return -(-tokens // size)


def _plain(rng: Random) -> Case:
    """Nothing cached; budget for all, memory for some."""
    size = rng.randint(2, 8)
    waiting = [(rng.randint(1, 6 * size), 0, 0) for _ in range(rng.randint(2, 5))]
    need = [_blocks(total, size) for total, _, _ in waiting]
    return Case((waiting, 200, sum(need[: rng.randint(1, len(need))]) + rng.randint(0, 1), size))


def _chunks(rng: Random, short: int = 0) -> Case:
    """Chunks that fit, of a prompt for which ``short`` blocks are missing; a short prompt waits behind it."""
    size = rng.randint(2, 6)
    total = size * rng.randint(6, 12) + rng.randint(0, size - 1)
    chunk = size * rng.randint(1, 3) + rng.randint(0, size - 1)
    return Case(
        ([(total, 0, 0), (size, 0, 0)], chunk + rng.randint(size, 90), _blocks(total, size) - short, size, chunk)
    )


def _cut(rng: Random) -> Case:
    """A budget that cuts a prompt, which has room or lacks a block."""
    size = rng.randint(2, 6)
    total = size * rng.randint(6, 12) + rng.randint(0, size - 1)
    free = _blocks(total, size) - rng.randint(0, 1)
    return Case(([(total, 0, 0), (size, 0, 0)], size * rng.randint(1, 3) + rng.randint(0, size - 1), free, size))


def _head(rng: Random) -> Case:
    """A head that does not fit, and short prompts behind it that would."""
    size = rng.randint(2, 6)
    free = rng.randint(3, 6)
    first = (rng.randint(1, size), 0, 0)
    large = (size * free + rng.randint(1, 9), 0, 0)
    return Case(([first, large, (rng.randint(1, size), 0, 0)][rng.randint(0, 1) :], 100, free, size))


def _shared(rng: Random, more: int = 0) -> Case:
    """A cached beginning that running requests hold; ``more`` blocks than it needs are free."""
    return _known(rng, True, more, rng.randint(1, 40))


def _idle(rng: Random, more: int = 0) -> Case:
    """A cached beginning that nobody holds, or only a part of it: its blocks are among the free ones."""
    return _known(rng, False, more, rng.randint(1, 40))


def _known(rng: Random, whole: bool, more: int, budget: int) -> Case:
    size = rng.randint(2, 8)
    known = rng.randint(2, 6)
    held = known if whole else rng.randint(0, known - 1)
    total = size * known + rng.randint(1, 3 * size)
    return Case(([(total, size * known, held), (size, 0, 0)], budget, _blocks(total, size) - held + more, size))


def _capped(rng: Random) -> Case:
    size = rng.randint(2, 6)
    waiting = [(rng.randint(10, 40), 0, 0) for _ in range(rng.randint(2, 4))]
    return Case((waiting, rng.randint(12, 60), 60, size, rng.randint(3, 9)))


def _no_budget(rng: Random) -> Case:
    return Case(([(rng.randint(1, 9), 0, 0)], 0, 20, 4))


EXERCISE = Build(
    "10 scheduler.admit",
    section="10.5",
    topic="admission",
    cases=(
        Case(([(24, 0, 0)], 8, 2, 4)),
        Case(([(24, 0, 0)], 8, 6, 4)),
        Case(([(24, 0, 0), (4, 0, 0)], 64, 5, 4)),
        Case(([(4, 0, 0), (24, 0, 0), (4, 0, 0)], 64, 5, 4)),
        Case(([(4000, 3904, 244)], 512, 6, 16)),
        Case(([(4000, 3904, 0)], 512, 249, 16)),
        Case(([(4000, 3904, 0)], 512, 250, 16)),
        Case(([], 512, 250, 16)),
    ),
    groups=(
        Group("prompts that fit", _plain, 5, "Each takes blocks of its own: what one takes is not free any more."),
        Group(
            "chunks",
            _cut,
            8,
            "All tokens must have room before the first chunk runs, and the chunk takes no more than its own blocks.",
            lambda rng: [_no_budget(rng), *(_chunks(rng, short) for short in (0, 0, 1, rng.randint(1, 2)))],
        ),
        Group("a head that waits", _head, 4, "Nobody overtakes the head of the queue."),
        Group(
            "a shared beginning",
            _shared,
            5,
            "Cached tokens need no budget, and blocks that others hold no memory.",
            lambda rng: [_known(rng, True, more, 200) for more in (0, 0, 1)] + [_shared(rng, -1)],
        ),
        Group(
            "an idle beginning",
            _idle,
            5,
            "Cached blocks that nobody holds come out of the free ones.",
            lambda rng: [_idle(rng, -1), _idle(rng, -1), _known(rng, False, 0, 200), _idle(rng, 1)],
        ),
        Group("chunks of a given size", _capped, 3, "`max_chunk` bounds what one request gets in one pass."),
    ),
    slips=(
        Slip(
            "Room for the first chunk is not enough: the rest of the prompt would collide with those who write.",
            edit=("-(-total // block_size) - shared > free", "-(-(cached + tokens) // block_size) - shared > free"),
        ),
        Slip(
            "A chunk takes blocks for its own tokens; those of the rest stay free until they are needed.",
            edit=(
                "        free -= -(-(cached + tokens) // block_size) - shared\n",
                "        free -= -(-total // block_size) - shared\n",
            ),
        ),
        Slip(
            "Cached tokens are not computed again: they cost no budget.",
            edit=("min(total - cached, max_chunk or budget, budget)", "min(total, max_chunk or budget, budget)"),
        ),
        Slip(
            "Blocks that running requests hold are there already: they cost no free block.",
            edits=(
                ("-(-total // block_size) - shared > free", "-(-total // block_size) > free"),
                ("-(-(cached + tokens) // block_size) - shared\n", "-(-(cached + tokens) // block_size)\n"),
            ),
        ),
        Slip(
            "Cached blocks that nobody holds are counted among the free ones: taking them makes those fewer.",
            edits=(
                ("-(-total // block_size) - shared > free", "-(-total // block_size) - cached // block_size > free"),
                (
                    "-(-(cached + tokens) // block_size) - shared\n",
                    "-(-(cached + tokens) // block_size) - cached // block_size\n",
                ),
            ),
        ),
        Slip(
            "Nobody overtakes: when the head of the queue does not fit, all others wait too.",
            edit=("            break\n        free -= ", "            continue\n        free -= "),
        ),
    ),
    promises=(
        Promise("if the blocks for all its tokens are free", edit=("shared > free", "shared >= free")),
        Promise(
            "takes only those of its first chunk",
            edit=(
                "        free -= -(-(cached + tokens) // block_size) - shared\n",
                "        free -= -(-total // block_size) - shared\n",
            ),
        ),
        Promise(
            "Nobody overtakes", edit=("            break\n        free -= ", "            continue\n        free -= ")
        ),
        Promise("0 sets no limit", edit=("max_chunk or budget", "max_chunk or 1")),
        Promise(
            "only those of its first chunk",
            edit=(
                "        free -= -(-(cached + tokens) // block_size) - shared\n",
                "        free -= -(-total // block_size) - shared\n",
            ),
        ),
    ),
)
