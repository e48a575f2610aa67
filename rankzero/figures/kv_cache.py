"""Figures of the KV cache: which sequence holds which token slots, block tables with their pool, the tree of prefixes.

:mod:`rankzero.figures.serving` exports these functions too.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, QUIET, SMALL, Picture, counted, legend, panels, styled

#: The style of free slots and blocks.
FREE: dict[str, Any] = {"fill": False, "linewidth": 0.5, "edgecolor": "#8888"}

#: The colour of a block that several tables hold.
SHARED = "#505050"

ARROW: dict[str, Any] = {"arrowstyle": "->", "zorder": 1}

T = TypeVar("T")


@dataclass(frozen=True)
class Piece:
    """Consecutive token slots of a memory.

    Attributes:
        size: number of token slots.
        owner: who holds them; None if they are free.
        used: how many of them, from the first, contain a token.
    """

    size: int
    owner: str | None = None
    used: int = 0


def pieces(
    tables: Mapping[Any, Sequence[int]], lengths: Mapping[Any, int], blocks: int, block_size: int
) -> list[Piece]:
    """A pool of blocks as one piece per block, for :func:`memory_map`; a shared block is owned by all its sequences.

    Args:
        tables: the blocks of each sequence, in the order of its tokens.
        lengths: number of tokens of each sequence.
        blocks: number of blocks in the pool.
        block_size: tokens per block.
    """
    owners: dict[int, list[str]] = {}
    used: Counter[int] = Counter()
    for name, table in tables.items():
        for index, block in enumerate(table):
            owners.setdefault(block, []).append(str(name))
            used[block] = max(used[block], min(block_size, lengths[name] - index * block_size))
    return [Piece(block_size, " and ".join(owners[b]) if b in owners else None, used[b]) for b in range(blocks)]


@styled
def memory_map(maps: Mapping[str, Sequence[Piece]], columns: int = 0) -> Picture:
    """Memory as a table of token slots, row by row: filled where there is a token, striped where it is only reserved.

    Args:
        maps: memories by name, drawn side by side; an owner has the same colour in all of them.
        columns: token slots per row; 0 means about a twelfth of the largest memory.
    """
    sizes = {name: sum(piece.size for piece in memory) for name, memory in maps.items()}
    columns = columns or max(1, -(-max(sizes.values(), default=1) // 12))
    rows = max((-(-size // columns) for size in sizes.values()), default=1) or 1
    owners = list(dict.fromkeys(p.owner for memory in maps.values() for p in memory if p.owner is not None))
    colours = {owner: COLOURS[index % len(COLOURS)] for index, owner in enumerate(owners)}
    picture, views = panels(1, len(maps), (max(4.2, 3.4 * len(maps)), 1.2 + 0.2 * rows), sharey=True)
    for axes, (name, memory) in zip(views, maps.items(), strict=True):
        place = 0
        for piece in memory:
            _piece(axes, piece, place, columns, colours)
            place += piece.size
        axes.set(title=name, xlabel=f"token slot of a row of {columns:,}", xlim=(0, columns), ylim=(rows - 0.5, -0.5))
        axes.spines[:].set_visible(False)
    views[0].set(ylabel="row", yticks=range(0, rows, 1 + rows // 8))
    stripes = any(piece.owner is not None and piece.used < piece.size for memory in maps.values() for piece in memory)
    legend(picture, colours | ({"striped: reserved, no token in it": QUIET} if stripes else {}))
    picture.alt = f"Token slots: {'; '.join(_memory_text(name, memory) for name, memory in maps.items())}."
    return picture


def _memory_text(name: str, memory: Sequence[Piece]) -> str:
    whole = sum(piece.size for piece in memory)
    held = sum(piece.size for piece in memory if piece.owner is not None)
    used = sum(piece.used for piece in memory if piece.owner is not None)
    return f"{name} has {used:,} with a token, {held - used:,} reserved and empty, {whole - held:,} free of {whole:,}"


def _piece(axes: Axes, piece: Piece, place: int, columns: int, colours: Mapping[str, str]) -> None:
    """Draw a piece that begins at slot ``place``, wrapped at the end of each row."""
    if piece.owner is None:
        _strips(axes, place, piece.size, columns, FREE)
        return
    colour = colours[piece.owner]
    _strips(axes, place, piece.used, columns, {"facecolor": colour, "edgecolor": INK, "linewidth": 0.3})
    empty = {"facecolor": "none", "edgecolor": colour, "linewidth": 0.5, "hatch": "////"}
    _strips(axes, place + piece.used, piece.size - piece.used, columns, empty)


def _strips(axes: Axes, place: int, size: int, columns: int, style: Mapping[str, Any]) -> None:
    while size > 0:
        row, column = divmod(place, columns)
        wide = min(size, columns - column)
        axes.add_patch(Rectangle((column, row - 0.4), wide, 0.8, **style))
        place, size = place + wide, size - wide


# Block tables

Tables = Mapping[Any, Sequence[int]]
Pool = int | Sequence[str]
Copies = Sequence[tuple[int, int]]


@styled
def block_tables(
    tables: Tables | Mapping[str, Tables], pool: Pool | Mapping[str, Pool], copies: Copies | Mapping[str, Copies] = ()
) -> Picture:
    """Block tables with arrows into the pool, at one moment or, stacked, at several named moments.

    The cells of a table are its blocks' numbers in the order of the tokens. A block of the pool shows its content or
    the number of tables that hold it; a free block is an outline.

    Args:
        tables: the blocks of each sequence; or such tables by the name of the moment.
        pool: the number of blocks, or the text that each shows; or either of these by moment.
        copies: pairs of blocks, from and to, that were copied; or such pairs by moment.
    """
    several = any(isinstance(value, Mapping) for value in tables.values())
    states = cast("Mapping[str, Tables]", tables if several else {"": tables})
    names = {table: None for state in states.values() for table in state}
    colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}
    contents = {title: _contents(_of(pool, title), state) for title, state in states.items()}
    wide = max((len(content) for content in contents.values()), default=1)
    heights = [0.75 + 0.42 * len(state) for state in states.values()]
    size = (min(9.0, 1.6 + 0.42 * wide), sum(heights) + 0.9)
    picture, panes = panels(len(states), 1, size, sharex=True, gridspec_kw={"height_ratios": heights})
    for axes, (title, state) in zip(panes, states.items(), strict=True):
        _pool_panel(axes, state, contents[title], colours, _of(copies, title) or ())
        axes.set(xlim=(-0.5, wide - 0.5), xticks=range(wide))
        axes.set_title(title, loc="left")
    panes[-1].set_xlabel("block of the pool; place in the table")
    panes[0].set_ylabel(" ")
    legend(picture, {str(name): colour for name, colour in colours.items()})
    parts = [_tables_text(title, state, len(contents[title])) for title, state in states.items()]
    picture.alt = f"Block tables with arrows into the pool: {'; '.join(parts)}."
    return picture


def _of(value: T | Mapping[str, T], title: str) -> T | None:
    """The value for a moment, from a mapping by moment or from one value for all of them."""
    return value.get(title) if isinstance(value, Mapping) else value


def _contents(pool: Pool | None, state: Tables) -> list[str]:
    """The text in each block."""
    if pool is not None and not isinstance(pool, int):
        return list(pool)
    held = _references(state)
    count = max(held, default=-1) + 1 if pool is None else pool
    return [f"x{held[block]}" if held[block] else "" for block in range(count)]


def _references(state: Tables) -> Counter[int]:
    return Counter(block for table in state.values() for block in table)


def _tables_text(title: str, state: Tables, blocks: int) -> str:
    held = _references(state)
    shared = [str(block) for block, count in sorted(held.items()) if count > 1]
    text = ", ".join(f"{name} has {list(table)}" for name, table in state.items()) or "no tables"
    text += f", {blocks - len(held)} of {blocks} blocks free"
    text += f", shared: {', '.join(shared)}" if shared else ""
    return f"{title}: {text}" if title else text


def _pool_panel(axes: Axes, state: Tables, contents: Sequence[str], colours: Mapping[Any, str], copies: Copies) -> None:
    """Draw the tables as rows from the top, and the pool below them."""
    floor, held = len(state) + 0.5, _references(state)
    owner = {block: name for name, table in state.items() for block in table}
    for row, (name, table) in enumerate(state.items()):
        aside = 0.14 * (row - (len(state) - 1) / 2)
        for index, block in enumerate(table):
            _cell(axes, index, row, str(block), colours[name])
            ends = (index + aside, row + 0.34), (block + aside, floor - 0.36)
            axes.add_patch(FancyArrowPatch(*ends, **ARROW, mutation_scale=7, linewidth=1.1, color=colours[name]))
    for block, content in enumerate(contents):
        colour = None if not held[block] else SHARED if held[block] > 1 else colours[owner[block]]
        _cell(axes, block, floor, content, colour)
    for source, target in copies:
        ends = (source, floor + 0.36), (target, floor + 0.36)
        bend = f"arc3,rad={0.35 if source < target else -0.35}"
        dashes: Any = (0, (3, 2))
        axes.add_patch(
            FancyArrowPatch(*ends, **ARROW, mutation_scale=9, connectionstyle=bend, color=INK, linestyle=dashes)
        )
    axes.set(ylim=(floor + (0.9 if copies else 0.55), -0.5))
    axes.set_yticks([*range(len(state)), floor], [*map(str, state), "pool"])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _cell(axes: Axes, column: float, row: float, text: str, colour: str | None) -> None:
    """Draw a block; without a colour it is free."""
    style: dict[str, Any] = FREE if colour is None else {"facecolor": colour, "edgecolor": INK, "linewidth": 0.4}
    axes.add_patch(Rectangle((column - 0.42, row - 0.34), 0.84, 0.68, zorder=2, **style))
    ink = INK if colour is None else ink_on(colour)
    axes.text(column, row, text, ha="center", va="center", fontsize=SMALL, color=ink, zorder=3)


# The tree of prefixes


class Node(Protocol):
    """A node of a radix tree; ``parent`` is an index into the list of nodes, or -1 for the root, which is not in it."""

    @property
    def parent(self) -> int: ...
    @property
    def tokens(self) -> Sequence[Any]: ...
    @property
    def locks(self) -> int: ...
    @property
    def touched(self) -> int: ...


def eviction_order(nodes: Sequence[Node]) -> dict[int, int]:
    """The order of eviction, counted from 1: unlocked leaves, the least recently touched first.

    Among nodes touched at the same time, the one with the smaller ``number`` goes first if nodes have that attribute,
    else the one that is earlier in the list. Locked nodes and their ancestors are left out.
    """
    children = Counter(node.parent for node in nodes)
    ages = [(node.touched, getattr(node, "number", index), index) for index, node in enumerate(nodes)]
    heap = [age for age in ages if not children[age[2]] and not nodes[age[2]].locks]
    heapq.heapify(heap)
    order: dict[int, int] = {}
    while heap:
        place = heapq.heappop(heap)[2]
        order[place] = len(order) + 1
        parent = nodes[place].parent
        children[parent] -= 1
        if parent >= 0 and not children[parent] and not nodes[parent].locks:
            heapq.heappush(heap, ages[parent])
    return order


def shortened(tokens: Sequence[Any], longest: int = 34) -> str:
    """Tokens on one line; if it is too long, its middle is left out."""
    text = tokens if isinstance(tokens, str) else " ".join(map(str, tokens))
    return (
        text if len(text) <= longest else f"{text[: longest // 2]} ... {text[len(text) - max(longest // 2 - 5, 1) :]}"
    )


@styled
def radix_tree(
    nodes: Sequence[Node] | Mapping[str, Sequence[Node]], text: Callable[[Sequence[Any]], str] = shortened
) -> Picture:
    """A tree of prefixes, at one moment or, side by side, at several: a row for each node, under its parent.

    Each node shows the tokens of its edge, its number of locks, and its turn to be evicted, from 1.

    Args:
        nodes: parents before their children, as a tree's ``nodes()`` returns them; or such lists by the name of the
            moment.
        text: turns a node's tokens into text.
    """
    states = cast("Mapping[str, Sequence[Node]]", nodes if isinstance(nodes, Mapping) else {"": nodes})
    longest = max((len(text(node.tokens)) for state in states.values() for node in state), default=1)
    rows = max(map(len, states.values()), default=0) + 1
    width = (2.2 if len(states) < 4 else 1.45) + 0.075 * longest  # the column of a page holds four
    picture, views = panels(1, len(states), (max(3.6, width * len(states)), 0.7 + 0.3 * rows), sharey=True)
    for axes, (title, state) in zip(views, states.items(), strict=True):
        _tree_panel(axes, state, [text(node.tokens) for node in state], longest)
        axes.set(title=title, ylim=(rows - 0.4, -0.6))
        axes.set_axis_off()
    legend(picture, {"locked": COLOURS[1], "can be evicted, in this order": COLOURS[0]})
    picture.alt = f"A tree of prefixes: {'; '.join(_tree_text(title, state) for title, state in states.items())}."
    return picture


def _depths(nodes: Sequence[Node]) -> Iterator[int]:
    depths: list[int] = []
    for node in nodes:
        depths.append(1 if node.parent < 0 else depths[node.parent] + 1)
        yield depths[-1]


def _tree_panel(axes: Axes, nodes: Sequence[Node], texts: Sequence[str], longest: int) -> None:
    depths, order = [0, *_depths(nodes)], eviction_order(nodes)
    step = 2.5  # width of an indent, in characters
    rows: dict[int, int] = {-1: 0} | {index: index + 1 for index in range(len(nodes))}
    axes.text(0, 0, "root", va="center")
    for index, (node, words) in enumerate(zip(nodes, texts, strict=True)):
        row, left = rows[index], step * depths[index + 1]
        stem = left - step + 0.8
        axes.plot([stem, stem, left - 0.3], [rows[node.parent] + 0.38, row, row], color=QUIET, linewidth=1, zorder=1)
        colour = COLOURS[1] if node.locks else COLOURS[0] if index in order else QUIET
        axes.add_patch(Rectangle((left, row - 0.36), len(words) + 1.2, 0.72, facecolor=colour, linewidth=0))
        axes.text(left + 0.6, row, words, va="center", color=ink_on(colour), fontsize=8, family="DejaVu Sans Mono")
        notes = [counted(node.locks, "lock")] if node.locks else []
        notes += [f"{order[index]}."] if index in order else []
        axes.text(left + len(words) + 1.8, row, ", ".join(notes), va="center", fontsize=8)
    axes.set_xlim(-0.5, step * max(depths) + longest + 8)


def _tree_text(title: str, nodes: Sequence[Node]) -> str:
    order = eviction_order(nodes)
    tokens = sum(len(node.tokens) for node in nodes)
    locked = sum(len(node.tokens) for node in nodes if node.locks)
    text = f"{counted(len(nodes), 'node')} with {counted(tokens, 'token')}, {locked} of them locked"
    first = next((place for place, turn in order.items() if turn == 1), None)
    text += f", the first to go holds {shortened(nodes[first].tokens)}" if first is not None else ""
    return f"{title}: {text}" if title else text
