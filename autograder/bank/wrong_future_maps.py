"""Wrong programs for ``FutureMap``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class StartsAtZero:
    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-(self.cursor + place) for place in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


class WrapsInside:
    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-((self.cursor + place) % (3 * self.most) + 1) for place in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


class KeepsOldTokens:
    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-(self.cursor + place + 1) for place in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        for placeholder in reserved:
            self.slots.setdefault(placeholder, None)
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


class GrowsForEver:
    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-(self.cursor + place + 1) for place in range(count)]
        self.cursor = self.cursor + count
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


class SmallRing:
    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-(self.cursor + place + 1) for place in range(count)]
        self.cursor = (self.cursor + count) % self.most
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


class GivesPlaceholders:
    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-(self.cursor + place + 1) for place in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        return [token if value is None else value for token, value in zip(tokens, found, strict=True)]


class SharedSlots:
    slots = {}  # noqa: RUF012

    def __init__(self, max_running):
        if not isinstance(max_running, int) or isinstance(max_running, bool) or max_running < 1:
            raise ValueError("max_running")
        self.most, self.cursor = max_running, 0

    def reserve(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= self.most:
            raise ValueError("count")
        reserved = [-(self.cursor + place + 1) for place in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        if len(placeholders) != len(tokens) or any(one not in self.slots for one in placeholders):
            raise ValueError("placeholders")
        for placeholder, token in zip(placeholders, tokens, strict=True):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


class AnyCount:
    def __init__(self, max_running):
        self.most, self.cursor, self.slots = max_running, 0, {}

    def reserve(self, count):
        reserved = [-(self.cursor + place + 1) for place in range(count)]
        self.cursor = (self.cursor + count) % (3 * self.most)
        for placeholder in reserved:
            self.slots[placeholder] = None
        return reserved

    def store(self, placeholders, tokens):
        for placeholder, token in zip(placeholders, tokens, strict=False):
            self.slots[placeholder] = token

    def resolve(self, tokens):
        found = [token if token >= 0 else self.slots.get(token) for token in tokens]
        if None in found:
            raise RuntimeError("an empty slot")
        return found


FUTURE_MAP = (
    Slip("`-0` is token 0: the first placeholder is -1.", StartsAtZero),
    Slip("A reservation does not wrap in its middle: the last one goes on beyond the limit.", WrapsInside),
    Slip("A slot that is reserved again is empty: yours still gives the token of an earlier round.", KeepsOldTokens),
    Slip("The cursor starts again after 3 * max_running slots; yours grows without bound.", GrowsForEver),
    Slip(
        "A ring of max_running slots hands out placeholders that are still in use: the limit is three times that.",
        SmallRing,
    ),
    Slip(
        "An empty slot must raise RuntimeError: a placeholder that is handed on becomes a token of the model.",
        GivesPlaceholders,
    ),
    Slip("Two maps share their slots: keep them in the instance, not in the class.", SharedSlots),
    Slip(
        "Bad input must raise ValueError: a count out of range, a placeholder that nobody reserved, unequal lengths.",
        AnyCount,
    ),
)
