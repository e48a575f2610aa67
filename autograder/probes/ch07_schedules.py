"""Driver of chapter 7's schedules: orders of operations, which the grader checks and simulates itself."""


def timed(program, *args, **kwargs):
    """The orders that it returns are checked and simulated; rules, makespans and peaks count, not the order itself."""
    return program(*args, **kwargs)
