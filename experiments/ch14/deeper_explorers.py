"""The explorer of chapter 14's deeper page: a pure function that returns a chart. Standard library only."""

from __future__ import annotations

from rankzero.charts import Axis, Spec, below, chart, lines
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B

from .throughput import pool_time, turn_time

#: Models by the name of the control, with the GPUs of one copy.
MODELS = {LLAMA3_8B.name: (LLAMA3_8B, 1), LLAMA3_70B.name: (LLAMA3_70B, 8)}
#: Answers of a batch for which the two modes are computed.
BATCHES = tuple(2**power for power in range(4, 13))

_TURN, _BARRIER, _FLOW = "in turn", "two pools, a barrier", "two pools, no barrier"


def throughput(
    model: str = LLAMA3_70B.name, gpus: int = 128, tokens: int = 8192, longest: float = 1.0, batch: int = 256
) -> Spec:
    """Answers per second of three modes over the batch, and how many times as fast two pools are as all in turn.

    Args:
        model: a name in :data:`MODELS`.
        gpus: of the job, a multiple of 8.
        tokens: of an answer.
        longest: the longest answer, in units of the others.
        batch: of :data:`BATCHES`, marked and told.
    """
    shape, copy_gpus = MODELS[model]
    rows: list[Spec] = []
    for answers in BATCHES:
        turn = turn_time(shape, gpus, answers, tokens, copy_gpus, longest)
        for mode, seconds in (
            (_TURN, turn),
            (_BARRIER, pool_time(shape, gpus, answers, tokens, copy_gpus, longest)[0]),
            (_FLOW, pool_time(shape, gpus, answers, tokens, copy_gpus)[0]),
        ):
            rows.append({"batch": answers, "rate": answers / seconds, "mode": mode, "gain": turn / seconds})
    seconds, writers = pool_time(shape, gpus, batch, tokens, copy_gpus)
    chosen = {row["mode"]: row for row in rows if row["batch"] == batch}
    told = ", ".join(f"{mode} {row['rate']:.3g}/s" for mode, row in chosen.items())
    gain = chosen[_FLOW]["gain"]
    title = f"batch {batch:,}: {gain:.2f} times as fast, {writers} of {gpus} GPUs write"
    across = Axis("batch", "answers of a batch", log=True, plain=True)
    above = lines(rows, across, Axis("rate", "answers per second", log=True, plain=True), "mode", batch, title)
    apart = [row for row in rows if row["mode"] != _TURN]
    view = below(above, lines(apart, across, Axis("gain", "times in turn"), "mode", batch))
    return chart(
        view, f"{model} on {gpus} GPUs, batch {batch:,}: {told}. Two pools without a barrier: {gain:.3f} times."
    )
