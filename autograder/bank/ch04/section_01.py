"""Section 4.1, Links: its questions."""

from __future__ import annotations

from autograder.bank.ch04.quantities import NVLINK, PORT
from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.units import GB

WEIGHTS = 140 * GB


QUESTIONS = (
    Estimate(
        id="04-fetch-once",
        title="How soon do eight GPUs have the weights of a 70B model?",
        section="4.1",
        label="140 GB from another node, on all eight GPUs",
        unit="s",
        answer=lambda: WEIGHTS / 8 / PORT + 7 / 8 * WEIGHTS / NVLINK,
        factor=2.0,
        scale=(1e-2, 1e3),
        landmarks=(
            Landmark(0.31, "0.31 s", "140 GB over one NVLink"),
            Landmark(2.8, "2.8 s", "140 GB over one port"),
            Landmark(60.0, "1 min", "140 GB at 2.3 GB/s"),
        ),
        slips=(
            Slip(
                "That is the time if each GPU fetches everything through its own port: every byte crosses the network "
                "eight times.",
                value=lambda: WEIGHTS / PORT,
            ),
            Slip(
                "That fetches eight copies through one port. The node has a port for each GPU, and one copy is enough.",
                value=lambda: 8 * WEIGHTS / PORT,
            ),
            Slip(
                "That counts both directions of all ports. The weights travel one way.",
                value=lambda: WEIGHTS / 16 / PORT,
            ),
        ),
        derivation=(
            "Together the eight ports move 400 GB/s. If each GPU fetches a different eighth of the weights, the "
            "network carries every byte once. Then the GPUs exchange their eighths over NVLink, which is nine times "
            "as fast: each receives seven eighths of 140 GB at 450 GB/s. One after the other, the two times add "
            "up. In many chunks they overlap, and together they take little more than the network alone."
        ),
    ),
)
