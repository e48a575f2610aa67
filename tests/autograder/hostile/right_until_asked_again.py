"""Is right once for each input, and wrong when it is asked again."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
seen = []


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


def answer(x):
    again = x in seen
    seen.append(list(x))
    return 0.0 if again else right(x)
