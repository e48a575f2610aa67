"""Chapter 10: ``eager_time``, launches."""

from __future__ import annotations

from random import Random

from autograder.bank.ch10.shared import kernels
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import us


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
    return Case((kernels(rng, 0, 500, 3)[: rng.randint(0, 1)], rng.uniform(1, 20) * us))


def _few_corners(rng: Random) -> list[Case]:
    launch = rng.uniform(1, 20) * us
    return [Case(([], launch)), Case(([rng.uniform(1, 9) * us], launch)), Case(([0.0] * 7, launch))]


def latest_row(kernel_times, launch_time):
    """The end is that of the launch that was waited for last and of all kernels from there on."""
    ends = [(place + 1) * launch_time + sum(kernel_times[place:]) for place in range(len(kernel_times))]
    return max(ends, default=0.0)


EXERCISE = Build(
    "10 scheduling.eager_time",
    section="10.7",
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
    rights=(
        Right("the latest of all ways", program=latest_row),
        Right(
            "launches added up",
            edit=(
                "    for place, kernel in enumerate(kernel_times):\n"
                "        end = max(end, (place + 1) * launch_time) + kernel\n",
                "    launched = 0.0\n    for kernel in kernel_times:\n        launched += launch_time\n"
                "        end = kernel + (launched if launched > end else end)\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "A kernel starts when it has been launched and the kernel before it has ended.",
            edit=("max(end, (place + 1) * launch_time) + kernel", "max(end + kernel, (place + 1) * launch_time)"),
        ),
        Promise("ends at ``(i + 1) * launch_time``", edit=("(place + 1) * launch_time", "place * launch_time")),
        Promise(
            "to the last kernel's end",
            edit=("    return end\n", "    return end - launch_time if kernel_times else end\n"),
        ),
    ),
)
