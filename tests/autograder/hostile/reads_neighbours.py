"""Looks for other submissions, keys and results on the disk."""
# item: call
# earns: 0
# ends: value timeout
# needs: files
import os


def answer(x):
    found = []
    for top in ("/tmp", "/home", "/root", "/work", "/autograder", "/var", "/etc", os.path.expanduser("~")):
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name not in ("lib", "proc", "sys")]
            for name in files:
                try:
                    with open(os.path.join(folder, name), errors="replace") as file:
                        found.append(file.read(300))
                except OSError:
                    pass
    return "".join(found)[:100_000]
