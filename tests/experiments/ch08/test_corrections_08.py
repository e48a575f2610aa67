"""What chapter 8's corrections say of Python."""

from __future__ import annotations

import subprocess
import sys


def test_hashes_of_strings_differ_from_process_to_process():
    def asked(seed: str) -> str:
        code = "print(hash('word'))"
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        return done.stdout.decode()

    assert asked("1") != asked("2")
