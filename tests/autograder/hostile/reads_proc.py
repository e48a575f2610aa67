"""Reads environment, command line and memory map of every process."""
# item: call
# earns: 0
# ends: value raised
# needs: processes
import glob


def answer(x):
    found = []
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                found.append(file.read(10_000).decode("latin-1"))
        except OSError:
            pass
    return "".join(found)
