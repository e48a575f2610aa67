"""Wrong programs for ``simulate_run``: edits of the reference that each get one rule wrong."""

from __future__ import annotations

from autograder.items import Slip

SIMULATE_RUN = (
    Slip(
        "You stop the clock during a restart, but failures strike then, too.",
        edit=(
            '                spent["restart"] += min(left, restart_time)\n'
            "                left -= min(left, restart_time)",
            '                spent["restart"] += restart_time',
        ),
    ),
    Slip(
        "A failure in the checkpoint loses the segment: it is safe only when the checkpoint is.",
        edits=(
            ("saved = left >= useful + checkpoint_time", "saved = left >= useful"),
            (
                '                spent["checkpoint"] += checkpoint_time\n'
                "                left -= useful + checkpoint_time",
                '                spent["checkpoint"] += min(left - useful, checkpoint_time)\n'
                "                left -= min(left, useful + checkpoint_time)",
            ),
        ),
    ),
    Slip(
        "Each gap counts from the last failure; you read them as times since the start.",
        edit=(
            "failures, left = failures + 1, _next_gap(gaps)",
            "failures, left = failures + 1, max(0.0, _next_gap(gaps) - sum(spent.values()))",
        ),
    ),
    Slip(
        "A gap runs on over the end of a segment; you take a new one for each segment.",
        edit=(
            "        saved = False\n        while not saved:",
            "        left = left if segment == 0 else _next_gap(gaps)\n        saved = False\n        while not saved:",
        ),
    ),
    Slip(
        "The last segment is saved, too.",
        edit=(
            "    for segment in range(segments):\n",
            "    for segment in range(segments):\n"
            "        checkpoint_time = checkpoint_time if segment < segments - 1 else 0.0\n",
        ),
    ),
    Slip(
        "A failure exactly at the end of a checkpoint loses nothing.",
        edit=("saved = left >= useful + checkpoint_time", "saved = left > useful + checkpoint_time"),
    ),
    Slip(
        "The last segment may be shorter than the interval.",
        edit=("interval if segment < segments - 1 else work - (segments - 1) * interval", "interval"),
    ),
    Slip(
        "All gaps are read before the run begins: they may never end, so take each when it is needed.",
        edit=("iter(failure_gaps)", "iter([_next_gap([gap]) for gap in failure_gaps])"),
    ),
)
