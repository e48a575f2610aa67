"""Wrong programs for ``FutureMap``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

FUTURE_MAP = (
    Slip("`-0` is token 0: the first placeholder is -1.", edit=("range(1, count + 1)", "range(count)")),
    Slip(
        "A reservation does not wrap in its middle: the last one goes on beyond the limit.",
        edit=(
            "-(self._cursor + place) for place in range(1, count + 1)",
            "-((self._cursor + place) % (3 * self.max_running) + 1) for place in range(count)",
        ),
    ),
    Slip(
        "A slot that is reserved again is empty: yours still gives the token of an earlier round.",
        edit=("self._slots |= dict.fromkeys(reserved)", "self._slots = dict.fromkeys(reserved) | self._slots"),
    ),
    Slip(
        "The cursor starts again after 3 * max_running slots; yours grows without bound.",
        edit=("(self._cursor + count) % (3 * self.max_running)", "self._cursor + count"),
    ),
    Slip(
        "A ring of max_running slots hands out placeholders that are still in use: the limit is three times that.",
        edit=("% (3 * self.max_running)", "% self.max_running"),
    ),
    Slip(
        "An empty slot must raise RuntimeError: a placeholder that is handed on becomes a token of the model.",
        edit=(
            '            raise RuntimeError(f"the slot of placeholder {placeholder} is empty")',
            "            return placeholder",
        ),
    ),
    Slip(
        "Two maps share their slots: keep them in the instance, not in the class.",
        edits=(
            (
                "    def __init__(self, max_running: int) -> None:",
                "    _slots: dict[int, int | None] = {}\n\n    def __init__(self, max_running: int) -> None:",
            ),
            ("        self._slots: dict[int, int | None] = {}  # of reserved placeholders; None is empty\n", ""),
            (
                "        self._slots |= dict.fromkeys(reserved)\n",
                "        self._slots.update(dict.fromkeys(reserved))\n",
            ),
            (
                "self._slots |= zip(placeholders, tokens, strict=True)",
                "self._slots.update(zip(placeholders, tokens, strict=True))",
            ),
        ),
    ),
    Slip(
        "A placeholder that nobody reserved must raise ValueError; yours is filled.",
        edit=(
            "        for placeholder in placeholders:\n"
            "            if placeholder not in self._slots:\n"
            '                raise ValueError(f"placeholders must be reserved, got {placeholder}")\n',
            "",
        ),
    ),
)
