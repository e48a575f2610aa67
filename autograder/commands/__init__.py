"""The commands of ``python -m autograder``. Each module adds its own to the parser and imports the grader on use."""

from autograder.commands import (
    classes,
    duplicates,
    feedback,
    gradebook,
    gradescope,
    grading,
    listing,
    maintenance,
    milestone,
)

COMMANDS = (grading, classes, listing, maintenance, gradescope, gradebook, feedback, duplicates, milestone)
