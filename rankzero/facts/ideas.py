"""The ideas of the course, each with its section and with what it rests on.

>>> named("ZeRO").section, named("ZeRO").needs
('5.6', ('ring all-reduce', 'data parallelism'))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Idea:
    """One idea.

    Attributes:
        name: as the map shows it.
        section: where it is explained, such as ``"3.7"``.
        needs: names of the earlier ideas that it rests on directly.
    """

    name: str
    section: str
    needs: tuple[str, ...] = ()

    @property
    def chapter(self) -> int:
        """The number of its chapter."""
        return int(self.section.partition(".")[0])


IDEAS = (
    Idea("ranks", "1.1"),
    Idea("groups", "1.6", ("ranks",)),
    Idea("the memory wall", "1.9"),
    Idea("deadlock", "2.3", ("messages",)),
    Idea("messages", "2.1", ("ranks",)),
    Idea("what a message costs", "2.6", ("messages",)),
    Idea("pipelining", "2.7", ("what a message costs",)),
    Idea("all-to-all", "3.16", ("collectives",)),
    Idea("collectives", "3.2", ("groups", "messages")),
    Idea("ring all-reduce", "3.7", ("collectives", "what a message costs")),
    Idea("trees", "4.3", ("ring all-reduce",)),
    Idea("levels of a cluster", "4.5", ("ring all-reduce",)),
    Idea("overlap", "5.3", ("data parallelism",)),
    Idea("data parallelism", "5.1", ("ring all-reduce",)),
    Idea("ZeRO", "5.6", ("ring all-reduce", "data parallelism")),
    Idea("few bits", "5.8", ("the memory wall",)),
    Idea("tensor parallelism", "6.3", ("collectives",)),
    Idea("sequence parallelism", "6.5", ("tensor parallelism",)),
    Idea("recomputation", "6.8", ("the memory wall",)),
    Idea("1F1B", "7.4", ("pipelining",)),
    Idea("expert parallelism", "7.10", ("all-to-all",)),
    Idea("layouts", "7.12", ("levels of a cluster", "ZeRO", "sequence parallelism", "1F1B", "expert parallelism")),
    Idea("prefill and decode", "8.2"),
    Idea("the roofline", "8.3", ("prefill and decode",)),
    Idea("continuous batching", "8.5", ("the roofline",)),
    Idea("the KV cache", "9.1", ("prefill and decode",)),
    Idea("paging", "9.6", ("the KV cache",)),
    Idea("prefix reuse", "9.8", ("paging",)),
    Idea("CUDA graphs", "10.8", ("the roofline",)),
    Idea("a token budget", "10.2", ("continuous batching", "paging")),
    Idea("speculative decoding", "11.1", ("the roofline", "the KV cache")),
    Idea("constrained decoding", "11.7"),
    Idea("policy gradient", "12.1"),
    Idea("advantages", "12.5", ("policy gradient",)),
    Idea("PPO", "12.7", ("advantages",)),
    Idea("the reward model", "13.2"),
    Idea("GRPO", "13.7", ("PPO",)),
    Idea("RLHF", "13.9", ("the reward model", "GRPO")),
    Idea("off-policy correction", "14.9", ("RLHF",)),
    Idea("roads for weights", "14.5", ("RLHF", "layouts", "continuous batching")),
    Idea("placement", "14.11", ("roads for weights",)),
    Idea("a plan for 405B", "15.3", ("layouts", "recomputation", "overlap")),
    Idea("checkpoints", "15.5", ("a plan for 405B",)),
)


def named(name: str) -> Idea:
    """The idea with this name.

    Raises:
        KeyError: there is none.
    """
    for idea in IDEAS:
        if idea.name == name:
            return idea
    raise KeyError(name)
