"""The small server of the chapters on serving: requests, and one pass over a flat row of everybody's tokens.

>>> request = Request("a", [65, 108], limit=3)
>>> request.tokens.append(105)
>>> request.missing, request.done
([65, 108, 105], False)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rankzero.tiny import GPT
from solutions.ch08.tiny_serving import GrowingCache


@dataclass
class Request:
    """One request, as the loop of the small server sees it.

    Attributes:
        name: whose it is.
        tokens: the prompt, and behind it the answer so far.
        limit: how many tokens the answer gets.
        computed: how many of the tokens have been through the model.
        answered: tokens of the answer so far.
    """

    name: str
    tokens: list[int]
    limit: int
    computed: int = 0
    answered: int = 0

    @property
    def missing(self) -> list[int]:
        """The tokens that the next pass has to compute: the whole prompt at first, then the newest token."""
        return self.tokens[self.computed :]

    @property
    def done(self) -> bool:
        """Whether the answer is as long as it may be."""
        return self.answered == self.limit


class FlatCache(GrowingCache):
    """Keys and values of all requests in one row, in the order in which passes computed them.

    Attributes:
        owners: the request of each cached token.
        positions: where it stands in this request.
    """

    def __init__(self) -> None:
        super().__init__()
        self.owners: list[str] = []
        self.positions: list[int] = []


def one_pass(model: GPT, cache: FlatCache, requests: Sequence[Request]) -> torch.Tensor:
    """Compute all missing tokens of all requests; return the logits after each request's last token."""
    row, owners, positions = [], [], []
    for request in requests:
        row += request.missing
        owners += [request.name] * len(request.missing)
        positions += range(request.computed, len(request.tokens))
        request.computed = len(request.tokens)
    cache.owners += owners
    cache.positions += positions
    held = list(zip(cache.owners, cache.positions, strict=True))
    mask = [  # the same owner, and not later
        [owner == other and position >= earlier for other, earlier in held]
        for owner, position in zip(owners, positions, strict=True)
    ]
    with torch.no_grad():
        logits = model(torch.tensor([row]), torch.tensor([positions]), cache, torch.tensor([mask]))[0]
    last = [index for index, owner in enumerate(owners) if owners[index + 1 : index + 2] != [owner]]
    return logits[last]
