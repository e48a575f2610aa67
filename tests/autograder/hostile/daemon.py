"""Leaves a process with a session of its own, twice forked."""
# item: call
# earns: 0
# ends: died value raised
# needs: nothing
import os
import time


def answer(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(256):
                try:
                    os.close(descriptor)
                except OSError:
                    pass
            while True:
                time.sleep(1)
        os._exit(0)
    return 0.0
