"""The tensor: elements in shared memory, seen through a shape and strides. Views share memory, copies do not.

What is computed from tensors is in the other modules, which add their methods to the class (:mod:`.registry`).
"""

import math
import warnings

from . import autograd, shapes
from .dtypes import BOOL, BOOLEAN, DTYPES, INTEGER, DType, converted, packed
from .memory import CPU, MARKS, META, Device, Storage
from .missing import NotInThePage, absent, missing
from .shapes import Size

OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
FOLDED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)


class Tensor:
    """Numbers of one type, with a shape."""

    layout = MARKS["strided"]
    is_cuda = False

    @classmethod
    def _made(cls, storage, shape, kind, strides=None, offset=0, base=None):
        """A tensor over some memory; ``base`` is the tensor whose memory a view shares."""
        self = object.__new__(cls)
        self._storage, self._shape, self.dtype, self._offset = storage, Size(shape), kind, offset
        self._strides = shapes.strides_of(shape) if strides is None else tuple(strides)
        self._base, self._node, self._leaf, self._grad, self._asks, self._written = base, None, None, None, False, 0
        self._watches = base is not None and base._node is None
        return self

    @classmethod
    def _of(cls, values, shape, kind):
        """A new tensor with these numbers."""
        return cls._made(Storage(packed(values, kind)), shape, kind)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        error = absent("torch.Tensor", name)
        raise error if isinstance(error, NotInThePage) else AttributeError(f"'Tensor' object has no attribute '{name}'")

    # What it is

    @property
    def shape(self):
        return self._shape

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def device(self):
        return CPU if self._storage is not None else META

    @property
    def nbytes(self):
        return self.numel() * self.dtype.itemsize

    def dim(self):
        return len(self._shape)

    def size(self, dim=None):
        return self._shape if dim is None else self._shape[shapes.dimension(dim, self.ndim)]

    def numel(self):
        return math.prod(self._shape)

    def element_size(self):
        return self.dtype.itemsize

    def stride(self, dim=None):
        return self._strides if dim is None else self._strides[shapes.dimension(dim, self.ndim)]

    def data_ptr(self):
        return self._storage.address() + self._offset * self.dtype.itemsize if self.numel() else 0

    def is_contiguous(self, memory_format=MARKS["contiguous_format"]):
        return shapes.is_contiguous(self._shape, self._strides)

    def is_floating_point(self):
        return self.dtype.is_floating_point

    # Memory

    def _values(self, kind=None):
        """All elements in order, as Python numbers; as numbers of the type ``kind`` if it is given."""
        if self._storage is None:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        cells, start = self._storage.cells(self.dtype), self._offset
        if self.is_contiguous():
            found = cells[start : start + self.numel()].tolist()
        else:
            found = [cells[place] for place in self._places()]
        return found if kind is None else converted(found, self.dtype, kind)

    def _sequence(self, kind=None):
        """As :meth:`_values`, but without a copy where the memory holds just these numbers."""
        plain = kind is None or kind is self.dtype
        if plain and self._storage is not None and self.is_contiguous():
            return self._storage.cells(self.dtype)[self._offset : self._offset + self.numel()]
        return self._values(kind)

    def _places(self):
        """Where the elements are in memory, in order."""
        return shapes.places(self._offset, self._shape, self._strides)

    def _write(self, values):
        """Overwrite all elements with numbers of this type, and count it. Returns the tensor."""
        cells, start = self._storage.cells(self.dtype), self._offset
        if self.is_contiguous():
            cells[start : start + self.numel()] = memoryview(packed(values, self.dtype)).cast(self.dtype.code)
        else:
            self._put(self._places(), values)
        self._storage.version += 1
        return self

    def _content(self):
        """The memory of a contiguous tensor's elements."""
        size = self.dtype.itemsize
        return self._storage.memory[self._offset * size : (self._offset + self.numel()) * size]

    def _write_from(self, other):
        """Overwrite all elements with those of a tensor of this shape, converted. Returns the tensor."""
        if other.dtype is not self.dtype or not (self.is_contiguous() and other.is_contiguous()):
            return self._write(other._values(self.dtype))
        self._content()[:] = other._content()
        self._storage.version += 1
        return self

    def _put(self, places, values):
        cells = self._storage.cells(self.dtype)
        fresh = memoryview(packed(values, self.dtype)).cast(self.dtype.code)
        for place, value in zip(places, fresh.tolist(), strict=True):
            cells[place] = value

    def _alias(self, shape, strides, offset=None, kind=None):
        """A view: the same memory in another shape."""
        offset = self._offset if offset is None else offset
        base = self if self._base is None else self._base
        return Tensor._made(self._storage, shape, kind or self.dtype, strides, offset, base)

    def _expanded(self, shape):
        """A view of a shape that this one broadcasts to."""
        return self._alias(shape, shapes.stretched(self._shape, self._strides, shape))

    def _check_writable(self, *others, folded=False):
        """Refuse what torch refuses before a write in place: overlaps, leaves with gradients, and folded memory."""
        pairs = zip(self._shape, self._strides, strict=True)
        if not folded and any(size > 1 and stride == 0 for size, stride in pairs):
            raise RuntimeError(FOLDED)
        for other in others:
            if isinstance(other, Tensor) and self._overlaps(other):
                raise RuntimeError(OVERLAP)
        if not autograd.enabled():
            return
        base = self._base
        if base is not None and base._node is None and (self.requires_grad or base._asks):
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        if self.requires_grad and self._node is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")

    def _overlaps(self, other):
        """Whether another tensor shares some memory with this one, but not all of it in the same order."""
        if other is self or other._storage.memory.obj is not self._storage.memory.obj:
            return False
        mine, theirs = ((t._offset, t._shape, t._strides) for t in (self, other))
        if not (shapes.is_dense(*mine[1:]) and shapes.is_dense(*theirs[1:])):
            return False
        (start, end), (first, last) = shapes.span(*mine), shapes.span(*theirs)
        if (start, end) == (first, last):
            return self._strides != other._strides
        return start < last and first < end

    # Gradients

    @property
    def requires_grad(self):
        if self._watches and self._node is None and self._base._node is not None:
            raise missing("A view of a tensor that got a gradient's history after the view was made")
        return self._asks or self._node is not None

    @requires_grad.setter
    def requires_grad(self, wanted):
        if self._node is not None and not wanted:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if wanted and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._asks = bool(wanted)

    def requires_grad_(self, requires_grad=True):
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self):
        return self._node is None

    @property
    def grad_fn(self):
        return self._node

    @property
    def _keeps_grad(self):
        return self._node is not None and any(kept is self for kept in self._node.kept)

    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is not None and not self._keeps_grad:
            self._node.kept.append(self)

    @property
    def grad(self):
        if self._node is not None and not self._keeps_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't"
                " be populated during autograd.backward(). If you indeed want the .grad field to be populated for a"
                " non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, gradient):
        if gradient is not None and not isinstance(gradient, Tensor):
            kind = type(gradient).__name__
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {kind}")
        if gradient is not None and gradient.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(gradient.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if gradient is not None and gradient.dtype is not self.dtype:
            raise missing("A gradient of another type than its tensor")
        self._grad = gradient

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Add the gradients of this tensor to the ``grad`` of the leaves that it depends on."""
        if inputs is not None:
            raise missing("backward(inputs=...)")
        autograd.backward(self, gradient, retain_graph, create_graph)

    def detach(self):
        return Tensor._made(self._storage, self._shape, self.dtype, self._strides, self._offset)

    @property
    def data(self):
        found = self.detach()
        found._storage = self._storage.again()
        return found

    @data.setter
    def data(self, other):
        if not isinstance(other, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
        if other.dtype is not self.dtype:
            raise missing("Assigning .data of another type")
        if self._base is not None:
            raise missing("Assigning .data to a view")
        self._storage, self._offset = other._storage.again(), other._offset
        self._shape, self._strides = other._shape, other._strides

    # Python's numbers and sequences

    def item(self):
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self._values()[0]

    def tolist(self):
        found = self._values()
        if not self._shape:
            return found[0]
        for place in range(len(self._shape) - 1, 0, -1):
            size, rows = self._shape[place], math.prod(self._shape[:place])
            found = [found[row * size : (row + 1) * size] for row in range(rows)]
        return found

    def _only(self):
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._values()[0]

    def __float__(self):
        return float(self._only())

    def __int__(self):
        return int(self._only())

    def __bool__(self):
        if self.numel() != 1:
            kind = "no values" if not self.numel() else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
        return bool(self._values()[0])

    def __index__(self):
        if self.dtype.is_floating_point or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._values()[0])

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self.flip(0) if self._shape else self

    def __contains__(self, element):
        if isinstance(element, (Tensor, int, float)):
            return bool((element == self).any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def __hash__(self):
        return id(self)

    def __format__(self, spec):
        if not self._shape and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    # Copies of Python's own

    def __reduce_ex__(self, protocol):
        return rebuilt, (self.dtype.name, tuple(self._shape), self._values(), self._asks)

    def __copy__(self):
        made = type(self)._made(self._storage.again(), self._shape, self.dtype, self._strides, self._offset)
        return made.requires_grad_(self.requires_grad)

    def __deepcopy__(self, memo):
        if self._node is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        found = memo[id(self)] = self.detach().clone().requires_grad_(self._asks)
        found._grad = None if self._grad is None else self._grad.clone()
        return found


Tensor.__module__ = "torch"


def rebuilt(dtype, shape, values, requires_grad):
    """A tensor from its pickled parts."""
    made = Tensor._of(values, shape, DTYPES[dtype])
    return made.requires_grad_() if requires_grad else made


def check_device(device, function):
    """Refuse any device but the processor."""
    if device is not None and Device(device).type != "cpu":
        raise missing(f"{function} on the device {str(device)!r}")


def as_kind(dtype, default):
    """The type that an argument asks for."""
    if dtype is None:
        return default
    if dtype in (bool, int, float):
        return {bool: BOOL, int: DTYPES["int64"], float: DTYPES["float64"]}[dtype]
    if not isinstance(dtype, DType):
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return dtype


def is_number(value):
    return isinstance(value, (int, float))


def is_integral(kind):
    return kind.category in (BOOLEAN, INTEGER)
