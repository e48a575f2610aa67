"""Chapter 07: four training jobs to lay out, and for each a question about the reason behind the best layouts."""

from __future__ import annotations

from autograder.bank.ch07.designs_judged import Task
from autograder.items import Axis, Choice, Design, Knob
from rankzero.facts.hardware import A100_SXM, DGX_H100, ETHERNET_100G, Node
from rankzero.facts.layouts import Job
from rankzero.facts.models import LLAMA2_13B, LLAMA3_8B, LLAMA3_70B, MIXTRAL_8X7B, Model

AXES = (Axis("time of a step", "s"), Axis("memory of a GPU", "GB"))

#: The section of each job, and the jobs that are beyond the path.
SECTIONS = {"70b": "7.12", "moe": "7.26", "long": "7.26", "slow": "7.26"}
DEEPER: frozenset[str] = frozenset({"moe", "long", "slow"})

#: Eight A100s behind a single port of 100 Gb/s.
SLOW_NODE = Node("eight A100s behind one port", A100_SXM, 8, ETHERNET_100G, 1, "its parts")


def job_on(node: Node, model: Model, gpus: int, batch: int, sequence: int) -> Job:
    """A job on nodes of one kind, with the figures of their data sheets."""
    return Job(
        model,
        gpus,
        batch,
        sequence,
        gpu_memory=node.gpu.memory,
        peak=node.gpu.peak_bf16,
        gpus_per_node=node.gpus,
        node_bandwidth=node.gpu.nvlink.bandwidth,
        network_bandwidth=node.network_bandwidth_per_gpu,
    )


def _sizes(name: str, meaning: str, *options: int) -> Knob:
    return Knob(name, f"{meaning} (`{name}`)", options)


ZERO = _sizes("zero", "ZeRO stage", 1, 3)
RECOMPUTE = _sizes("recompute", "recomputation: 0 no, 1 yes", 0, 1)

DENSE = Task(
    job_on(DGX_H100, LLAMA3_70B, 64, 1024, 4096),
    64.0,
    (_sizes("tp", "TP", 1, 2, 4, 8, 16), _sizes("pp", "PP", 1, 2, 4, 8, 16), ZERO, RECOMPUTE),
)
MIXTURE = Task(
    job_on(DGX_H100, MIXTRAL_8X7B, 64, 1024, 4096),
    11.0,
    (_sizes("tp", "TP", 1, 2, 4, 8), _sizes("pp", "PP", 1, 2, 4), _sizes("ep", "EP", 1, 2, 4, 8, 16), ZERO),
)
LONG = Task(
    job_on(DGX_H100, LLAMA3_8B, 64, 32, 131_072),
    22.0,
    (
        _sizes("tp", "TP", 1, 2, 4, 8),
        _sizes("cp", "CP", 1, 2, 4, 8, 16, 32, 64),
        _sizes("pp", "PP", 1, 2),
        RECOMPUTE,
    ),
)
SLOW = Task(
    job_on(SLOW_NODE, LLAMA2_13B, 64, 512, 4096),
    20.0,
    (
        _sizes("tp", "TP", 1, 2, 4, 8, 16),
        _sizes("pp", "PP", 1, 2, 4, 8, 16),
        ZERO,
        _sizes("replicas_inside", "neighbors beside TP: 0 stages, 1 replicas", 0, 1),
    ),
)


def _design(name: str, title: str, task: Task, derivation: str) -> Design:
    """The card of a job: what can be chosen, and the two costs that a layout is judged by."""
    return Design(
        id=f"07-design-{name}",
        title=title,
        section=SECTIONS[name],
        knobs=task.knobs,
        axes=AXES,
        simulate=task.simulate,
        derivation=derivation,
        bonus=name in DEEPER,
    )


def _reason(name: str, title: str, options: tuple[str, ...], derivation: str, slips: dict[int, str]) -> Choice:
    """A question about a job whose options are reasons; the first is right."""
    return Choice(
        id=f"07-reason-{name}",
        kind="design",
        title=title,
        section=SECTIONS[name],
        options=options,
        correct=0,
        derivation=derivation,
        slips=slips,
        bonus=name in DEEPER,
    )


