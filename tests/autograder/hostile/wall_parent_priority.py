"""Makes the process that started it slow."""
# item: call
# earns: 0
# ends: value raised
# needs: processes
import os


def answer(x):
    os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
    return 0.0
