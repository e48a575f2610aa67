# Generated from solutions/ch14/weight_slots.py by make stubs. Write the bodies; names and signatures stay.
"""Who may write which copy of the weights, and how many responses may start: the two rules of an asynchronous trainer.

Standard library only. Slots are numbers here; whoever owns the memory (``rankzero.world.shared_weights``) follows
them.
"""

from __future__ import annotations

from rankzero import checks


class WeightSlots:
    """Which of several copies of the weights is the latest, which are being read, and which may be written.

    One writer publishes: it asks for a slot, fills it, and commits it under a version; the slot is the latest from then
    on. Any number of readers acquire the latest slot, read it, and release it. Each acquisition is a pin; a slot with
    a pin is not written, however old it is. At most one publish is open at a time. A call that raises changes nothing.

    Args:
        slots: how many there are, numbered from 0; at least 2.

    Attributes:
        latest: the slot that was committed last; None before the first commit.
        version: its version; None before the first commit.
    """

    def __init__(self, slots: int = 2) -> None:
        checks.count(2, slots=slots)
        raise NotImplementedError("14-weight-slots: not written yet")

    def begin_publish(self) -> int | None:
        """Open a publish: the lowest slot that is neither the latest nor pinned. None when there is none: wait.

        Raises:
            ValueError: a publish is open.
        """
        raise NotImplementedError("14-weight-slots: not written yet")

    def commit(self, version: int) -> None:
        """The slot of the open publish is complete: it is the latest now. A version that is refused leaves it open.

        Args:
            version: of the weights in the slot; at least 0.

        Raises:
            ValueError: no publish is open, or ``version`` is not above the latest one.
        """
        checks.count(0, version=version)
        raise NotImplementedError("14-weight-slots: not written yet")

    def acquire(self) -> tuple[int, int] | None:
        """Pin the latest slot; ``(slot, version)``, or None before the first commit."""
        raise NotImplementedError("14-weight-slots: not written yet")

    def release(self, slot: int) -> None:
        """Take back one pin of ``slot``, which is one of the slots; ValueError when it has none."""
        raise NotImplementedError("14-weight-slots: not written yet")


class StalenessGate:
    """How many responses may start now, so that production never runs far ahead of training.

    A response that is accepted waits for a trainer's batch or was in one. After ``version`` updates the trainer has
    taken ``version`` batches; ``max_staleness`` batches may wait beyond the one that it takes next.

    Args:
        batch: responses that one update trains on; at least 1.
        max_staleness: batches ahead; at least 0. With 0 a batch starts when the update before it is done.
        max_concurrent: responses that may run at once; at least 1.

    Attributes:
        version: updates so far.
        running: responses that have started and not ended.
        accepted: responses that ended and were kept.

    Raises:
        ValueError: a method is called at the wrong time; nothing has changed then.

    Source: AReaL, Fu et al. (2025), arXiv:2505.24298, "Staleness-Aware Training".
    """

    def __init__(self, batch: int, max_staleness: int, max_concurrent: int) -> None:
        checks.count(batch=batch, max_concurrent=max_concurrent)
        checks.count(0, max_staleness=max_staleness)
        raise NotImplementedError("14-staleness-gate: not written yet")

    def capacity(self) -> int:
        """Responses that may start now."""
        raise NotImplementedError("14-staleness-gate: not written yet")

    def submit(self) -> None:
        """A response starts; ValueError when the capacity is 0."""
        raise NotImplementedError("14-staleness-gate: not written yet")

    def accept(self) -> None:
        """A response ends and is kept; ValueError when none is running."""
        raise NotImplementedError("14-staleness-gate: not written yet")

    def reject(self) -> None:
        """A response ends and is dropped, so that another may take its place; ValueError when none is running."""
        raise NotImplementedError("14-staleness-gate: not written yet")

    def advance(self) -> None:
        """The trainer has made an update. It is never refused: the gate does not see what the update was made from."""
        raise NotImplementedError("14-staleness-gate: not written yet")
