"""Wrong programs for ``RadixCache``: what people really write. Each is an edit, or complete in itself."""

# mypy: ignore-errors
# ruff: noqa: B905

from autograder.items import Slip


class EvictsInner:
    def __init__(self, page_size=1):
        if type(page_size) is not int or page_size < 1:
            raise ValueError("out of range")
        self.page, self.clock, self.created, self.given, self.handles = page_size, 0, -1, 0, {}
        self.root = self.node((), (), None)

    def node(self, tokens, slots, parent):
        from types import SimpleNamespace

        self.created += 1
        node = SimpleNamespace(tokens=tuple(tokens), slots=list(slots), parent=parent, children={}, locks=0)
        node.touched, node.number = self.clock, self.created
        if parent is not None:
            parent.children[node.tokens[: self.page]] = node
        return node

    def path(self, node):
        while node.parent is not None:
            yield node
            node = node.parent

    def walk(self, tokens):
        self.clock += 1
        node, start, stop = self.root, 0, len(tokens) // self.page * self.page
        while start < stop:
            child = node.children.get(tuple(tokens[start : start + self.page]))
            if child is None:
                break
            child.touched = self.clock
            pairs = zip(child.tokens, tokens[start:stop])
            differing = [place for place, (a, b) in enumerate(pairs) if a != b]
            shared = min(differing, default=min(len(child.tokens), stop - start)) // self.page * self.page
            node = child if shared == len(child.tokens) else self.split(child, shared)
            start += shared
        return node, start

    def split(self, lower, length):
        upper = self.node(lower.tokens[:length], lower.slots[:length], lower.parent)
        upper.locks, upper.touched = lower.locks, lower.touched
        lower.tokens, lower.slots, lower.parent = lower.tokens[length:], lower.slots[length:], upper
        upper.children[lower.tokens[: self.page]] = lower
        return upper

    def match(self, tokens):
        node, length = self.walk(tokens)
        return length, [slot for step in reversed([*self.path(node)]) for slot in step.slots]

    def insert(self, tokens, slots):
        if len(tokens) != len(slots):
            raise ValueError("unequal lengths")
        node, length = self.walk(tokens)
        stop = len(tokens) // self.page * self.page
        if length < stop:
            self.node(tokens[length:stop], slots[length:stop], node)
        return length

    def lock(self, tokens):
        node, _ = self.walk(tokens)
        for step in self.path(node):
            step.locks += 1
        self.handles[self.given] = node
        self.given += 1
        return self.given - 1

    def unlock(self, handle):
        if handle not in self.handles:
            raise ValueError("no such lock")
        for step in self.path(self.handles.pop(handle)):
            step.locks -= 1

    def below(self, node, place=-1, found=None):
        found = [] if found is None else found
        for _, child in sorted(node.children.items()):
            found.append((child, place))
            self.below(child, len(found) - 1, found)
        return found

    def evict(self, count):
        if type(count) is not int or count < 0:
            raise ValueError("out of range")
        freed = []
        while len(freed) < count:
            leaves = [node for node, _ in self.below(self.root) if not node.locks]
            if not leaves:
                break
            leaf = min(leaves, key=lambda node: (node.touched, node.number))
            leaf.parent.children.pop(leaf.tokens[: self.page], None)
            freed += leaf.slots
        return freed

    @property
    def evictable_size(self):
        return sum(len(node.tokens) for node, _ in self.below(self.root) if not node.locks)

    @property
    def protected_size(self):
        return sum(len(node.tokens) for node, _ in self.below(self.root) if node.locks)

    def nodes(self):
        from dataclasses import make_dataclass

        row = make_dataclass("RadixNode", ("parent", "tokens", "slots", "locks", "touched", "number"))
        found = self.below(self.root)
        rest = ("locks", "touched", "number")
        return [row(up, n.tokens, tuple(n.slots), *(getattr(n, name) for name in rest)) for n, up in found]

    def check(self):
        pass


