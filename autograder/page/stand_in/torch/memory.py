"""The memory of tensors: bytes that several tensors may share, and a count of the writes to them."""

import ctypes

from .missing import missing


class Storage:
    """Some memory; ``version`` counts the writes, so that a gradient notices what has changed since."""

    __slots__ = ("_cells", "memory", "version")

    def __init__(self, memory):
        self.memory = memoryview(memory).cast("B")
        self.version, self._cells = 0, {}

    def cells(self, kind):
        """The memory as elements of a type."""
        found = self._cells.get(kind.code)
        if found is None:
            whole = len(self.memory) // kind.itemsize * kind.itemsize
            found = self._cells[kind.code] = self.memory[:whole].cast(kind.code)
        return found

    def again(self):
        """The same memory with a count of its own."""
        return Storage(self.memory)

    def address(self):
        """Where the memory is in this process."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) if len(self.memory) else 0


class Device:
    """A place for tensors; the page has the processor alone."""

    def __init__(self, type, index=None):  # noqa: A002  # as torch calls it
        kind, _, number = str(type).partition(":")
        if kind not in ("cpu", "meta"):
            raise missing(f"The device {type!r}")
        self.type, self.index = kind, int(number) if number else index

    def __repr__(self):
        place = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{place})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))


Device.__name__ = Device.__qualname__ = "device"
Device.__module__ = "torch"
CPU, META = Device("cpu"), Device("meta")


class Mark:
    """A constant that is only passed around, such as ``torch.strided``."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return mark, (self.name,)


MARKS = {name: Mark(name) for name in ("strided", "contiguous_format", "preserve_format")}


def mark(name):
    return MARKS[name]
