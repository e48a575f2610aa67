"""Wrong programs for ``WeightSlots``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

WEIGHT_SLOTS = (
    Slip(
        "A slot with a pin is being read: it must not be written, even when it is old.",
        edit=("slot != self.latest and not pins", "slot != self.latest"),
    ),
    Slip(
        "The latest slot must not be written: whoever acquires next reads it.",
        edit=("slot != self.latest and not pins", "not pins"),
    ),
    Slip(
        "A slot is the latest when it is committed, not when its writing begins.",
        edits=(
            (
                "        return self._open\n",
                "        self.latest = self.latest if self._open is None else self._open\n        return self._open\n",
            ),
            (
                "self.latest, self.version, self._open = self._open, version, None",
                "self.version, self._open = version, None",
            ),
            ("if self.latest is None or self.version is None:", "if self.latest is None:"),
        ),
    ),
    Slip(
        "Count the pins: the first of two readers that releases a slot must not free it.",
        edit=("self._pins[self.latest] += 1", "self._pins[self.latest] = 1"),
    ),
    Slip(
        "`acquire` gives the latest slot, never the one that is being written.",
        edit=(
            "        self._pins[self.latest] += 1\n        return self.latest, self.version",
            "        slot = self.latest if self._open is None else self._open\n"
            "        self._pins[slot] += 1\n"
            "        return slot, self.version",
        ),
    ),
    Slip(
        "Any slot that is free will do, the lowest first: do not wait for the next one in turn.",
        edit=(
            "free = (slot for slot, pins in enumerate(self._pins) if slot != self.latest and not pins)",
            "turn = 0 if self.latest is None else (self.latest + 1) % len(self._pins)\n"
            "        free = (slot for slot in [turn] if not self._pins[slot])",
        ),
    ),
    Slip(
        "A version that is not above the latest must raise ValueError: weights never go back.",
        edit=("if self.version is not None and version <= self.version:", "if False:"),
    ),
    Slip(
        "A commit that is refused leaves the publish open: it can be committed under another version.",
        edits=(
            (
                "        if self.version is not None and version <= self.version:\n",
                "        slot, self._open = self._open, None\n"
                "        if self.version is not None and version <= self.version:\n",
            ),
            (
                "self.latest, self.version, self._open = self._open, version, None",
                "self.latest, self.version = slot, version",
            ),
        ),
    ),
    Slip(
        "When `begin_publish` gives None, no publish is open: it may be called again.",
        edits=(
            ("if self._open is not None:", 'if getattr(self, "_publishing", False):'),
            ("        return self._open\n", "        self._publishing = True\n        return self._open\n"),
            (
                "self.latest, self.version, self._open = self._open, version, None",
                "self.latest, self.version, self._open, self._publishing = self._open, version, None, False",
            ),
        ),
    ),
    Slip(
        "Two objects share their pins: keep them in the instance, not in the class.",
        edits=(
            (
                "    def __init__(self, slots: int = 2) -> None:",
                "    _pins: list[int] = []\n\n    def __init__(self, slots: int = 2) -> None:",
            ),
            ("        self._pins = [0] * slots\n", "        self._pins[:] = [0] * slots\n"),
        ),
    ),
    Slip(
        "A call out of turn must raise ValueError: a second begin, a commit without one, a release without a pin.",
        edits=(
            (
                "        if self._open is not None:\n"
                '            raise ValueError(f"slot {self._open} is being written: commit it first")\n',
                "",
            ),
            ('        if self._open is None:\n            raise ValueError("no publish is open")\n', ""),
            (
                "        if not self._pins[slot]:\n"
                '            raise ValueError(f"slot {slot!r} is not pinned")\n'
                "        self._pins[slot] -= 1",
                "        self._pins[slot] = max(0, self._pins[slot] - 1)",
            ),
        ),
    ),
)
