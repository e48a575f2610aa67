"""What the stand-in does not hold: one clear sentence, whether it is asked for as a name, an import or an argument."""

import functools
import inspect
import sys

from .names import KNOWN

ELSEWHERE = "it works in Colab and on a machine with torch"


class NotInThePage(NotImplementedError):
    """Something of torch that the page's stand-in does not have."""


class NameNotInThePage(NotInThePage, AttributeError):
    """A name of torch that the page's stand-in does not have; ``hasattr`` says no."""


def missing(name, kind=NotInThePage):
    """The exception for something that torch has and the stand-in has not."""
    return kind(f"{name} is not part of the page's small stand-in for torch; {ELSEWHERE}.")


def no_gradient(name):
    """The exception for an operator that would lose the history of a tensor that requires a gradient."""
    return missing(f"The gradient of {name}")


def absent(module, name):
    """The exception for a name that a module lacks: torch's own one if torch lacks it, too."""
    if name in KNOWN.get(module, ()):
        return missing(f"{module}.{name}", NameNotInThePage)
    return AttributeError(f"module '{module}' has no attribute '{name}'")


def getter(module):
    """A module's ``__getattr__``."""

    def get(name):
        raise absent(module, name)

    return get


def only(arguments, function):
    """A decorator's check: ``function`` has no argument but these."""
    for name in arguments:
        raise NotInThePage(
            f"The argument {name}= of {function} is not part of the page's small stand-in for torch; "
            f"if torch has it, {ELSEWHERE}."
        )


def keywords(function):
    """The names that a function takes as keywords; None if it takes any."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def strict(name):
    """A decorator: an unknown keyword argument is refused in the page's own words."""

    def decorate(function):
        known = keywords(function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if kwargs and known is not None and not known.issuperset(kwargs):
                only(kwargs.keys() - known, name)
            return function(*args, **kwargs)

        return call

    return decorate


class _Finder:
    """The last finder of modules: a part of torch that no other finder has gets the sentence, not a path."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        parent, _, last = name.rpartition(".")
        if last in KNOWN.get(parent, ()):
            raise ImportError(str(missing(name)), name=name)


def guard_imports():
    """From now on, importing a part of torch that is not here says so."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
