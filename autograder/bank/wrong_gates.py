"""Wrong programs for ``StalenessGate``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class ForgetsRunning:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        return max(0, min(self.most - self.running, (self.ahead + self.version + 1) * self.batch - self.accepted))

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1


class NoFirstBatch:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        started = self.accepted + self.running
        return max(0, min(self.most - self.running, (self.ahead + self.version) * self.batch - started))

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1


class CountsRejected:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = self.started = 0

    def capacity(self):
        return max(0, min(self.most - self.running, (self.ahead + self.version + 1) * self.batch - self.started))

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1
        self.started += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1


class BoundsTheQueue:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        queue = self.accepted - self.version * self.batch
        return max(0, self.most - self.running) if queue <= self.ahead * self.batch else 0

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1


class NoLimitOnRunning:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        return max(0, (self.ahead + self.version + 1) * self.batch - self.accepted - self.running)

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1


class LimitNotLessRunning:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        wanted = (self.ahead + self.version + 1) * self.batch
        return max(0, min(self.most, wanted - self.accepted - self.running))

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1


class AdvanceDropsTheAccepted:
    def __init__(self, batch, max_staleness, max_concurrent):
        if any(type(number) is not int for number in (batch, max_staleness, max_concurrent)):
            raise ValueError("integers")
        if batch < 1 or max_staleness < 0 or max_concurrent < 1:
            raise ValueError("range")
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        wanted = (self.ahead + self.version + 1) * self.batch
        return max(0, min(self.most - self.running, wanted - self.accepted - self.running))

    def submit(self):
        if self.capacity() == 0:
            raise ValueError("closed")
        self.running += 1

    def accept(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1
        self.accepted += 1

    def reject(self):
        if self.running == 0:
            raise ValueError("none runs")
        self.running -= 1

    def advance(self):
        self.version += 1
        self.accepted = max(0, self.accepted - self.batch)


class AlwaysOpen:
    def __init__(self, batch, max_staleness, max_concurrent):
        self.batch, self.ahead, self.most = batch, max_staleness, max_concurrent
        self.version = self.running = self.accepted = 0

    def capacity(self):
        wanted = (self.ahead + self.version + 1) * self.batch
        return max(0, min(self.most - self.running, wanted - self.accepted - self.running))

    def submit(self):
        self.running += 1

    def accept(self):
        self.running -= 1
        self.accepted += 1

    def reject(self):
        self.running -= 1

    def advance(self):
        self.version += 1


STALENESS_GATE = (
    Slip("Responses that are running will be accepted too: they have taken their places already.", ForgetsRunning),
    Slip(
        "With a bound of 0 the first batch must be allowed to start: (max_staleness + version + 1) * batch.",
        NoFirstBatch,
    ),
    Slip("A rejected response gives its place back; yours starves after enough of them.", CountsRejected),
    Slip(
        "The bound is on all that has started since the beginning, not on whether the queue is short now.",
        BoundsTheQueue,
    ),
    Slip("No more than max_concurrent responses run at once.", NoLimitOnRunning),
    Slip("Of max_concurrent, those that are running are taken.", LimitNotLessRunning),
    Slip(
        "`accepted` counts from the beginning, as the version does: an update takes nothing away from it.",
        AdvanceDropsTheAccepted,
    ),
    Slip(
        "Bad input must raise ValueError: numbers out of range, a submit at capacity 0, an end with nothing running.",
        AlwaysOpen,
    ),
)
