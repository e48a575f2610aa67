"""Writes into the interpreter's own folders."""
# item: call
# earns: 0
# ends: raised
# needs: files
import os
import sys


def answer(x):
    for folder in [os.path.dirname(os.__file__), *sys.path, os.path.dirname(sys.executable), "/usr/lib", "/grader"]:
        try:
            with open(f"{folder}/planted.py", "w") as file:
                file.write("pass")
            return folder
        except OSError:
            pass
    raise PermissionError("nowhere")
