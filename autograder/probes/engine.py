"""The driver of the milestone "server": the engine is here, its device and its clients are in the grader's process.

Every pass is a question, and so is what happens between two passes: which requests arrive and whose clients have left.
The engine never holds weights or keys, and nothing that it says about its work has to be believed.
"""

from rankzero.server import jobs


def served(ask, make, settings):
    """Called once for a load: makes the engine, submits and cancels requests, and steps until all have ended."""
    jobs.run(ask, make, settings)


served.asks = True  # type: ignore[attr-defined]
