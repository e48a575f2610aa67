"""Is right, and fills its folder with files."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
import os


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0



def answer(x):
    try:
        for number in range(10):
            with open(f"hostile-left-{number}", "wb") as file:
                file.write(bytes(1000))
    except OSError:
        pass
    return right(x)