DESIGNS = (
    _design(
        "70b",
        "Lay out Llama 3 70B on 64 GPUs",
        DENSE,
        "Start with memory. ZeRO-1 leaves 4 bytes per parameter on every replica, so the states fit only if TP and PP "
        "divide the model by eight or more. ZeRO-3 divides nearly all of them by 64, whatever TP and PP are. "
        "Activations come on top: without recomputation, those of a single sequence do not fit with TP 1, and with TP "
        "2 just fit under ZeRO-3, on at most two stages."
        "\n\n"
        "Then time. The messages of TP 2 take little, those of TP 4 three times as long, and those of TP 16 leave the "
        "node. Recomputation adds a third to the model's own operations, and in return a GPU needs the least memory. "
        "Stages idle only briefly here, because a replica has many micro-batches. But ZeRO-3 sends weights and "
        "gradients in every one of them, and a stage has less computing to hide them behind. Recomputation or TP 8 can "
        "hide them, and then takes the time itself, so stages that fit under ZeRO-3 are too slow. Sixteen stages are "
        "slow for another reason: the last one has the output head, the vocabulary's matrix, in addition to its "
        "layers.",
    ),
    _design(
        "moe",
        "Lay out a mixture of experts on 64 GPUs",
        MIXTURE,
        "Nearly all parameters are experts, so EP does what TP does for a dense model: it divides what fills the "
        "memory. An all-to-all sends each token once for each of its experts, which is cheap on NVLink and slow on the "
        "network. TP comes first in the numbering, so TP times EP should stay within a node of eight."
        "\n\n"
        "With two stages, EP 4 or 8 makes ZeRO-1 fit. ZeRO-3 pays with EP 8, which leaves a GPU one expert of each "
        "layer to gather: with EP 4 or less, its messages take longer than the computing that could hide them. TP 2 or "
        "4 with stages is slower but leaves room for activations.",
    ),
    _design(
        "long",
        "Lay out sequences of 131,072 tokens",
        LONG,
        "The model is small and its activations are not: TP times CP has to divide them by sixteen or more, unless "
        "the layers are recomputed, which takes longer than all messages of the best layouts together. It remains to "
        "choose how much of the sixteen is TP and how much is CP. It cannot all be CP: with ZeRO-1, only TP and "
        "stages divide weights and gradients. Undivided they leave too little room, and two stages with CP 16 are too "
        "slow."
        "\n\n"
        "TP all-reduces the whole activation in every layer and must stay inside the node; CP passes on keys and "
        "values only, which grouped-query attention keeps small, and may leave it. Together they gain: TP divides the "
        "key-value heads, so each ring of CP carries less. Sixteen GPUs for a sequence leave DP 4 at most, and "
        "with 32 sequences a pipeline has few micro-batches to fill it.",
    ),
    _design(
        "slow",
        "Lay out 13B behind slow links",
        SLOW,
        "A GPU's share of the port is about a two-hundredth of its NVLink bandwidth. Weights that cross it in every "
        "micro-batch, as in ZeRO-3, do not pay, nor would TP beyond the node, which the 40 heads rule out "
        "anyway. What may cross is an activation between two stages, or gradients once a step."
        "\n\n"
        "With replicas inside a node and stages across nodes, gradients are first reduced on NVLink, and the ports "
        "carry only the sums. The best layouts have two or four stages: with more of them the ports carry more "
        "activations, with fewer more gradients. TP 8 fills the node by itself, and then the order of the others does "
        "not matter.",
    ),
)

