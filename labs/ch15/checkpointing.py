# Generated from solutions/ch15/checkpointing.py by make stubs. Write the bodies; names and signatures stay.
"""How often to checkpoint a training job that failures interrupt, how much time that wastes, what a failure costs, and
what a rank reads of shards that another number of ranks saved.

Standard library only. Times are in seconds, but any one unit will do: the same unit comes out.
"""

from __future__ import annotations

import math

from rankzero import checks


def optimal_checkpoint_interval(checkpoint_time: float, mtbf: float, method: str = "daly") -> float:
    """Useful compute between the end of one checkpoint and the start of the next that wastes the least time.

    Checkpoint too often and the job writes; too rarely and it repeats work after a failure. Failures come at random
    (exponential), also during a checkpoint or a restart. The restart time does not change the optimum, because it
    multiplies the expected wall-clock time by a constant; so it is not an argument. With C = ``checkpoint_time``, M =
    ``mtbf``:

    * ``"young"``: ``sqrt(2 C M)``, first order, for C much smaller than M. It has no guard: beyond C = M/2 it is longer
      than the MTBF itself.
    * ``"daly"``: ``sqrt(2 C M) (1 + sqrt(x)/3 + x/9) - C`` with ``x = C/(2M)`` while C < 2M, else M.
    * ``"exact"``: the minimum of ``(M/t) (exp((t + C)/M) - 1)``, the expected wall-clock per unit of work: ``t = M u``
      with ``u + ln(1 - u) + C/M = 0`` and 0 < u < 1.

    Args:
        checkpoint_time: how long the job stops for one checkpoint (the stall, not a write in the background); positive.
        mtbf: mean time between failures of the whole job (one machine's, divided by the number of machines); positive.
        method: ``"young"``, ``"daly"`` or ``"exact"``.

    Returns:
        The interval in the unit of the arguments. Checkpoints start every interval plus ``checkpoint_time``.

    Sources: Young (1974), doi:10.1145/361147.361115. Daly (2006), doi:10.1016/j.future.2004.11.016.
    """
    checks.positive(checkpoint_time=checkpoint_time, mtbf=mtbf)
    checks.one_of(("young", "daly", "exact"), method=method)
    raise NotImplementedError("cap-optimal-checkpoint-interval: not written yet")


def checkpoint_waste(interval: float, checkpoint_time: float, mtbf: float, restart_time: float = 0.0) -> float:
    """The expected share of a long run's wall-clock time that is not useful compute.

    It goes into writing checkpoints, repeating lost work, and restarts. Failures come at random (exponential), also
    during a checkpoint and a restart; one in the checkpoint loses the interval before it. With t = ``interval``,
    C = ``checkpoint_time``, M = ``mtbf`` and R = ``restart_time``, the expected wall-clock per unit of work is
    ``(M/t) exp(R/M) (exp((t + C)/M) - 1)``: the waste is 1 minus its inverse. (Idle over *useful* time, w/(1 - w), is
    the overhead.)

    Args:
        interval: useful compute between two checkpoints; positive.
        checkpoint_time: how long the job stops for one; not negative.
        mtbf: mean time between failures of the whole job; positive.
        restart_time: from a failure until the job computes again; not negative. All four in one unit.

    Returns:
        From 0 to 1; 1.0 where the exponential leaves the range of floats.

    Source: Daly (2006), doi:10.1016/j.future.2004.11.016, equation 20.
    """
    checks.positive(interval=interval, mtbf=mtbf)
    checks.amount(checkpoint_time=checkpoint_time, restart_time=restart_time)
    raise NotImplementedError("cap-checkpoint-waste: not written yet")


def checkpoint_write_time(
    parameters: float, bytes_per_parameter: float, writers: int, writer_bandwidth: float, storage_bandwidth: float
) -> float:
    """Seconds that a sharded checkpoint takes to write: every writer has a link, and all share one storage.

    Args:
        parameters: of the whole model; not negative.
        bytes_per_parameter: not negative. 12 is Adam in fp32 (master copy of the weight and two moments), from
            which the bf16 weights are a cast; 14 stores them too. Gradients are not stored.
        writers: processes that write a part each; at least 1.
        writer_bandwidth: of one writer's link, bytes/s; positive.
        storage_bandwidth: of the storage, all writers together, bytes/s; positive.
    """
    checks.amount(parameters=parameters, bytes_per_parameter=bytes_per_parameter)
    checks.count(writers=writers)
    checks.positive(writer_bandwidth=writer_bandwidth, storage_bandwidth=storage_bandwidth)
    raise NotImplementedError("cap-checkpoint-write-time: not written yet")


def failure_cost(
    interval: float, checkpoint_time: float, mtbf: float, restart_time: float, gpus: int, price_per_gpu_hour: float
) -> float:
    """Dollars that one failure costs: the work that is lost with it, and the restart, on all GPUs.

    A failure strikes somewhere between the end of one checkpoint and the end of the next, ``l = interval +
    checkpoint_time`` later. Given that it does, the expected time since the former is ``M - l/(exp(l/M) - 1)``, about
    ``l/2``.

    Args:
        interval: useful compute between two checkpoints, seconds; positive.
        checkpoint_time: seconds that the job stops for one; not negative.
        mtbf: M, mean seconds between failures of the whole job; positive.
        restart_time: seconds; not negative. A failure of the restart itself is another failure.
        gpus: of the whole job; at least 1.
        price_per_gpu_hour: dollars; not negative.

    Source: Daly (2006), doi:10.1016/j.future.2004.11.016, section 3.
    """
    checks.positive(interval=interval, mtbf=mtbf)
    checks.amount(checkpoint_time=checkpoint_time, restart_time=restart_time, price_per_gpu_hour=price_per_gpu_hour)
    checks.count(gpus=gpus)
    raise NotImplementedError("cap-failure-cost: not written yet")


def debug_interval(checkpoint_seconds: float, mtbf_hours: float) -> float:
    """Young's checkpoint interval, ``sqrt(2 C M)``, in minutes.

    Args:
        checkpoint_seconds: C, how long the job stops for one checkpoint, seconds; positive.
        mtbf_hours: M, mean time between failures of the whole job, hours; positive.
    """
    checks.positive(checkpoint_seconds=checkpoint_seconds, mtbf_hours=mtbf_hours)
    return math.sqrt(2 * checkpoint_seconds * mtbf_hours) * 60


def shard_reads(rows: int, saved: int, ranks: int, rank: int) -> list[tuple[int, int, int]]:
    """What one rank keeps of each shard of a weight that was saved by another number of ranks.

    The rows are cut in order, before and after: every shard has ``ceil(rows / number of ranks)`` of them, but the last
    shards may have fewer, or none.

    Args:
        rows: of the whole weight; at least 1.
        saved: ranks that saved a shard each; at least 1.
        ranks: ranks that load the weight; at least 1.
        rank: the one that reads, from 0 to ``ranks - 1``.

    Returns:
        For each saved shard whose rows this rank needs, in the order of the shards: the rank that saved it, the first
        row to keep and the row after the last. Both are counted from the shard's own first row.
    """
    checks.count(rows=rows, saved=saved, ranks=ranks)
    checks.count(0, ranks - 1, rank=rank)
    raise NotImplementedError("cap-shard-reads: not written yet")
