"""What stands between a caller and a function of ``torch.distributed``: the check of its keywords.

Frames of this file, as those of torch's file of the same name, do not count when a grader looks for the function that a
program called.
"""

import functools

from ..missing import keywords, only

#: What a rank gets in place of a group that it does not belong to.
NON_GROUP_MEMBER = -100


def public(function):
    """A function of ``torch.distributed`` that refuses unknown keyword arguments."""
    known = keywords(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not known.issuperset(kwargs):
            only(kwargs.keys() - known, f"torch.distributed.{function.__name__}")
        return function(*args, **kwargs)

    return call


def logged(function):
    """A function whose errors torch writes down with the name of the group's backend: outside the group it has none."""
    checked = public(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return checked(*args, **kwargs)
        except Exception:
            if kwargs.get("group") == NON_GROUP_MEMBER:
                raise ValueError("Invalid process group specified") from None
            raise

    return call
