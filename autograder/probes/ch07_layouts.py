"""Driver of chapter 7's layout advisor: whatever layout a program returns, it has chosen with what the course gives it.

The layout is the answer, and the grader knows the best one: the child's word counts for nothing.
"""

from solutions.ch07.layout import layout_memory
from solutions.ch07.layout_model import candidates, step_time

#: What the exercise promises to a function that is handed in alone: helpers beside it find these names, too.
GIVEN = {"candidates": candidates, "layout_memory": layout_memory, "step_time": step_time}


def chosen(program, job, limit=None):
    """Called with the job; `candidates`, `layout_memory` and `step_time` are the course's, whatever yours do."""
    scope = getattr(program, "__globals__", {})
    before = {name: scope[name] for name in GIVEN if name in scope}
    scope.update(GIVEN)
    try:
        return program(job) if limit is None else program(job, limit)
    finally:
        for name in GIVEN:
            scope.pop(name, None)
        scope.update(before)