REASONS = (
    _reason(
        "70b",
        "Fewer weights to gather, and slower",
        (
            "A stage gathers a quarter of the weights through a quarter of the ports, and has a quarter of the "
            "computing to hide it behind.",
            "Four stages wait for one another at the start and at the end of every step, and that idle time is most "
            "of the difference.",
            "ZeRO-3 and a pipeline cannot be combined: every stage has to gather the weights of the other stages, too.",
            "With four stages a replica takes a whole node, so that the all-reduces of TP 2 have to cross the network.",
        ),
        "With TP 2 a replica takes 2 of a node's 8 GPUs, so four of a group's 32 members share a node, and the group "
        "has four ports there. With PP 4 as well, a replica fills the node: each of a group's 8 members is in a "
        "different node, with a single port. So gathering a quarter of the weights still takes more than two thirds of "
        "the time. And a replica now runs 128 micro-batches instead of 32, each with a quarter of the computing to "
        "hide a gather behind. (Her pipeline also exceeds the card's memory limit, by half a GB. Two stages would not, "
        "and are too slow as well.)",
        {
            1: "Idle time is $(p-1)/m$ of the work, and a replica has 128 micro-batches for its four stages.",
            2: "A stage gathers its own layers only. The two can be combined, but the weights travel in every "
            "micro-batch.",
            3: "TP is the innermost axis: its two ranks are neighbors in one node, however many stages there are.",
        },
    ),
    _reason(
        "moe",
        "The same EP 8, several times slower",
        (
            "TP comes first in the numbering, so TP 2 and EP 8 together span two nodes, and half of the tokens cross "
            "the network.",
            "TP 2 divides every expert between two ranks, so each token has to be sent to twice as many ranks as with "
            "TP 1.",
            "TP 2 leaves half as many replicas, so each of them has to exchange the tokens of twice as many "
            "micro-batches.",
            "TP 2 adds all-reduces of its own, and they compete with the all-to-alls for the same NVLink bandwidth "
            "inside the node.",
        ),
        "The ranks of one EP group are two apart when TP is 2, so four of the eight are in another node. An all-to-all "
        "ends when its slowest part does, and that is the part on the network.",
        {
            1: "Each TP rank sends half of every token's activation, so the bytes per rank do not grow.",
            2: "There are twice as many micro-batches per replica, and each rank sends half as much of each: the bytes "
            "are the same.",
            3: "The two do not run at the same time, and the all-reduces of TP 2 account for little of the difference.",
        },
    ),
    _reason(
        "long",
        "TP 4 with CP 4, or CP 16 alone",
        (
            "TP 4 divides the key-value heads among four rings, and every ring has a network port of its own.",
            "CP 16 leaves each rank so few tokens that the GPU's matrix units are no longer busy with them.",
            "CP divides attention only, so the activations of the feed-forward blocks stay whole on all 16 ranks.",
            "CP 16 makes every rank gather the weights of the model sixteen times, once for each part.",
        ),
        "Both divide the activations by sixteen, and in both the ring crosses a node boundary. A ring is as fast as "
        "its slowest link, a single port. With CP alone that port carries all key-value heads; with TP 4 there are "
        "four rings, each with a quarter of the heads and a port of its own.",
        {
            1: "8,192 tokens per rank are plenty: short-sequence training runs with fewer.",
            2: "CP divides the tokens, and with them the activations of every block. Only attention has to exchange "
            "anything.",
            3: "CP exchanges keys and values. Weights do not depend on the sequence, and every rank has them.",
        },
    ),
    _reason(
        "slow",
        "Neighbors behind a slow port",
        (
            "replicas, because reducing gradients inside the node first saves the port more bytes than stages add",
            "stages, because they send in every micro-batch, and what is sent most often belongs inside the node",
            "stages, because gradients are sent only once a step and hide behind the last backward pass anyway",
            "either, because the same eight GPUs share a port in both orders, and the same bytes go through it",
        ),
        "When several replicas share a node, they first add up their gradients on NVLink, and each port carries only "
        "its share of the sums. In return an activation and its gradient go through the port for every micro-batch, "
        "and these are small: their size does not depend on the number of parameters.",
        {
            1: "Often is not much: the activations of a whole step are fewer bytes than the gradients that no longer "
            "cross.",
            2: "Part of them hides, but the port needs much longer for them than that backward pass takes.",
            3: "Gradients that are added up inside the node cross once for all its replicas, and not once for each.",
        },
    ),
)

QUESTIONS = tuple(item for pair in zip(DESIGNS, REASONS, strict=True) for item in pair)
