"""A small stand-in for torch on the standard library alone: what the page's worlds of chapters 1 to 4 need of it.

What it has does what torch does, and tests compare each name with torch; anything else is refused in one sentence that
names it (:mod:`.missing`). The list of names, and of what differs, is the ``README.md`` beside this package.
"""

# ruff: noqa: F401

import math

from . import (
    arithmetic,
    comparisons,
    copies,
    creation,
    functions,
    in_place,
    indexing,
    joining,
    matrices,
    printing,
    reductions,
    views,
)
from .autograd import enable_grad, no_grad, set_grad_enabled
from .autograd import enabled as is_grad_enabled
from .dtypes import BOOL, DTYPES, FLOAT32, OTHER_NAMES, DType, finfo, iinfo
from .dtypes import can_cast as _can_cast
from .dtypes import promoted as promote_types
from .memory import MARKS, Device
from .missing import getter, guard_imports, missing
from .registry import FUNCTIONS
from .shapes import Size
from .tensor import Tensor

__version__ = "stand-in for 2.13"
__getattr__ = getter("torch")

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
dtype, device = DType, Device


def set_num_threads(int):  # noqa: A002  # as torch calls it
    """One thread is all there is."""
    if int != 1:
        raise missing("More than one thread")


def get_num_threads():
    """One thread is all there is."""
    return 1


def get_default_dtype():
    """The type of floating-point numbers from Python."""
    return FLOAT32


def can_cast(from_, to):
    """Whether a result of type ``from_`` may be written into a tensor of type ``to``."""
    return _can_cast(from_, to)


globals().update(DTYPES)
globals().update(OTHER_NAMES)
globals().update(MARKS)
globals().update(FUNCTIONS)

from . import autograd, cuda, distributed, futures, nn  # noqa: E402

if __name__ == "torch":
    guard_imports()
