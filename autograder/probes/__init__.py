"""Drivers for items that one plain call cannot judge, one module or a few per chapter; see ``Build.probe``.

A driver runs beside the learner's program, in the child: its module imports torch, the standard library and, at its
top, what it needs of ``rankzero`` and ``solutions`` (:mod:`autograder.running.driver_imports`), but no reference that
an item with this driver asks for. It is called as ``driver(program, *args, **kwargs)`` and returns plain data: numbers,
lists, dictionaries, tensors. The first line of its docstring tells a learner how the function is called.

A driver runs in the submission's own process, which cannot be trusted, so a driver decides nothing. It returns values,
and the grader compares them with those that the same driver returns for the reference; where many answers are right,
``concludes`` of the item evaluates an answer in the grader's process. Three rules make a false answer as hard to
give as a right one:

- No answer is a verdict. "Was the input changed?" is answered by the input as it is after the call, "is this tensor
  a copy?" by its values after the original has been overwritten, "in what order?" by the list of operations.
- To forge a value one has to know it, and to know it one needs the right program.
- A driver's module is loaded before any of the submission's code runs, with built-ins of its own. It binds what it uses
  of a library at import, so that it never calls a function replaced later (``torch.equal``, ``Tensor.clone``).

What cannot be seen in a value is recorded in the child, and the grader has to believe it. The driver's module says what
that is, and why a lie about it does not pay.
"""
