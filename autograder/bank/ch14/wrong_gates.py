"""Wrong programs for ``StalenessGate``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

STALENESS_GATE = (
    Slip(
        "Responses that are running will be accepted too: they have taken their places already.",
        edit=("wanted - self.accepted - self.running", "wanted - self.accepted"),
    ),
    Slip(
        "With a bound of 0 the first batch must be allowed to start: (max_staleness + version + 1) * batch.",
        edit=("(self._ahead + self.version + 1)", "(self._ahead + self.version)"),
    ),
    Slip(
        "A rejected response gives its place back; yours starves after enough of them.",
        edits=(
            ("wanted - self.accepted - self.running", "wanted - self._started"),
            (
                "        self.version = self.running = self.accepted = 0\n",
                "        self.version = self.running = self.accepted = self._started = 0\n",
            ),
            ("        self.running += 1\n", "        self.running += 1\n        self._started += 1\n"),
        ),
    ),
    Slip(
        "The bound is on all that has started since the beginning, not on whether the queue is short now.",
        edit=(
            "        wanted = (self._ahead + self.version + 1) * self._batch\n"
            "        return max(0, min(self._most - self.running, wanted - self.accepted - self.running))",
            "        queue = self.accepted - self.version * self._batch\n"
            "        return max(0, self._most - self.running) if queue <= self._ahead * self._batch else 0",
        ),
    ),
    Slip(
        "No more than max_concurrent responses run at once.",
        edit=(
            "min(self._most - self.running, wanted - self.accepted - self.running)",
            "wanted - self.accepted - self.running",
        ),
    ),
    Slip("Of max_concurrent, those that are running are taken.", edit=("self._most - self.running", "self._most")),
    Slip(
        "`accepted` counts from the beginning, as the version does: an update takes nothing away from it.",
        edit=(
            "        self.version += 1\n",
            "        self.version += 1\n        self.accepted = max(0, self.accepted - self._batch)\n",
        ),
    ),
    Slip(
        "A call at the wrong time must raise ValueError: a submit at capacity 0, an end with nothing running.",
        edits=(
            (
                "        if not self.capacity():\n"
                '            raise ValueError(f"no response may start: {self.running} are running, '
                '{self.accepted} were accepted")\n',
                "",
            ),
            ('        if not self.running:\n            raise ValueError("no response is running")\n', ""),
        ),
    ),
)
