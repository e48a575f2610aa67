"""Section 4.11, Read a machine: its questions."""

from __future__ import annotations

from collections.abc import Callable

from autograder.bank.ch04.shared import cube_mesh, names
from autograder.items import Choice, Estimate, Landmark, Part, Question, Slip, lazily
from rankzero.facts.hardware import NVLINK2, NVLINK3, NVLINK4, PCIE3, PCIE5
from rankzero.facts.units import GB, ms

algorithms = lazily("solutions.ch04.all_reduce_algorithms")

NV2 = 2 * NVLINK2.bandwidth / NVLINK2.links
ORDER = names(8)


def _hops(ring: list[str]) -> list[str]:
    """The codes of a ring's hops in the cube mesh."""
    return [cube_mesh()[a][b] for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]


def _ring_ms(bandwidth: float) -> Callable[[], float]:
    return lambda: algorithms.all_reduce_time("ring", 1 * GB, 8, bandwidth) / ms


def _unlinked() -> int:
    """Pairs of the cube mesh without NVLink."""
    return sum(not code.startswith("NV") for row in cube_mesh().values() for code in row.values()) // 2


QUESTIONS = (
    Question(
        id="04-hardware-rate",
        kind="derive",
        title="What NV12 means",
        section="4.11",
        bonus=True,
        ask="per direction",
        unit="GB/s",
        answer=lambda: NVLINK3.bandwidth / GB,
        slips=(
            Slip("That is the sum of both directions.", value=2 * NVLINK3.bandwidth / GB),
            Slip("That is one of the twelve links.", value=NVLINK3.bandwidth / NVLINK3.links / GB),
            Slip("That takes 20 GB/s for a link: an A100's links carry 25 each way.", value=12 * 20),
        ),
        derivation="Twelve links are bonded, and a link of an A100 carries 25 GB/s in each direction.",
    ),
    Question(
        id="04-cube-mesh",
        kind="trace",
        title="A matrix of eight GPUs",
        section="4.11",
        bonus=True,
        parts=(
            Part(
                "pairs without NVLink",
                "pairs",
                _unlinked,
                tolerance=0,
                slips=(
                    Slip("Not all pairs have an NVLink: look for SYS.", value=0),
                    Slip("The matrix holds each pair twice.", value=lambda: 2 * _unlinked()),
                ),
            ),
            Part(
                "SYS hops in the ring 0-1-2-...-7",
                "hops",
                lambda: _hops(ORDER).count("SYS"),
                tolerance=0,
                slips=(
                    Slip("The ring also goes back from GPU7 to GPU0.", value=1),
                    Slip("Not all pairs have an NVLink: look at 3 to 4, and at the way back.", value=0),
                ),
            ),
        ),
        derivation="Count the SYS entries above the diagonal. Then walk the ring: neighbors of one half have links, "
        "the hops from one half to the other do not; the way back is one of them.",
    ),
    Question(
        id="04-slowest-hop",
        kind="derive",
        title="A ring is as fast as its slowest hop",
        section="4.11",
        bonus=True,
        parts=(
            Part(
                "through SYS",
                "ms",
                _ring_ms(PCIE3.bandwidth),
                slips=(
                    Slip(
                        "That takes the mean over the hops: every step waits for the slowest one.",
                        value=lambda: _ring_ms((2 * PCIE3.bandwidth + 2 * NV2 / 2 + 4 * NV2) / 8)(),
                    ),
                ),
            ),
            Part(
                "double links alone",
                "ms",
                _ring_ms(NV2),
                slips=(Slip("That is one link of 25 GB/s: NV2 bonds two.", value=_ring_ms(NV2 / 2)),),
            ),
        ),
        derivation="$\\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 8$, $S = 1$ GB, and for $B$ the slowest hop of "
        "the ring: 15.75 GB/s through SYS, 50 GB/s over NV2.",
    ),
    Estimate(
        id="04-nvlink-pcie",
        title="NVLink beside PCIe",
        section="4.11",
        bonus=True,
        label="bus bandwidth over NVLink 4, over that through PCIe 5",
        unit="times",
        answer=lambda: NVLINK4.bandwidth / PCIE5.bandwidth,
        factor=1.5,
        scale=(1.0, 100.0),
        landmarks=(
            Landmark(2.0, "2", "one generation of PCIe and the next"),
            Landmark(18.0, "18", "the NVLinks of an H100"),
        ),
        slips=(
            Slip(
                "That compares both directions of NVLink with one of PCIe: data sheets print the sum for NVLink.",
                value=2 * NVLINK4.bandwidth / PCIE5.bandwidth,
            ),
            Slip(
                "That compares one direction of NVLink with the sum of both of PCIe.",
                value=NVLINK4.bandwidth / (2 * PCIE5.bandwidth),
            ),
        ),
        derivation=(
            "Between two ranks each sends $2 \\cdot \\frac12 S = S$ bytes, whatever the link, and 256 MiB are enough "
            "for start-ups not to count. So the factor is that of the links, 450 GB/s to 63 GB/s in one direction."
        ),
    ),
    Choice(
        id="04-numa",
        kind="trace",
        title="Who drives the network card",
        section="4.11",
        bonus=True,
        options=(
            "one whose GPU's row says PIX or PXB for NIC0",
            "the one of GPU1, from cores 32-63",
            "any: all reach NIC0",
            "one whose GPU has the most NVLinks",
        ),
        correct=0,
        derivation="SYS is the way through both processors, and cores 32-63 belong to the other one. PIX and PXB stay "
        "below one host bridge: data goes from the GPU to the card without passing a processor.",
        slips={
            1: "SYS is the farthest of all codes: its data crosses the link between the processors.",
            2: "All reach it, at different rates: through SYS a card is far slower.",
            3: "NVLinks join GPUs; the way to a card is PCIe.",
        },
    ),
)
