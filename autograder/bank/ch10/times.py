"""Chapter 10: kernels one by one, kernels as a graph, and steps that overlap."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import ms, us


def _kernels(rng: Random, low: float, high: float, most: int = 60) -> list[float]:
    return [rng.uniform(low, high) * us for _ in range(rng.randint(2, rng.choice((6, 20, most))))]


def _even(rng: Random) -> Case:
    return Case(([rng.uniform(1, 500) * us] * rng.randint(2, 90), rng.uniform(1, 20) * us))


def _even_corners(rng: Random) -> list[Case]:
    """Kernels that are shorter than a launch, as long, and longer."""
    launch, count = rng.randint(2, 12) * us, rng.randint(20, 90)
    return [Case(([launch * share] * count, launch)) for share in (0.25, 0.5, 1.0, 3.0)]


def _mixed(rng: Random) -> Case:
    """Short kernels, a long one somewhere, short ones again: who is late changes on the way."""
    short = [rng.uniform(0.1, 4) * us for _ in range(rng.randint(4, 60))]
    short[rng.randrange(len(short))] = rng.uniform(50, 500) * us
    return Case((short, rng.uniform(4, 10) * us))


def _few(rng: Random) -> Case:
    return Case((_kernels(rng, 0, 500, 3)[: rng.randint(0, 1)], rng.uniform(1, 20) * us))


def _few_corners(rng: Random) -> list[Case]:
    launch = rng.uniform(1, 20) * us
    return [Case(([], launch)), Case(([rng.uniform(1, 9) * us], launch)), Case(([0.0] * 7, launch))]


EAGER = Build(
    id="10-eager-time",
    module="scheduling",
    function="eager_time",
    grade="call",
    section="10.1",
    topic="launches",
    cases=(
        Case(([100 * us] * 5, 50 * us)),
        Case(([2 * us] * 500, 5 * us)),
        Case(([10 * us] * 500, 5 * us)),
        Case(([1 * us, 50 * us, 1 * us, 1 * us], 5 * us)),
        Case(([7 * us], 5 * us)),
        Case(([], 5 * us)),
    ),
    groups=(
        Group(
            "equal kernels",
            _even,
            8,
            "The slower side sets the pace: work out three kernels by hand.",
            _even_corners,
        ),
        Group("short and long kernels", _mixed, 6, "A long kernel gives the CPU time to run ahead: follow both rows."),
        Group(
            "none, one, or free ones", _few, 5, "One kernel waits for its own launch; none takes no time.", _few_corners
        ),
    ),
    slips=(
        Slip(
            "Launches do not wait for kernels: the two rows overlap, and the slower one counts.",
            edit=("return end", "return len(kernel_times) * launch_time + sum(kernel_times)"),
        ),
        Slip(
            "The first kernel cannot start before its launch: something of the faster row is left over.",
            edit=("return end", "return max(len(kernel_times) * launch_time, sum(kernel_times))"),
        ),
        Slip(
            "Every kernel has a launch of its own; one for all of them is a graph.",
            edit=("return end", "return launch_time + sum(kernel_times) if kernel_times else 0.0"),
        ),
        Slip(
            "A launch does not wait for the kernel before it: the CPU runs ahead during a long kernel.",
            edit=("return end", "return sum(max(kernel, launch_time) for kernel in kernel_times)"),
        ),
        Slip(
            "That is right for equal kernels alone: with a mean in place of each, the order is lost.",
            edit=(
                "enumerate(kernel_times)",
                "enumerate([sum(kernel_times) / len(kernel_times)] * len(kernel_times) if kernel_times else [])",
            ),
        ),
    ),
)


def _recorded(rng: Random) -> Case:
    return Case((_kernels(rng, 0, 500), rng.uniform(1, 50) * us))


def _nothing_recorded(rng: Random) -> Case:
    return Case(([], rng.uniform(1, 50) * us))


GRAPH = Build(
    id="10-graph-time",
    module="scheduling",
    function="graph_time",
    grade="call",
    section="10.2",
    topic="graphs",
    cases=(
        Case(([2 * us] * 500, 10 * us)),
        Case(([10 * us] * 500, 10 * us)),
        Case(([100 * us] * 5, 10 * us)),
        Case(([], 10 * us)),
    ),
    groups=(
        Group("graphs", _recorded, 8, "One launch for all kernels, and then kernel after kernel."),
        Group("no kernels", _nothing_recorded, 3, "Without kernels there is nothing to launch."),
    ),
    slips=(
        Slip(
            "The graph is launched once, not once for each kernel.",
            edit=(
                "replay_time + sum(kernel_times) if kernel_times else 0.0",
                "len(kernel_times) * replay_time + sum(kernel_times)",
            ),
        ),
        Slip(
            "A graph takes the launches away, not the kernels: they still run.",
            edit=("replay_time + sum(kernel_times)", "replay_time"),
        ),
        Slip(
            "The first kernel waits for the launch of the graph: the two add up.",
            edit=("replay_time + sum(kernel_times)", "max(replay_time, sum(kernel_times))"),
        ),
        Slip(
            "Without kernels there is no graph to launch.",
            edit=("replay_time + sum(kernel_times) if kernel_times else 0.0", "replay_time + sum(kernel_times)"),
        ),
    ),
)


def _longer_compute(rng: Random) -> Case:
    schedule, post = rng.uniform(0.5, 5) * ms, rng.uniform(0.5, 5) * ms
    return Case((rng.randint(3, 60), schedule, (schedule + post) * rng.uniform(1.1, 4), post))


def _longer_cpu(rng: Random) -> Case:
    schedule, post = rng.uniform(1, 9) * ms, rng.uniform(1, 9) * ms
    return Case((rng.randint(3, 60), schedule, (schedule + post) * rng.uniform(0.3, 0.9), post))


def _few_steps(rng: Random) -> Case:
    return Case((rng.randint(0, 3), *(rng.uniform(0.1, 9) * ms for _ in range(3))))


def _few_steps_corners(rng: Random) -> list[Case]:
    times = [rng.uniform(0.1, 9) * ms for _ in range(3)]
    return [Case((steps, *times)) for steps in (0, 1, 2)] + [Case((rng.randint(2, 20), 0.0, times[0], 0.0))]


def _in_turn(rng: Random) -> Case:
    return Case((rng.randint(1, 60), *(rng.uniform(0, 9) * ms for _ in range(3))), {"overlap": False})


OVERLAP = Build(
    id="10-overlap-time",
    module="scheduling",
    function="overlap_time",
    grade="call",
    section="10.5",
    topic="overlap scheduling",
    cases=(
        Case((20, 2 * ms, 10 * ms, 1 * ms)),
        Case((20, 2 * ms, 10 * ms, 1 * ms), {"overlap": False}),
        Case((1, 2 * ms, 10 * ms, 1 * ms)),
        Case((2, 2 * ms, 10 * ms, 1 * ms)),
        Case((20, 6 * ms, 5 * ms, 1 * ms)),
        Case((20, 6 * ms, 6 * ms, 2 * ms)),
        Case((100, 2 * ms, 5 * ms, 1 * ms)),
        Case((0, 2 * ms, 10 * ms, 1 * ms)),
    ),
    groups=(
        Group(
            "the device is the slower one",
            _longer_compute,
            6,
            "The CPU's work hides behind the device's, but for the ends.",
        ),
        Group(
            "the CPU is the slower one",
            _longer_cpu,
            6,
            "One CPU does both: it schedules a step and processes the one before.",
        ),
        Group("few steps", _few_steps, 6, "Draw the two rows for one step and for two.", _few_steps_corners),
        Group("in turn", _in_turn, 3, "Without overlap the three times of a step add up."),
    ),
    slips=(
        Slip(
            "Processing overlaps too: step N's results are read while step N+1 runs.",
            edit=(
                "max(cpu, device) + post",
                "schedule + (steps - 1) * max(schedule, compute) + compute + steps * post",
            ),
        ),
        Slip(
            "Scheduling and processing share one CPU: a step takes it the sum of both.",
            edit=("max(cpu, device) + post", "schedule + compute + post + (steps - 1) * max(schedule, compute, post)"),
        ),
        Slip(
            "The first schedule and the last processing have nothing to hide behind.",
            edit=("max(cpu, device) + post if steps else 0.0", "steps * max(compute, schedule + post)"),
        ),
        Slip(
            "Where the CPU is the slower side its steps hold the first schedule and the last processing already: "
            "follow both rows.",
            edit=("max(cpu, device) + post", "schedule + steps * max(compute, schedule + post) + post"),
        ),
        Slip(
            "That holds where compute is the longer side; otherwise the device waits for the CPU.",
            edit=("max(cpu, device) + post", "schedule + steps * compute + post"),
        ),
        Slip(
            "That is one after the other: the CPU processes the step *before* while the device computes.",
            edit=("max(cpu, device) + post if steps else 0.0", "steps * (schedule + compute + post)"),
        ),
    ),
)

ITEMS = (EAGER, GRAPH, OVERLAP)