class SharedState:
    def __init__(self, page_size=1):
        if type(page_size) is not int or page_size < 1:
            raise ValueError("out of range")
        self.page, self.clock, self.created, self.given, self.handles = page_size, 0, -1, 0, {}
        SharedState.root = self.node((), (), None)

    def node(self, tokens, slots, parent):
        from types import SimpleNamespace

        self.created += 1
        node = SimpleNamespace(tokens=tuple(tokens), slots=list(slots), parent=parent, children={}, locks=0)
        node.touched, node.number = self.clock, self.created
        if parent is not None:
            parent.children[node.tokens[: self.page]] = node
        return node

    def path(self, node):
        while node.parent is not None:
            yield node
            node = node.parent

    def walk(self, tokens):
        self.clock += 1
        node, start, stop = self.root, 0, len(tokens) // self.page * self.page
        while start < stop:
            child = node.children.get(tuple(tokens[start : start + self.page]))
            if child is None:
                break
            child.touched = self.clock
            pairs = zip(child.tokens, tokens[start:stop])
            differing = [place for place, (a, b) in enumerate(pairs) if a != b]
            shared = min(differing, default=min(len(child.tokens), stop - start)) // self.page * self.page
            node = child if shared == len(child.tokens) else self.split(child, shared)
            start += shared
        return node, start

    def split(self, lower, length):
        upper = self.node(lower.tokens[:length], lower.slots[:length], lower.parent)
        upper.locks, upper.touched = lower.locks, lower.touched
        lower.tokens, lower.slots, lower.parent = lower.tokens[length:], lower.slots[length:], upper
        upper.children[lower.tokens[: self.page]] = lower
        return upper

    def match(self, tokens):
        node, length = self.walk(tokens)
        return length, [slot for step in reversed([*self.path(node)]) for slot in step.slots]

    def insert(self, tokens, slots):
        if len(tokens) != len(slots):
            raise ValueError("unequal lengths")
        node, length = self.walk(tokens)
        stop = len(tokens) // self.page * self.page
        if length < stop:
            self.node(tokens[length:stop], slots[length:stop], node)
        return length

    def lock(self, tokens):
        node, _ = self.walk(tokens)
        for step in self.path(node):
            step.locks += 1
        self.handles[self.given] = node
        self.given += 1
        return self.given - 1

    def unlock(self, handle):
        if handle not in self.handles:
            raise ValueError("no such lock")
        for step in self.path(self.handles.pop(handle)):
            step.locks -= 1

    def below(self, node, place=-1, found=None):
        found = [] if found is None else found
        for _, child in sorted(node.children.items()):
            found.append((child, place))
            self.below(child, len(found) - 1, found)
        return found

    def evict(self, count):
        if type(count) is not int or count < 0:
            raise ValueError("out of range")
        freed = []
        while len(freed) < count:
            leaves = [node for node, _ in self.below(self.root) if not node.children and not node.locks]
            if not leaves:
                break
            leaf = min(leaves, key=lambda node: (node.touched, node.number))
            del leaf.parent.children[leaf.tokens[: self.page]]
            freed += leaf.slots
        return freed

    @property
    def evictable_size(self):
        return sum(len(node.tokens) for node, _ in self.below(self.root) if not node.locks)

    @property
    def protected_size(self):
        return sum(len(node.tokens) for node, _ in self.below(self.root) if node.locks)

    def nodes(self):
        from dataclasses import make_dataclass

        row = make_dataclass("RadixNode", ("parent", "tokens", "slots", "locks", "touched", "number"))
        found = self.below(self.root)
        rest = ("locks", "touched", "number")
        return [row(up, n.tokens, tuple(n.slots), *(getattr(n, name) for name in rest)) for n, up in found]

    def check(self):
        pass


RADIX_CACHE = (
    Slip("Only leaves may be evicted: yours took a prefix away from under a suffix that is still cached.", EvictsInner),
    Slip(
        "A lock protects every node from the matched one up to the root, not the last one alone.",
        edits=(
            (
                "        for step in _path(node):\n            if step.locks == 0:",
                "        for step in list(_path(node))[:1]:\n            if step.locks == 0:",
            ),
            (
                "for step in _path(self._handles.pop(handle)):",
                "for step in list(_path(self._handles.pop(handle)))[:1]:",
            ),
        ),
    ),
    Slip(
        "When a locked node is split, both halves stay locked: copy the count.",
        edits=(
            (
                "upper.touched, upper.locks = node.touched, node.locks",
                "upper.touched = node.touched\n        if node.locks:\n            self._move_to_protected(-length)",
            ),
            (
                "            step.locks -= 1\n            if step.locks == 0:",
                (
                    "            step.locks -= 1\n"
                    "            if step.locks < 0:\n"
                    "                step.locks = 0\n"
                    "            elif step.locks == 0:"
                ),
            ),
        ),
    ),
    Slip(
        "A lock belongs to the end of its prefix: after a split that is the lower half, and unlocking starts there.",
        edit=(
            "        return upper\n",
            (
                "        self._handles = {handle: upper if held is node else held for handle, held "
                "in self._handles.items()}\n"
                "        return upper\n"
            ),
        ),
    ),
    Slip(
        "The slots that were cached first stay: yours replaces them: old ones leak, new ones are freed twice.",
        edit=(
            "        stop = self._whole_pages(tokens)\n        if length < stop:",
            (
                "        stop, end = self._whole_pages(tokens), length\n"
                "        for step in _path(node):\n"
                "            step.slots = tuple(slots[end - len(step.tokens) : end])\n"
                "            end -= len(step.tokens)\n"
                "        if length < stop:"
            ),
        ),
    ),
    Slip(
        "A match is a use: it must refresh the time of every node on its path.",
        edits=(
            ("def _walk(self, tokens: Sequence[int])", "def _walk(self, tokens: Sequence[int], touch: bool = True)"),
            (
                "            child.touched = self._clock\n",
                "            child.touched = self._clock if touch else child.touched\n",
            ),
            (
                "        node, length = self._walk(tokens)\n        return length, [slot",
                "        node, length = self._walk(tokens, touch=False)\n        return length, [slot",
            ),
        ),
    ),
    Slip(
        "`unlock` goes up from the node that was locked: matched again, the tokens may end deeper after an insert.",
        edits=(
            ("self._handles[handle] = node", "self._handles[handle] = tuple(tokens)"),
            ("_path(self._handles.pop(handle))", "_path(self._walk(self._handles.pop(handle))[0])"),
        ),
    ),
    Slip(
        "A prefix counts in whole pages: edges part between pages, never inside one.",
        edit=("return place // self._page_size * self._page_size", "return place"),
    ),
    Slip(
        "A leaf is evicted as a whole, even if that frees more than was asked for.",
        edit=(
            (
                "            *_, leaf = heapq.heappop(heap)\n"
                "            freed += leaf.slots\n"
                "            parent = self._remove(leaf)\n"
            ),
            (
                "            *_, leaf = heapq.heappop(heap)\n"
                "            cut = max(0, len(leaf.tokens) - (count - len(freed)))\n"
                "            freed += leaf.slots[cut:]\n"
                "            if cut:\n"
                "                self._evictable -= len(leaf.tokens) - cut\n"
                "                leaf.tokens, leaf.slots = leaf.tokens[:cut], leaf.slots[:cut]\n"
                "                continue\n"
                "            parent = self._remove(leaf)\n"
            ),
        ),
    ),
    Slip("Two caches share their tree: keep it in the instance, not in the class.", SharedState),
)
