"""Placeholders for tokens that are not sampled yet: how a step is scheduled before the previous one has ended.

Standard library only.

>>> futures = FutureMap(max_running=2)
>>> futures.reserve(2)
[-1, -2]
>>> futures.store([-1, -2], [7, 9])
>>> futures.resolve([5, -1, -2, 3])
[5, 7, 9, 3]
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


class FutureMap:
    """A ring of slots for tokens to come. Placeholder -n names slot n, so that no placeholder is a token.

    The CPU reserves a placeholder for every sequence of a step and writes it into the input of the next step; when the
    step has been sampled its tokens are stored, and just before the next one runs its placeholders are resolved.

    Args:
        max_running: sequences of one step at most; at least 1.

    Source: SGLang v0.4, ``future_token_ids_map`` of ``tp_worker_overlap_thread.py``.
    """

    def __init__(self, max_running: int) -> None:
        checks.count(max_running=max_running)
        self.max_running = max_running
        self._cursor = 0
        self._slots: dict[int, int | None] = {}  # of reserved placeholders; None is empty

    def reserve(self, count: int) -> list[int]:
        """The next ``count`` placeholders, ``-(k + 1), -(k + 2), ...`` from the cursor k; their slots are empty now.

        The cursor then moves to ``(k + count) % (3 * max_running)``: a reservation never wraps in its middle, the last
        one before a wrap goes on beyond the limit.

        Args:
            count: sequences of the step; at least 1. It is called with ``max_running`` at most.
        """
        checks.count(count=count)
        reserved = [-(self._cursor + place) for place in range(1, count + 1)]
        self._cursor = (self._cursor + count) % (3 * self.max_running)
        self._slots |= dict.fromkeys(reserved)
        return reserved

    def store(self, placeholders: Sequence[int], tokens: Sequence[int]) -> None:
        """Fill the slots of these placeholders, in this order.

        Args:
            placeholders: where to store.
            tokens: one for each placeholder.

        Raises:
            ValueError: a placeholder has never been reserved; nothing is stored then.
        """
        checks.require(len(tokens) == len(placeholders), "be as many", tokens=tokens, placeholders=placeholders)
        for placeholder in placeholders:
            if placeholder not in self._slots:
                raise ValueError(f"placeholders must be reserved, got {placeholder}")
        self._slots |= zip(placeholders, tokens, strict=True)

    def resolve(self, tokens: Sequence[int]) -> list[int]:
        """The same tokens with each placeholder replaced by what its slot holds; what is not negative stays.

        Raises:
            RuntimeError: a slot is empty; the message names the placeholder.
        """
        return [token if token >= 0 else self._held(token) for token in tokens]

    def _held(self, placeholder: int) -> int:
        token = self._slots.get(placeholder)
        if token is None:
            raise RuntimeError(f"the slot of placeholder {placeholder} is empty")
        return token
