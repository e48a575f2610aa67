"""What others have published, for the loops of chapter 12. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reuse:
    """How often a batch of responses is used.

    Attributes:
        source: where it is published.
        responses: that are written before the weights change.
        minibatch: responses of one optimizer step.
        passes: over the responses.
    """

    source: str
    responses: int
    minibatch: int
    passes: int

    @property
    def steps(self) -> int:
        """Optimizer steps before new responses are written."""
        return self.responses // self.minibatch * self.passes


#: InstructGPT writes 256,000 responses in all (here 256 thousand; 256 * 1024 would be 512 batches).
INSTRUCT_GPT = Reuse("Ouyang et al. (2022), arXiv:2203.02155, appendix C.4", 512, 64, 1)
EPISODES = 256_000
DEEPSEEK_R1 = Reuse("Guo et al. (2025), doi:10.1038/s41586-025-09422-z, methods", 8192, 512, 1)

#: Passes of TRL's PPO trainer over a batch by default: ``num_ppo_epochs`` of its ``PPOConfig``; removed in 2026.
TRL_PASSES = 4

#: The clip range of both sides in DAPO, and that of DeepSeek-R1's first stage of reinforcement learning.
DAPO = "Yu et al. (2025), arXiv:2503.14476, section 3.1"
LOW, HIGH = 0.2, 0.28
R1_CLIP = 10.0


def most_probable(before: float, clip: float) -> float:
    """The probability up to which a good word of this probability is pushed within one batch, at most 1."""
    return min(1.0, before * (1 + clip))
