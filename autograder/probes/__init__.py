"""Drivers for items that one plain call cannot judge, one module or a few per chapter; see ``Build.probe``.

A driver runs beside the learner's program, in the child too: its module imports torch and the standard library alone.
It is called as ``driver(program, *args, **kwargs)`` and returns plain data: numbers, lists, dictionaries, tensors. The
first line of its docstring tells a learner what is done with the function.

Whatever a driver says about a submission is said in the submission's own process, so a driver decides nothing. It hands
back values, and the grader compares them with those that the same driver brings back from the reference; where many
answers are right, :mod:`autograder.conclusions` says in the grader's process what an answer comes to. Three rules make
a false answer as hard to give as a right one:

- No answer is a verdict. "Was the input changed?" is answered by the input as it is after the call, "is this tensor
  a copy?" by its values after the original has been overwritten, "in what order?" by the list of operations.
- Whoever can name the values that are asked for can also return them: a forged value needs the right program.
- A driver's module is loaded before any of the submission's code runs, with built-ins of its own. What it uses of a
  library it takes by name at its import, so that a function replaced later (``torch.equal``, ``Tensor.clone``) is not
  the one that it calls.

What cannot be seen in a value is recorded in the child and stands on its word. The driver's module says what that is,
and why a lie about it does not pay.
"""
