"""Direct preference optimisation: a policy learns from comparisons, without a reward model and without writing.

>>> dpo_loss(torch.tensor([-3.0]), torch.tensor([-5.0]), torch.tensor([-4.0]), torch.tensor([-4.0]), beta=0.5)
tensor(0.3133)
"""

from __future__ import annotations

import torch
from torch.nn import functional

from rankzero import checks


def dpo_loss(
    chosen: torch.Tensor, rejected: torch.Tensor, ref_chosen: torch.Tensor, ref_rejected: torch.Tensor, beta: float
) -> torch.Tensor:
    """The mean negative log-likelihood of preferences, if an answer's score is beta times its log-ratio to the
    reference.

    Args:
        chosen: log-probabilities of the preferred answers under the policy that learns, [N], each summed over its
            tokens; N is at least 1.
        rejected: of the other answers, [N].
        ref_chosen: of the preferred answers under the reference, [N]. No gradient flows into it.
        ref_rejected: of the other answers under the reference, [N]. No gradient flows into it.
        beta: price of a nat; positive.

    Returns:
        A number, shape [].

    Source: Rafailov et al. (2023), arXiv:2305.18290, equation 7.
    """
    checks.positive(beta=beta)
    shapes = [tuple(part.shape) for part in (chosen, rejected, ref_chosen, ref_rejected)]
    checks.require(chosen.dim() == 1 and len(chosen) > 0, "be [N]", chosen=shapes[0])
    checks.require(len(set(shapes)) == 1, "be equal", shapes=shapes)
    gained = (chosen - ref_chosen.detach()) - (rejected - ref_rejected.detach())  # nats
    return -functional.logsigmoid(beta * gained).mean()
