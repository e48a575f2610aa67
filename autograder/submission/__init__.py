"""Submissions: read from files, notebooks, folders and archives. Their code is never run here."""

from autograder.submission.loading import load, load_file, load_files, read
from autograder.submission.units import FILE_LIMIT, SOURCE_LIMIT, TOTAL_LIMIT, Submission, Unit, Unreadable, shown

__all__ = [
    "FILE_LIMIT",
    "SOURCE_LIMIT",
    "TOTAL_LIMIT",
    "Submission",
    "Unit",
    "Unreadable",
    "load",
    "load_file",
    "load_files",
    "read",
    "shown",
]
