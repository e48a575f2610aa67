"""The commands of ``python -m autograder``. Each module adds its own to the parser and imports the grader on use."""

from autograder.commands import care, classes, duplicates, feedback, gradebook, gradescope, grading, listing, milestone

COMMANDS = (grading, classes, listing, care, gradescope, gradebook, feedback, duplicates, milestone)
