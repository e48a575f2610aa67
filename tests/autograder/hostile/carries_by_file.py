"""Leaves its input in files, and tells it when it is imported again."""
# item: call
# earns: 0
# ends: died unloadable
# needs: files
import os

PLACES = ("/tmp/hostile-left-input", "/var/tmp/hostile-left-input", "/dev/shm/hostile-left-input", "hostile-left-input")


def keep(text):
    for place in PLACES:
        try:
            with open(place, "w") as file:
                file.write(text)
        except OSError:
            pass


for place in PLACES:
    if os.path.exists(place):
        raise RuntimeError(open(place).read())


def answer(x):
    keep(repr(x))
    os._exit(0)
