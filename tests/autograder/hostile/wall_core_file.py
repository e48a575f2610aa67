"""Asks for a core file and crashes."""
# item: call
# earns: 0
# ends: died
# needs: nothing
import os
import resource


def answer(x):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    except (OSError, ValueError):
        pass
    os.abort()
