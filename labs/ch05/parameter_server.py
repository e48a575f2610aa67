# Generated from solutions/ch05/parameter_server.py by make stubs. Write the bodies; names and signatures stay.
"""A parameter server's state: weights that workers pull, and push gradients to when they have one.

>>> server = ParameterServer([1.0, 2.0], learning_rate=0.5)
>>> version, weights = server.pull()
>>> server.push(version, [1.0, 0.0])
0
>>> server.pull()
(1, [0.5, 2.0])

Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


class ParameterServer:
    """Weights that workers pull, and push gradients to without waiting for each other.

    Each gradient that is used makes the next version of the weights. The staleness of a gradient is the newest version
    minus that of the weights it was computed with.

    Args:
        weights: version 0; finite.
        learning_rate: of each update; not negative.
        max_staleness: a gradient with more is not used; not negative.

    Source: Dean et al. (2012), NIPS, section 4.1; it uses every gradient.
    """

    def __init__(self, weights: Sequence[float], learning_rate: float, max_staleness: int = 1000) -> None:
        checks.finite(weights=list(weights))
        checks.amount(learning_rate=learning_rate)
        checks.count(0, max_staleness=max_staleness)
        raise NotImplementedError("05-parameter-server: not written yet")

    def pull(self) -> tuple[int, list[float]]:
        """The newest version, and its weights in a new list, which later calls leave as it is."""
        raise NotImplementedError("05-parameter-server: not written yet")

    def push(self, version: int, gradient: Sequence[float]) -> int:
        """Take one step of SGD from the newest weights, and return the gradient's staleness.

        A gradient with too much staleness changes nothing, neither the weights nor the version.

        Args:
            version: of the weights that the gradient was computed with, as :meth:`pull` returned it; not negative.
            gradient: as many numbers as there are weights.
        """
        checks.count(0, version=version)
        raise NotImplementedError("05-parameter-server: not written yet")
