"""Chapter 7: orders of operations, which the grader checks and plays itself."""

# mypy: no-check-untyped-defs


def timed(program, *args, **kwargs):
    """The orders that it returns are checked and played; rules, makespans and peaks count, not the order itself."""
    return program(*args, **kwargs)
