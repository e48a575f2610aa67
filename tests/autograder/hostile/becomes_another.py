"""Replaces itself by another program that writes a verdict."""
# ends: died timeout
# levels: none
import os
import sys


def answer(x):
    os.execv("/bin/sh" if os.path.exists("/bin/sh") else sys.executable, ["sh", "-c", "echo passed"])
