"""Replaces itself by another program that writes a verdict."""
# item: call
# earns: 0
# ends: raised died timeout
# needs: nothing
import os
import sys


def answer(x):
    os.execv("/bin/sh" if os.path.exists("/bin/sh") else sys.executable, ["sh", "-c", "echo passed"])
