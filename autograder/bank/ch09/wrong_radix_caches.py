"""Wrong programs for ``RadixCache``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

RADIX_CACHE = (
    Slip(
        "Only leaves may be evicted: yours took a prefix away from under a suffix that is still cached.",
        edits=(
            ("return not node.children and node.locks == 0", "return node.locks == 0"),
            (
                "            parent = self._remove(leaf)\n"
                "            if parent is not self._root and _can_go(parent):\n"
                "                heapq.heappush(heap, _age(parent))\n",
                "            self._remove(leaf)\n"
                "            heap = sorted(_age(node) for node, _ in self._nodes() if _can_go(node))\n"
                "            self._evictable = sum(len(node.tokens) for *_, node in heap)\n",
            ),
        ),
    ),
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
        "A lock is released once: a second `unlock` with its handle lets a prefix go that another request still uses.",
        edit=("_path(self._handles.pop(handle))", "_path(self._handles[handle])"),
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
    Slip(
        "Two caches share their tree: keep it in the instance, not in the class.",
        edits=(
            ("        self._root = _Node()", "        RadixCache._root = _Node()"),
            (
                "        self._evictable = 0\n        self._protected = 0\n",
                "        RadixCache._evictable = RadixCache._protected = 0\n",
            ),
            ("self._evictable += stop - length", "RadixCache._evictable += stop - length"),
            ("self._evictable -= len(leaf.tokens)", "RadixCache._evictable -= len(leaf.tokens)"),
            ("self._evictable -= tokens", "RadixCache._evictable -= tokens"),
            ("self._protected += tokens", "RadixCache._protected += tokens"),
        ),
    ),
)
