"""Lists of items by where they come from, and the questions that cannot be asked away from their page.

*Your course* offers them (``tools/course/data.py``): a list is asked in one sitting, and what is asked at random stands
on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class SourceList:
    """Items that belong together.

    Attributes:
        name: a word, for scripts.
        title: what readers see, behind the number of items.
        topics: the ids of the items, by topic.
    """

    name: str
    title: str
    topics: Mapping[str, tuple[str, ...]]

    @property
    def ids(self) -> tuple[str, ...]:
        """All of its items, topic after topic."""
        return tuple(identifier for topic in self.topics.values() for identifier in topic)


#: What every engineer of large training runs has worked out once, by hand: ten topics in the order of a workbook.
CLASSIC = SourceList(
    "classic",
    "classic calculations",
    {
        "all-reduce": (
            "03-eight-gpus-volume",
            "03-ring-ms",
            "04-utilization",
            "04-ring-tree",
            "03-ring-all-reduce-time",
            "03-debug-double",
        ),
        "memory under ZeRO": (
            "05-states",
            "05-zero-7b",
            "05-zero1-70b",
            "05-zero3-traffic",
            "05-zero-30b",
            "05-zero-memory",
        ),
        "gradient accumulation": (
            "05-accumulate",
            "05-effective-batch",
            "05-accumulation-steps",
            "05-accumulated-step-time",
        ),
        "batch size and learning rate": (
            "05-lr-rule",
            "05-scaled-learning-rate",
            "05-why-warm-up",
            "05-critical",
            "05-cosine-end",
        ),
        "overlap and levels": (
            "05-hidden-share",
            "04-64-gpus-naive",
            "04-cross-node",
            "04-compute-ratio",
            "04-communication-ratio",
        ),
        "pipelines": (
            "07-two-bubbles",
            "07-in-flight",
            "07-interleaved",
            "07-p2p-total",
            "07-debug-fraction",
            "07-min-microbatches",
        ),
        "tensor parallelism": (
            "06-shapes",
            "06-bytes",
            "06-weights",
            "06-gqa",
            "06-overhead",
            "06-microbatch",
        ),
        "checkpoints": (
            "cap-70b-size",
            "cap-70b-write",
            "cap-young",
            "cap-crash",
            "cap-optimal-checkpoint-interval",
        ),
        "number formats and loss scaling": (
            "05-fp16-edge",
            "05-scale-trace",
            "05-dynamic-loss-scale",
            "05-loss-scaler",
            "05-fp8-activations",
            "05-fp8-which-way",
        ),
        "a run of 405 billion parameters": (
            "cap-dp",
            "cap-stages",
            "cap-weights",
            "cap-pfdays",
            "cap-days-40",
            "cap-bubble",
            "cap-dp-traffic",
            "cap-order",
            "cap-kwh",
        ),
    },
)

LISTS = (CLASSIC,)

#: Questions about a picture, a program or a run that only their section shows: they are not asked at random elsewhere.
ON_ITS_PAGE = frozenset(
    {
        *("01-nobody-first", "01-group-count", "01-counted-ratio", "02-small-or-one", "02-jump"),
        *("03-ring-order", "03-chunk-owner", "03-race", "03-beats-the-ring", "03-bits"),
        *("03-duplex", "03-ring-latency-share", "04-busbw-above", "04-fit-bends", "04-cube-mesh"),
        *("04-numa", "04-tree-bytes", "04-shots", "05-no-broadcast", "05-same-training"),
        *("05-profile-first", "05-profile-gap", "05-profile-hidden", "05-profile-one-bucket", "05-profile-slow-rank"),
        *("05-set-epoch", "05-wrap", "06-missing-f", "06-replicas", "06-sequence-free"),
        *("06-overhead", "06-causal-ring", "06-links", "06-time-share", "07-twice-as-many"),
        *("07-send-or-isend", "07-reason-70b", "07-advisor-worst", "07-naive-split", "07-p2p-time"),
        *("07-reason-moe", "07-reason-long", "07-reason-slow", "08-halve-bytes", "08-itl-p99"),
        *("08-near-capacity", "08-top-p-edge", "08-growing-stage", "08-one-by-one", "09-tp16"),
        *("09-fp8-room", "09-which-waste", "09-times-zero", "09-reason", "09-fp8"),
        *("10-reason", "10-when-split", "10-launches-guess", "10-ahead-step", "10-one-of-two"),
        *("11-wrong-residual", "11-notice", "11-mask-not-condition", "11-reason", "12-forty-batches"),
        *("12-plus-ten", "12-best-mark", "12-critic-error", "12-reuse", "12-four-loops"),
        *("12-first-minibatch", "13-noisy-labels", "13-unshifted", "13-right-loss", "13-eleven-faults"),
        *("13-beta-zero", "13-reason-budget", "13-find-beta", "13-grpo-one", "13-dpo-models"),
        *("13-dpo-chosen", "13-rare-word", "13-paid-by-step", "13-distil-pay", "13-node-cut"),
        *("13-node-fit", "13-node-generate", "13-node-tokens", "14-decode-guess", "14-leaves"),
        *("14-torn", "14-no-tail", "14-evidence", "14-gate-bound", "14-lag-four"),
        *("14-bound-four", "14-reason-place", "14-reason-lag", "14-hybrid-saving", "14-overlap"),
        *("14-lag-free", "14-design-64", "14-pool-room", "14-gain-over-batch", "14-replayed"),
        *("14-agent-mask", "cap-gqa-layer", "cap-reshard-reads", "cap-async"),
    }
)
