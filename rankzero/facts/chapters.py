"""The chapters of the book, in one table. Every list of chapters reads this table or is generated from it.

>>> CHAPTERS[2].page, CHAPTERS[2].package, CHAPTERS[2].prefix
('03-collectives', 'ch03', '03')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PartName = Literal["I. Foundations", "II. Parallelism", "III. Serving", "IV. RLHF systems", "Capstone"]

#: The parts of the course, and what a reader can do after each.
PARTS: dict[PartName, str] = {
    "I. Foundations": "run programs on many processes, and count and time what they send",
    "II. Parallelism": "split a model and its training over many GPUs",
    "III. Serving": "build an inference server, and say how fast it can be",
    "IV. RLHF systems": "train a model from rewards, on the machines that it takes",
    "Capstone": "plan the training of a model of 405 billion parameters, and keep it alive through failures",
}


@dataclass(frozen=True)
class Chapter:
    """One chapter.

    Attributes:
        number: counted from 1; the numbers of its sections begin with it.
        slug: the part of the page's file name that follows the number.
        title: the heading of the page.
        part: a key of :data:`PARTS`.
    """

    number: int
    slug: str
    title: str
    part: PartName

    @property
    def page(self) -> str:
        """The name of its notebook, without the extension: ``"03-collectives"``."""
        return f"{self.number:02}-{self.slug}"

    @property
    def deeper(self) -> str:
        """The name of the notebook with what is beyond its page: ``"deeper/03-collectives-deeper"``."""
        return f"deeper/{self.page}-deeper"

    @property
    def package(self) -> str:
        """The name of its package in ``labs``, ``solutions`` and so on: ``"ch03"``."""
        return f"ch{self.number:02}"

    @property
    def prefix(self) -> str:
        """The prefix of its items' ids: ``"03"``, or ``"cap"`` for the capstone."""
        return "cap" if self.part == "Capstone" else f"{self.number:02}"


CHAPTERS = (
    Chapter(1, "first-program", "Your first distributed program", "I. Foundations"),
    Chapter(2, "point-to-point", "Point-to-point communication", "I. Foundations"),
    Chapter(3, "collectives", "Collective operations", "I. Foundations"),
    Chapter(4, "topology", "Topology", "I. Foundations"),
    Chapter(5, "data-parallel", "Data parallelism, ZeRO and precision", "II. Parallelism"),
    Chapter(6, "tensor-parallel", "Tensor parallelism", "II. Parallelism"),
    Chapter(7, "pipeline-expert", "Pipelines, experts, layouts", "II. Parallelism"),
    Chapter(8, "server", "Anatomy of an inference server", "III. Serving"),
    Chapter(9, "kv-cache", "The KV cache", "III. Serving"),
    Chapter(10, "scheduling", "Scheduling and CUDA graphs", "III. Serving"),
    Chapter(11, "decoding", "Speculative and constrained decoding", "III. Serving"),
    Chapter(12, "rl", "Reinforcement learning for language models", "IV. RLHF systems"),
    Chapter(13, "rlhf", "The RLHF computation", "IV. RLHF systems"),
    Chapter(14, "rlhf-systems", "RLHF system architecture", "IV. RLHF systems"),
    Chapter(15, "capstone", "Capstone: plan, run and keep alive a 405B training job", "Capstone"),
)


def of_item(identifier: str) -> Chapter:
    """The chapter of an item, found by the prefix of its id: ``"03-all-reduce"`` belongs to chapter 3.

    Raises:
        KeyError: no chapter has this prefix.
    """
    prefix = identifier.partition("-")[0]
    for chapter in CHAPTERS:
        if chapter.prefix == prefix:
            return chapter
    raise KeyError(f"no chapter has items that begin with {prefix!r}")
