"""Chapter 04: sizes to estimate before a formula can be used."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.hardware import DGX_H100, NVLINK4
from rankzero.facts.units import GB, MB, TFLOP, billion, us

algorithms = lazily("solutions.ch04.all_reduce_algorithms")

WEIGHTS = 140 * GB
PORT, NVLINK = DGX_H100.port.bandwidth, NVLINK4.bandwidth
ALPHA, RATE = 5 * us, 495 * TFLOP


def seconds(name: str, *arguments: float) -> float:
    """Time of an all-reduce, seconds."""
    return algorithms.all_reduce_time(name, *arguments)


def levels(size: float, inside: float = 1.0) -> float:
    """Seconds of two levels on 8 nodes of 8 GPUs; ``inside`` scales the part inside the nodes."""
    return inside * seconds("ring", size, 8, NVLINK) + seconds("ring", size / 8, 8, PORT)


def balanced(flops: int, size: float = 20 * GB) -> float:
    """Tokens whose computation takes as long as the two-level all-reduce of the gradients of 10 billion parameters."""
    return levels(size) * RATE / (flops * 10 * billion)


ESTIMATES = (
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
                "That sums up both directions of all links. The weights travel one way.",
                value=lambda: WEIGHTS / 16 / PORT,
            ),
        ),
        derivation=(
            "Together the eight ports move 400 GB/s. If each GPU fetches a different eighth of the weights, the "
            "network carries every byte once. Then the GPUs exchange their eighths over NVLink, which is nine times "
            "as fast: each receives seven eighths of 140 GB at 450 GB/s."
        ),
    ),
    Estimate(
        id="04-small-big-world",
        title="When does a ring of 1,024 ranks stop waiting for start-ups?",
        section="4.2",
        label="size at which bytes and start-ups take equally long: 1,024 ranks, 50 GB/s, 5 µs per message",
        unit="MB",
        answer=lambda: 1024 * ALPHA * 50 * GB / MB,
        factor=1.5,
        scale=(1e-2, 1e5),
        landmarks=(
            Landmark(1.0, "1 MB", "the same for four ranks"),
            Landmark(20.0, "20 MB", "gradients of 10 million parameters, bf16"),
            Landmark(8e3, "8 GB", "the gradients of this section"),
        ),
        slips=(
            Slip(
                "That is the size of one message. The tensor is cut into 1,024 of them.",
                value=lambda: ALPHA * 50 * GB / MB,
            ),
            Slip(
                "That is the size for four ranks. More ranks cut the tensor into smaller messages.",
                value=1.0,
            ),
            Slip(
                "That adds up all 2,046 messages of a rank. A message carries a 1,024th of the tensor, and each chunk "
                "travels twice, once to add and once to hand out.",
                value=lambda: 2046 * ALPHA * 50 * GB / MB,
            ),
        ),
        derivation=(
            "Starting a message takes 5 µs, in which the link could carry 250 KB. So the two take equally long when a "
            "message carries 250 KB, as in the picture. But with 1,024 ranks a message is a 1,024th of the tensor."
        ),
    ),
    Estimate(
        id="04-crossover",
        title="Where does the ring overtake two trees?",
        section="4.4",
        label="size above which the ring is faster: 64 ranks, 50 GB/s, 5 µs, chunks without start-ups",
        unit="MB",
        answer=lambda: algorithms.crossover_bytes(64, 50 * GB, ALPHA) / MB,
        factor=2.5,
        scale=(1e-3, 1e6),
        landmarks=(
            Landmark(0.256, "256 kB", "a figure often quoted"),
            Landmark(1e3, "1 GB", "gradients of half a billion parameters, bf16"),
            Landmark(1e6, "1 TB", "more than any model's gradients"),
        ),
        slips=(
            Slip(
                "That figure comes from another machine: here the tree saves 114 start-ups, and each of them is worth "
                "250 KB on the wire.",
                value=0.256,
            ),
            Slip(
                "The ring sends only a 64th of S less than two trees, in each direction. Saving so little takes a "
                "large tensor to pay for 114 start-ups.",
                value=lambda: algorithms.crossover_bytes(64, 50 * GB, ALPHA) / 64 / MB,
            ),
            Slip(
                "That is the size for one tree of whole tensors. Two trees send far fewer bytes, so they stay ahead "
                "for longer.",
                value=lambda: algorithms.crossover_bytes(64, 50 * GB, ALPHA, "tree") / MB,
            ),
        ),
        derivation=(
            "The ring starts $2 \\cdot 63$ messages and the trees $2 \\cdot 6$, so the trees save 114 start-ups of 5 "
            "µs, or 570 µs. The ring puts $2 \\cdot \\frac{63}{64} S$ on the wire and the trees $2S$, so the ring "
            "saves $\\frac{2}{64} S$. At 50 GB/s, which S makes that worth 570 µs?"
        ),
    ),
    Estimate(
        id="04-cross-node",
        title="How long does 20 GB take across eight nodes?",
        section="4.5",
        label="an all-reduce in levels: 8 nodes of 8 GPUs, 450 GB/s inside, a port of 50 GB/s for each GPU",
        unit="s",
        answer=lambda: levels(20 * GB),
        factor=1.25,
        scale=(1e-3, 10.0),
        landmarks=(
            Landmark(44e-3, "44 ms", "20 GB over one NVLink"),
            Landmark(0.4, "0.4 s", "20 GB over one port"),
        ),
        slips=(
            Slip(
                "That is the part across the nodes alone, or a ring of 64 GPUs as if one NVLink joined them all. The "
                "reduce-scatter and the all-gather inside take nearly as long again.",
                value=lambda: levels(20 * GB, 0.0),
            ),
            Slip(
                "That sends all 20 GB through every port. After the reduce-scatter a GPU has only an eighth to send.",
                value=lambda: seconds("ring", 20 * GB, 8, PORT) + seconds("ring", 20 * GB, 8, NVLINK),
            ),
        ),
        derivation=(
            "Inside: a reduce-scatter and an all-gather among 8 GPUs move $2 \\cdot \\frac78 \\cdot 20$ GB at 450 "
            "GB/s. Across: each GPU all-reduces its eighth, 2.5 GB, with seven partners over its own port, $2 \\cdot "
            "\\frac78 \\cdot 2.5$ GB at 50 GB/s. The two parts come one after the other."
        ),
    ),
    Estimate(
        id="04-tokens-to-balance",
        title="How many tokens pay for the all-reduce?",
        section="4.8",
        label="tokens per GPU per step at which computation takes as long as communication",
        unit="tokens",
        answer=lambda: balanced(6),
        factor=1.6,
        scale=(10.0, 1e6),
        landmarks=(
            Landmark(100.0, "100", "a paragraph"),
            Landmark(4096.0, "4,096", "one long sequence"),
            Landmark(1e5, "100,000", "a large batch"),
        ),
        slips=(
            Slip(
                "That counts the forward pass alone: forward and backward together take 6 FLOP per parameter and "
                "token.",
                value=lambda: balanced(2),
            ),
            Slip("That sends 4 bytes per parameter: bf16 gradients have 2.", value=lambda: balanced(6, 40 * GB)),
            Slip(
                "That is the balance inside one node, without the network.",
                value=lambda: seconds("ring", 20 * GB, 8, NVLINK) * RATE / (6 * 10 * billion),
            ),
        ),
        derivation=(
            "One token costs $6 \\cdot 10^{10}$ FLOP, so a GPU that achieves $495 \\cdot 10^{12}$ FLOP/s computes "
            "about 8 tokens per millisecond. How many does it compute while the 20 GB of gradients are all-reduced in "
            "165 ms?"
        ),
    ),
)
