"""Drivers for items that one plain call cannot judge, one module per chapter; see ``Build.probe``.

A driver runs beside the learner's program, in the child too: its module imports torch and the standard library alone.
It is called as ``driver(program, *args, **kwargs)`` and returns plain data: numbers, lists, dictionaries, tensors. The
first line of its docstring tells a learner what is done with the function.
"""
