"""Is a partial object."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
import functools


def power(exponent, values):
    if any(value < 0 for value in values):
        raise ValueError
    return 1.0 + sum(value**exponent for value in values)


answer = functools.partial(power, 2)
