"""Section 10.2, Record once, replay many: its questions."""

from __future__ import annotations

from autograder.bank.ch10.quantities import eager
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import us

scheduling = lazily("solutions.ch10.scheduling")


def _graph(count: int, kernel: float, replay: float = 10 * us) -> float:
    return scheduling.graph_time([kernel] * count, replay)


QUESTIONS = (
    Question(
        id="10-many-small",
        kind="derive",
        title="Five hundred short kernels",
        section="10.2",
        parts=(
            Part(
                "one by one",
                "s",
                lambda: eager(500, 2 * us, 5 * us),
                slips=(
                    Slip("That adds what overlaps: kernels run while the next ones are launched.", value=3500 * us),
                    Slip("That is the time of the kernels: here the CPU is the slower side.", value=1005 * us),
                ),
            ),
            Part(
                "as one graph",
                "s",
                lambda: _graph(500, 2 * us),
                slips=(
                    Slip("That still launches the kernels one by one: a graph has one launch.", value=2500 * us),
                    Slip("The graph is launched once, not once for each kernel.", value=6000 * us),
                    Slip("The kernels still run: the graph saves their launches alone.", value=10 * us),
                    Slip("The replay itself takes its time too, once.", value=1000 * us),
                ),
            ),
        ),
        derivation="A launch takes longer than a kernel, so the CPU is the slower side: $n\\,t_l + t_k$. A graph is "
        "launched once, then its kernels follow one another: $t_r + n\\,t_k$.",
    ),
    Question(
        id="10-graph-gain",
        kind="derive",
        title="What the graph gains",
        section="10.2",
        ask="speed-up",
        unit="",
        answer=lambda: eager(500, 2 * us, 5 * us) / _graph(500, 2 * us),
        slips=(
            Slip("That adds launches and kernels, which overlap.", value=3.5),
            Slip("That leaves the launch of the graph out.", value=lambda: eager(500, 2 * us, 5 * us) / 1e-3),
        ),
        derivation="The time one by one, $n\\,t_l + t_k$, over that of the graph, $t_r + n\\,t_k$.",
    ),
    Choice(
        id="10-when-useless",
        kind="trace",
        title="A graph of longer kernels",
        section="10.2",
        options=("nothing", "1.5 times", "2 times", "3 times"),
        correct=0,
        derivation="A kernel of 10 µs takes longer than a launch of 5 µs: the launches were hidden already, all "
        "but the first. The graph's own launch takes longer than that one.",
        slips={
            1: "That adds launches to kernels: they were hidden behind them.",
            2: "The launches were hidden: the GPU was busy all the time.",
            3: "The launches were hidden: the GPU was busy all the time.",
        },
    ),
    Choice(
        id="10-stale",
        kind="trace",
        title="A new tensor under an old name",
        section="10.2",
        options=("f(zeros)", "f(new)", "zeros", "an error"),
        correct=0,
        derivation="The name `x` moved to another tensor. The graph knows no names: it reads the buffer that it was "
        "captured with, which still holds zeros.",
        slips={
            1: "The graph reads the buffer that was captured; the new tensor lies elsewhere.",
            2: "The replay computes f, of what the old buffer holds.",
            3: "Nothing looks wrong to the graph: its buffer is still there. That is why this mistake is so common.",
        },
    ),
    Choice(
        id="10-frozen-branch",
        kind="trace",
        title="A branch in a graph",
        section="10.2",
        options=("[-2, -2]", "[1, 1]", "[2, 2]", "an error"),
        correct=0,
        derivation="Python decided once, during the capture. What was recorded is $2x$, and $x$ now holds $-1$.",
        slips={
            1: "The condition is not part of the graph: the branch was chosen during the capture.",
            2: "The replay reads the buffer anew: it holds -1 now.",
            3: "The host decides from its own list, so the GPU has nothing to wait for, and nobody notices.",
        },
    ),
    Choice(
        id="10-allowed",
        kind="trace",
        title="What no graph can hold",
        section="10.2",
        options=(
            "`.item()`, and a shape that depends on data",
            "dropout, and `.item()`",
            "a new intermediate tensor, and a shape that depends on data",
            "all four",
        ),
        correct=0,
        derivation="Both need a number on the host, which a graph does not wait for. The generator's offset advances "
        "at each replay, and new tensors come from the graph's own pool.",
        slips={
            1: "Dropout works: the offset of the generator advances at each replay.",
            2: "New tensors are allowed: they come from the graph's own pool of memory.",
            3: "Random numbers and new tensors are allowed.",
        },
    ),
    Choice(
        id="10-lr",
        kind="trace",
        title="A learning rate that changes",
        section="10.2",
        options=(
            "keep it in a tensor and fill that, with `capturable=True`",
            "set `group['lr'] = 1e-4` before each replay",
            "capture anew whenever it changes",
            "a training step cannot be captured",
        ),
        correct=0,
        derivation="A Python number is an argument of the recorded kernel and stays what it was. A tensor is read at "
        "each replay. `capturable=True` makes an optimizer of PyTorch keep its own numbers, such as the count of "
        "steps, on the device too.",
        slips={
            1: "A Python number was recorded with the kernel: the replay does not see the new one.",
            2: "The rate changes at every step: every step would be a capture, and none a replay.",
            3: "It can: Megatron and Transformer Engine capture layers, `torch.compile` whole steps.",
        },
    ),
)
