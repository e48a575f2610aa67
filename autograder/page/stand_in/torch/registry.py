"""How operations come to be functions of ``torch`` and methods of :class:`.tensor.Tensor`, each under one check.

An operation says what happens to gradients: it has a rule (:data:`RULE`), its result has none in torch either
(:data:`NONE`), or, by default, it refuses a tensor that requires one.
"""

import functools

from . import autograd
from .missing import keywords, no_gradient, only
from .tensor import Tensor

RULE, NONE, REFUSED = "rule", "none", "refused"

#: The functions of ``torch`` that work on tensors, by name.
FUNCTIONS: dict = {}
#: Operations whose first operand may be a number if the second is a tensor.
AFTER_NUMBERS = frozenset(
    {
        *("add", "sub", "mul", "div", "pow", "bitwise_and", "bitwise_or", "bitwise_xor"),
    }
)
#: NumPy's names of arguments, which torch takes as well.
NUMPYS = {"axis": "dim", "keepdims": "keepdim"}
#: What differs from torch, by the name of an operation; for the list of names.
DIFFERS: dict = {}
#: The operations that refuse a tensor that requires a gradient.
WITHOUT_GRADIENT: set = set()
#: The methods that write in place.
IN_PLACE: set = set()


def of_tensors(name, value):
    """Give the class of tensors something that is no operation."""
    setattr(Tensor, name, value)


def operation(*names, function=True, method=True, gradient=REFUSED, differs=""):
    """Make a function, whose first argument is a tensor, available under these names."""

    def decorate(body):
        for name in names:
            call = _checked(body, name, gradient)
            if function and not name.endswith("__"):
                FUNCTIONS[name] = call
            if method:
                setattr(Tensor, name, call)
            if differs:
                DIFFERS[name] = differs
            if name.endswith("_") and not name.endswith("__"):
                IN_PLACE.add(name)
            if gradient == REFUSED:
                WITHOUT_GRADIENT.add(name)
        return body

    return decorate


def _checked(body, name, gradient):
    known, refuses = keywords(body), gradient == REFUSED

    @functools.wraps(body)
    def call(*args, **kwargs):
        if kwargs:
            if not args and "input" in kwargs:
                args = (kwargs.pop("input"),)
            kwargs = {NUMPYS.get(key, key) if key not in known else key: value for key, value in kwargs.items()}
            if not known.issuperset(kwargs):
                only(kwargs.keys() - known, f"torch.{name}")
        if not args or not (isinstance(args[0], Tensor) or (name in AFTER_NUMBERS and _follows_number(args))):
            found = type(args[0]).__name__ if args else "nothing"
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {found}")
        if refuses and autograd.enabled() and _any_asks(args, kwargs):
            raise no_gradient(f"torch.{name}")
        return body(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def _follows_number(args):
    return isinstance(args[0], (int, float)) and isinstance(args[1] if len(args) > 1 else None, Tensor)


def _any_asks(args, kwargs):
    return any(isinstance(one, Tensor) and one.requires_grad for one in (*args, *kwargs.values()))


def plain_function(*names, differs=""):
    """Make a function available whose first argument is no tensor."""

    def decorate(body):
        known = keywords(body)

        @functools.wraps(body)
        def call(*args, **kwargs):
            if kwargs and not known.issuperset(kwargs):
                only(kwargs.keys() - known, f"torch.{names[0]}")
            return body(*args, **kwargs)

        for name in names:
            FUNCTIONS[name] = call
            if differs:
                DIFFERS[name] = differs
        return call

    return decorate
