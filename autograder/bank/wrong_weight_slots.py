"""Wrong programs for ``WeightSlots``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class OverwritesPinned:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        self.open = next(slot for slot in range(len(self.pins)) if slot != self.latest)
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class OverwritesLatest:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        self.open = next((slot for slot, pins in enumerate(self.pins) if pins == 0), None)
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class LatestAtBegin:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        free = (slot for slot, pins in enumerate(self.pins) if slot != self.latest and pins == 0)
        self.open = next(free, None)
        if self.open is not None:
            self.latest = self.open
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.version, self.open = version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class PinIsAFlag:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [False] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        free = (slot for slot, pinned in enumerate(self.pins) if slot != self.latest and not pinned)
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] = True
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or not self.pins[slot]:
            raise ValueError("slot")
        self.pins[slot] = False


class ReadsTheOpenSlot:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        free = (slot for slot, pins in enumerate(self.pins) if slot != self.latest and pins == 0)
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        slot = self.latest if self.open is None else self.open
        self.pins[slot] += 1
        return slot, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class TakesTurns:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        slot = 0 if self.latest is None else (self.latest + 1) % len(self.pins)
        self.open = slot if self.pins[slot] == 0 else None
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class AnyVersion:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        free = (slot for slot, pins in enumerate(self.pins) if slot != self.latest and pins == 0)
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        if self.open is None:
            raise ValueError("open")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class RefusalCloses:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        free = (slot for slot, pins in enumerate(self.pins) if slot != self.latest and pins == 0)
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        slot, self.open = self.open, None
        if slot is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version = slot, version

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class WaitingIsOpen:
    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None
        self.publishing = False

    def begin_publish(self):
        if self.publishing:
            raise ValueError("open")
        self.publishing = True
        free = (slot for slot, pins in enumerate(self.pins) if slot != self.latest and pins == 0)
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open, self.publishing = self.open, version, None, False

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        if slot not in range(len(self.pins)) or self.pins[slot] == 0:
            raise ValueError("slot")
        self.pins[slot] -= 1


class SharedPins:
    pins = {}  # noqa: RUF012

    def __init__(self, slots=2):
        if type(slots) is not int or slots < 2:
            raise ValueError("slots")
        self.slots, self.open, self.latest, self.version = slots, None, None, None
        self.pins.clear()

    def begin_publish(self):
        if self.open is not None:
            raise ValueError("open")
        free = (slot for slot in range(self.slots) if slot != self.latest and not self.pins.get(slot))
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        if self.open is None or type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] = self.pins.get(self.latest, 0) + 1
        return self.latest, self.version

    def release(self, slot):
        if not self.pins.get(slot):
            raise ValueError("slot")
        self.pins[slot] -= 1


class AnyOrder:
    def __init__(self, slots=2):
        self.pins, self.open, self.latest, self.version = [0] * slots, None, None, None

    def begin_publish(self):
        free = (slot for slot, pins in enumerate(self.pins) if slot != self.latest and pins == 0)
        self.open = next(free, None)
        return self.open

    def commit(self, version):
        if type(version) is not int or version <= (-1 if self.version is None else self.version):
            raise ValueError("version")
        self.latest, self.version, self.open = self.open, version, None

    def acquire(self):
        if self.latest is None:
            return None
        self.pins[self.latest] += 1
        return self.latest, self.version

    def release(self, slot):
        self.pins[slot] = max(0, self.pins[slot] - 1)


WEIGHT_SLOTS = (
    Slip("A slot with a pin is being read: it must not be written, even when it is old.", OverwritesPinned),
    Slip("The latest slot must not be written: whoever acquires next reads it.", OverwritesLatest),
    Slip("A slot is the latest when it is committed, not when its writing begins.", LatestAtBegin),
    Slip("Count the pins: the first of two readers that releases a slot must not free it.", PinIsAFlag),
    Slip("`acquire` gives the latest slot, never the one that is being written.", ReadsTheOpenSlot),
    Slip("Any slot that is free will do, the lowest first: do not wait for the next one in turn.", TakesTurns),
    Slip("A version that is not above the latest must raise ValueError: weights never go back.", AnyVersion),
    Slip("A commit that is refused leaves the publish open: it can be committed under another version.", RefusalCloses),
    Slip("When `begin_publish` gives None, no publish is open: it may be called again.", WaitingIsOpen),
    Slip("Two objects share their pins: keep them in the instance, not in the class.", SharedPins),
    Slip(
        "Bad input must raise ValueError: fewer than two slots, a second begin, a commit without one, a slot that has "
        "no pin.",
        AnyOrder,
    ),
)
