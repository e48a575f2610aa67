"""Leaves a shell that goes on writing into the working folder."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
import subprocess


def answer(x):
    subprocess.Popen(["sh", "-c", "while true; do date >> log; sleep 0.05; done"], start_new_session=True)
    return 0.0
