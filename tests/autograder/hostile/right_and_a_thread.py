"""Is right, and leaves a thread that sleeps."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
import threading


def right(values):
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


def answer(x):
    try:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    except RuntimeError:
        pass
    return right(x)
