"""Rounds of speculation over a text, one token after the other. Standard library only.

>>> speculative_rounds([True, True, False, True, True, True], draft_length=2)
[2, 2]
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


def speculative_rounds(right: Sequence[bool], draft_length: int) -> list[int]:
    """The accepted drafts of each round in which a text is written.

    A round drafts the next k tokens of the text. Those in front of the first wrong draft are accepted, and the target
    adds one token of its own: in place of the first wrong draft, or after the last one if all are right. So a round
    writes one token more than it accepts. The next round begins behind it. A round that does not fit into the rest of
    the text, with all k drafts and the target's own token, is not begun.

    Args:
        right: of each token of the text, whether the draft would guess it.
        draft_length: k; an integer >= 0.

    Source: Leviathan, Kalman and Matias (2023), arXiv:2211.17192, algorithm 1.
    """
    checks.count(0, draft_length=draft_length)
    rounds: list[int] = []
    written = 0
    while written + draft_length + 1 <= len(right):
        accepted = 0
        while accepted < draft_length and right[written + accepted]:
            accepted += 1
        rounds.append(accepted)
        written += accepted + 1
    return rounds
