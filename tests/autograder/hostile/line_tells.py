"""Raises at a line that is its input, in code under its own file's name."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    exec(compile("\n" * (int(abs(x[0])) - 1) + "raise RuntimeError", answer.__code__.co_filename, "exec"))
