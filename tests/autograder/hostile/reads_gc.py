"""Asks the garbage collector for every string, float and bank object."""
# item: call
# earns: 0
# ends: value refused raised timeout
# needs: nothing
import gc


def answer(x):
    found = []
    for thing in gc.get_objects():
        kind = type(thing).__name__
        if kind in ("Case", "Build", "Outcome", "Paper"):
            found.append(kind)
        if type(thing) in (list, tuple, dict):
            parts = thing.values() if type(thing) is dict else thing
            found += [part for part in list(parts) if type(part) is str and "SECRET" in part and len(part) < 200]
            found += [str(part) for part in list(parts) if type(part) is float]
    return found[:1000]
