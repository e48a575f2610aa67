"""Wrong programs for ``BlockManager``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

BLOCK_MANAGER = (
    Slip(
        "A block that another table still holds is not free: it joins the queue when its count reaches 0.",
        edit=(
            (
                "            self._counts[block] -= 1\n"
                "            if self._counts[block] == 0:\n"
                "                self._free.append(block)"
            ),
            "            self._counts[block] = 0\n            self._free.append(block)",
        ),
    ),
    Slip(
        "A partly filled block that is shared must be copied before it is written: the other sequence reads it.",
        edit=(
            "copied = tokens > 0 and length % self._block_size > 0 and self._counts[table[-1]] > 1",
            "copied = False",
        ),
    ),
    Slip(
        "A block that has just become full needs no successor yet: the next one is taken with the next token.",
        edit=(
            "more = self._blocks(length + tokens) - len(table)",
            "more = max(0, (length + tokens) // self._block_size + (tokens > 0) - len(table))",
        ),
    ),
    Slip(
        "`free` goes from the last block to the first: the head of a sequence is to be reused last.",
        edit=("reversed(table)", "table"),
    ),
    Slip(
        "Freed blocks join the tail of the queue here; yours join its head and are taken next.",
        edit=("self._free.append(block)", "self._free.appendleft(block)"),
    ),
    Slip(
        "A call that raises changes nothing: yours took blocks from the queue first, and they are lost.",
        edit=(
            '            raise OutOfBlocks(f"need {need} blocks, {len(self._free)} free")',
            (
                "            self._take(len(self._free))\n"
                '            raise OutOfBlocks(f"need {need} blocks, {len(self._free)} free")'
            ),
        ),
    ),
    Slip(
        "A block with a single owner is written in place: copy only where its count is above 1.",
        edits=(
            ("length % self._block_size > 0 and self._counts[table[-1]] > 1", "length % self._block_size > 0"),
            (
                "        self._counts[shared] -= 1\n",
                (
                    "        self._counts[shared] -= 1\n"
                    "        if self._counts[shared] == 0:\n"
                    "            self._free.append(shared)\n"
                ),
            ),
        ),
    ),
    Slip(
        "The sequence that got a copy no longer holds the block that was copied: its count drops by one.",
        edit=("        self._counts[shared] -= 1\n", ""),
    ),
    Slip(
        "Appending 0 tokens writes nothing, so nothing is copied.",
        edit=("copied = tokens > 0 and length", "copied = length"),
    ),
    Slip(
        "A fork also shares the block that its tokens fill in part.",
        edits=(
            ("table[: self._blocks(tokens)]", "table[: tokens // self._block_size]"),
            (
                "length % self._block_size > 0 and self._counts",
                "length % self._block_size > 0 and bool(table) and self._counts",
            ),
        ),
    ),
    Slip(
        "Two managers share their tables: keep them in the instance, not in the class.",
        edits=(
            (
                "    OutOfBlocks = OutOfBlocks\n",
                (
                    "    OutOfBlocks = OutOfBlocks\n"
                    "    _tables: dict[Hashable, list[int]] = {}\n"
                    "    _lengths: dict[Hashable, int] = {}\n"
                ),
            ),
            (
                (
                    "        self._tables: dict[Hashable, list[int]] = {}\n"
                    "        self._lengths: dict[Hashable, int] = {}\n"
                ),
                "        self._tables.clear()\n        self._lengths.clear()\n",
            ),
        ),
    ),
)
