"""When to use what: ways to divide training, stages of ZeRO, libraries; and a tree that leads to a first layout.

What systems do was read in November 2026; each line names what was read. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import billion
from solutions.ch05.zero import zero_memory, zero_traffic


@dataclass(frozen=True)
class Way:
    """A way to divide the training of a model.

    Attributes:
        name: of the way.
        section: where the course explains it.
        divides: what each rank has a part of.
        use: when it helps.
        avoid: when it does not.
        price: what it sends, and how often.
        place: which links it needs.
    """

    name: str
    section: str
    divides: str
    use: str
    avoid: str
    price: str
    place: str


WAYS = (
    Way(
        "data parallelism (DDP)",
        "5.2",
        "the batch",
        "states and activations fit on one GPU",
        "they do not, or the batch has reached its critical size",
        "an all-reduce of the gradients a step, hidden behind the backward pass",
        "any",
    ),
    Way(
        "ZeRO, FSDP",
        "5.6",
        "the batch, and states",
        "states do not fit, and a GPU has enough tokens to hide the gathers",
        "few tokens a GPU, or many micro-batches under stage 3",
        "stage 3: two gathers of the weights, and a reduce-scatter, in each micro-batch",
        "any, if it stays hidden",
    ),
    Way(
        "tensor parallelism",
        "6.6",
        "matrices in a layer",
        "a layer or its activations are too large, or a step has too little to do",
        "it would leave the node, or heads do not divide",
        "four all-reduces of an activation a layer, which each layer waits for",
        "NVLink",
    ),
    Way(
        "sequence parallelism",
        "6.5",
        "the rest of the layer, by tokens",
        "always with tensor parallelism",
        "without it",
        "the same bytes; some more where inputs are gathered again",
        "NVLink",
    ),
    Way(
        "context parallelism",
        "6.11",
        "the sequence",
        "one sequence's activations do not fit: from tens of thousands of tokens on",
        "short sequences",
        "keys and values around a ring, in each layer",
        "fast; it may cross nodes when sequences are long",
    ),
    Way(
        "pipeline parallelism",
        "7.4",
        "layers",
        "tensor parallelism ends at the node, and gathers would not be hidden",
        "fewer than four micro-batches a stage",
        "one activation and one gradient a boundary and micro-batch, and the bubble",
        "slow ones will do",
    ),
    Way(
        "expert parallelism",
        "7.10",
        "experts",
        "a mixture of experts",
        "a dense model",
        "two all-to-alls a layer each way, as slow as the busiest rank",
        "NVLink first, then the network",
    ),
    Way(
        "recomputation",
        "6.8",
        "nothing: it forgets",
        "activations do not fit and everything else is done",
        "memory is left: full recomputation adds a forward pass",
        "no bytes; up to a third more work",
        "none",
    ),
)


@dataclass(frozen=True)
class Stage:
    """A stage of ZeRO: its names in libraries, and when to take it. What it holds and sends is computed."""

    number: int
    names: str
    use: str

    @property
    def held(self) -> float:
        """Bytes of states on a GPU: 70 billion parameters on 64 GPUs."""
        return zero_memory(70 * billion, self.number, 64)

    def sent(self, micro_steps: int) -> float:
        """Bytes that a rank sends in a step, against plain data parallelism."""
        one, plain = (zero_traffic(70 * billion, stage, 64, micro_steps=micro_steps) for stage in (self.number, 0))
        return one / plain


STAGES = (
    Stage(0, "DDP; Megatron `no_shard`", "everything fits"),
    Stage(1, "Megatron's distributed optimizer, `optim`; DeepSpeed stage 1", "first, and with a pipeline"),
    Stage(2, "Megatron `optim_grads`; DeepSpeed stage 2", "one micro-step, gradients too large"),
    Stage(3, "`fully_shard`; Megatron `optim_grads_params`; DeepSpeed stage 3", "weights do not fit whole"),
)


@dataclass(frozen=True)
class Library:
    """A library that trains.

    Attributes:
        name: of the library.
        divides: the ways that it offers.
        use: when to take it.
        price: what one takes on with it.
        read: what was read, with its version or date.
    """

    name: str
    divides: str
    use: str
    price: str
    read: str


LIBRARIES = (
    Library(
        "DDP",
        "the batch",
        "the model fits on a GPU",
        "one wrapper",
        "PyTorch 2.13, `torch.nn.parallel.DistributedDataParallel`",
    ),
    Library(
        "FSDP2",
        "the batch and states; with DTensor and a mesh also tensors",
        "the model does not fit, and the loop is your own",
        "blocks are sharded by hand; sharded saving takes `torch.distributed.checkpoint`",
        "PyTorch 2.13, `torch.distributed.fsdp.fully_shard`",
    ),
    Library(
        "DeepSpeed",
        "states (ZeRO 0 to 3), to the host and NVMe too; tensors, up to stage 2 (AutoTP); sequences (Ulysses); layers; "
        "experts",
        "Hugging Face's trainers, or states that must leave the GPU",
        "its engine takes over backward and step; a JSON file",
        "deepspeed.ai tutorials, Automatic Tensor Parallelism (Training), and repository, 2026",
    ),
    Library(
        "Megatron-LM, Megatron Core",
        "batch, states (Megatron-FSDP), tensors, sequences, layers, experts",
        "hundreds of GPUs, or mixtures of experts, at the highest utilization",
        "models in its own building blocks; many settings",
        "Megatron Core 0.18 developer guide, Parallelism Strategies Guide, 2026",
    ),
    Library(
        "torchtitan",
        "states (FSDP2), tensors (also asynchronous), layers, sequences, experts",
        "pre-training in plain PyTorch that you want to read and change",
        "a new model needs its plan of parallelism; it moves with PyTorch's nightlies",
        "torchtitan README and package page, v0.2, 2026",
    ),
)


@dataclass(frozen=True)
class Question:
    """A fork of the tree: what to do if the answer is yes; if it is no, the next question comes.

    Attributes:
        text: a question about a job.
        then: what to do if it is answered with yes.
        section: where that is explained.
    """

    text: str
    then: str
    section: str


#: From the top: the first "yes" gives the layout. What is named above it stays in place.
TREE = (
    Question("Do states and activations fit on one GPU?", "DDP alone", "5.2"),
    Question("Sliced over all GPUs, do they fit, with the gathers hidden?", "ZeRO-3: fully_shard", "5.7"),
    Question("Do they fit if a node's GPUs share each layer?", "TP and SP in the node, ZeRO across", "6.9"),
    Question("Is it one long sequence that does not fit?", "add context parallelism", "6.11"),
    Question("Is it a mixture, whose experts do not fit?", "add expert parallelism", "7.10"),
    Question("Are there four micro-batches or more for each stage?", "add a pipeline between nodes", "7.12"),
    Question("Would it fit without what is kept for the backward pass?", "recompute, selectively first", "6.8"),
)
#: What is left when every answer is no.
LAST = "more GPUs, or a smaller model"


def decide(answers: tuple[bool, ...]) -> str:
    """What the tree says for answers from the top; answers after the first yes do not count.

    >>> decide((False, True))
    'ZeRO-3: fully_shard'

    Raises:
        ValueError: no answer is yes, and not all questions are answered.
    """
    for question, answer in zip(TREE, answers, strict=False):
        if answer:
            return question.then
    if len(answers) < len(TREE):
        raise ValueError(f"answers must hold a yes or {len(TREE)} answers, got {answers!r}")
    return LAST
