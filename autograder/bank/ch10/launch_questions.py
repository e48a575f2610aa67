"""Chapter 10: the questions about launches, graphs, captured sizes and overlap."""

from __future__ import annotations

from autograder.bank.ch10.sizes import POWERS, PUBLISHED
from autograder.items import Choice, Item, Part, Question, Slip, lazily
from rankzero.facts.units import ms, us

scheduling = lazily("solutions.ch10.scheduling")


def _eager(count: int, kernel: float, launch: float) -> float:
    return scheduling.eager_time([kernel] * count, launch)


def _graph(count: int, kernel: float, replay: float = 10 * us) -> float:
    return scheduling.graph_time([kernel] * count, replay)


def _overlapped(steps: int, schedule: float, compute: float, post: float) -> float:
    return scheduling.overlap_time(steps, schedule * ms, compute * ms, post * ms)


def _pace() -> float:
    """Seconds of one more step in the steady state: schedule 6, compute 5, post 1 ms."""
    return (_overlapped(1000, 6, 5, 1) - _overlapped(500, 6, 5, 1)) / 500


LAUNCHES: tuple[Item, ...] = (
    Question(
        id="10-five-big",
        kind="derive",
        title="Five long kernels",
        section="10.1",
        parts=(
            Part(
                "time",
                "s",
                lambda: _eager(5, 100 * us, 50 * us),
                slips=(
                    Slip("Launches do not wait for kernels: only the first one is not hidden.", value=750 * us),
                    Slip("The first kernel waits for its launch.", value=500 * us),
                ),
            ),
        ),
        derivation="A kernel takes longer than a launch, so the GPU is the slower side. It waits for the first launch "
        "and then never again: $t_l + n\\,t_k$.",
    ),
    Question(
        id="10-many-small",
        kind="derive",
        title="Five hundred short kernels",
        section="10.2",
        parts=(
            Part(
                "one by one",
                "s",
                lambda: _eager(500, 2 * us, 5 * us),
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
        parts=(
            Part(
                "speed-up",
                "",
                lambda: _eager(500, 2 * us, 5 * us) / _graph(500, 2 * us),
                slips=(
                    Slip("That adds launches and kernels, which overlap.", value=3.5),
                    Slip("That leaves the launch of the graph out.", value=lambda: _eager(500, 2 * us, 5 * us) / 1e-3),
                ),
            ),
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

SIZES: tuple[Item, ...] = (
    Question(
        id="10-pad-5",
        kind="derive",
        title="A batch of five",
        section="10.3",
        parts=(
            Part(
                "share of padded rows",
                "",
                lambda: scheduling.padding_waste([5], [1, 2, 4, 8, 16]),
                slips=(
                    Slip("That is padded over useful rows, 3 over 5.", value=0.6),
                    Slip("It does not run eagerly: it is padded to 8.", value=0),
                    Slip("That is the share of useful rows.", value=0.625),
                    Slip("That is the number of padded rows; a share of all that run is wanted.", value=3),
                ),
            ),
        ),
        derivation="The smallest size that fits is 8: $(8-5)/8$.",
    ),
    Question(
        id="10-pow2-waste",
        kind="derive",
        title="Powers of two",
        section="10.3",
        parts=(
            Part(
                "share of padded rows",
                "",
                lambda: scheduling.padding_waste(range(1, 257), POWERS),
                tolerance=0.02,
                slips=(
                    Slip("That is the worst case, a batch just above a power of two.", value=0.5),
                    Slip(
                        "That is padded over useful rows.",
                        value=lambda: 1 / (1 - scheduling.padding_waste(range(1, 257), POWERS)) - 1,
                    ),
                    Slip(
                        "A mean of shares weighs a batch of 3 like one of 200: divide sum by sum.",
                        value=lambda: sum(scheduling.padding_waste([batch], POWERS) for batch in range(1, 257)) / 256,
                    ),
                ),
            ),
        ),
        derivation="Batches $2^{k-1}+1$ to $2^k$ run as $2^k$: $2^{k-1}$ batches of $2^k$ rows. All rows are "
        "$1 + \\sum_k 2^{2k-1}$, the useful ones $256 \\cdot 257 / 2$.",
    ),
    Question(
        id="10-sizes-count",
        kind="derive",
        title="How many graphs",
        section="10.3",
        parts=(
            Part(
                "graphs",
                "",
                lambda: len(PUBLISHED),
                tolerance=0,
                slips=(
                    Slip("1, 2 and 4 are captured too.", value=32),
                    Slip("Count both ends: 8 and 256.", value=34),
                ),
            ),
        ),
        derivation="Three small ones, and the multiples of 8 from 8 to 256.",
    ),
)

LOOP: tuple[Item, ...] = (
    Question(
        id="10-overhead-def",
        kind="derive",
        title="Overhead of what",
        section="10.4",
        parts=(
            Part(
                "share of the step",
                "",
                lambda: 2 / (2 + 10),
                slips=(Slip("That is a share of the compute time; the step is both.", value=0.2),),
            ),
        ),
        derivation="CPU over CPU and compute together: $2/(2+10)$.",
    ),
    Question(
        id="10-overlap-20",
        kind="derive",
        title="Twenty steps that overlap",
        section="10.5",
        parts=(
            Part(
                "time",
                "s",
                lambda: _overlapped(20, 2, 10, 1),
                slips=(
                    Slip("Processing overlaps too: step N's results are read while step N+1 runs.", value=0.222),
                    Slip("The first schedule and the last processing have nothing to hide behind.", value=0.2),
                    Slip("That is one after the other.", value=0.26),
                ),
            ),
        ),
        derivation="Compute is longer than both CPU parts together, so all of them hide behind it but the first "
        "schedule and the last processing: $s + n\\,c + p$.",
    ),
    Question(
        id="10-overlap-cpu-bound",
        kind="derive",
        title="A slow CPU",
        section="10.5",
        parts=(
            Part(
                "one step, in the steady state",
                "s",
                _pace,
                slips=(
                    Slip("The CPU does both jobs: scheduling and processing.", value=0.006),
                    Slip("The device waits for the CPU here.", value=0.005),
                    Slip("The device's part is hidden behind the CPU's.", value=0.012),
                ),
            ),
        ),
        derivation="The longer side sets the pace: $\\max(c, s + p)$.",
    ),
)

ITEMS: tuple[Item, ...] = (*LAUNCHES, *SIZES, *LOOP)
