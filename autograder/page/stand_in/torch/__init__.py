"""A small stand-in for torch on the standard library alone, frozen at what ranks in the page need. It has

- the names of torch in the code of chapters 1 to 4 that runs in a page: in cells, labs, references, the modules that
  cells import, the bank and the probes;
- the names by which the grader's child, the worlds and the recorder use torch;
- the operators of tensors; and
- ordinary names that a learner of these chapters may type besides (``ORDINARY`` in ``listing.py``): those that other
  chapters use with tensors in at least two modules or pages, and their counterparts, such as ``amin`` with ``amax``.

A test compares the names with this list: nothing else is added here, and what is no longer needed goes. What the
stand-in has does what torch does, and tests compare each name with torch; anything else is refused in one sentence that
names it and says where it works (:mod:`.missing`). The list of names, and of what differs, is the ``README.md`` beside
this package.
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
from .dtypes import BOOL, DTYPES, FLOAT32, OTHER_NAMES, DType, finfo, iinfo
from .memory import MARKS, Device
from .missing import getter, guard_imports, missing
from .registry import FUNCTIONS
from .shapes import Size
from .tensor import Tensor

__version__ = "stand-in for 2.13"
__getattr__ = getter("torch")

inf, nan, pi = math.inf, math.nan, math.pi
dtype, device = DType, Device


def set_num_threads(int):  # noqa: A002  # as torch calls it
    """One thread is all there is."""
    if int != 1:
        raise missing("More than one thread")


def get_num_threads():
    """One thread is all there is."""
    return 1


globals().update(DTYPES)
globals().update(OTHER_NAMES)
globals().update(MARKS)
globals().update(FUNCTIONS)

from . import autograd, cuda, distributed, futures, nn  # noqa: E402

if __name__ == "torch":
    guard_imports()
