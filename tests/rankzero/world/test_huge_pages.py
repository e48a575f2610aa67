"""Memory in huge pages: what is chosen, and that nothing in it changes."""

import ctypes
import mmap
import sys

import pytest

from rankzero.world import huge_pages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="huge pages of Linux")
PAGES = 4


def test_a_place_is_a_whole_page_of_own_memory():
    """Kills places that begin or end outside the memory, or that are not aligned: the system refuses those."""
    with mmap.mmap(-1, PAGES * huge_pages.SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        first = ctypes.addressof(view := ctypes.c_char.from_buffer(memory))
        end = first + len(memory)
        found = list(huge_pages.places())
        inside = [place for place in found if first <= place and place + huge_pages.SIZE <= end]
        del view
    assert all(place % huge_pages.SIZE == 0 for place in found)
    assert len(inside) >= PAGES - 1


def test_collapsing_keeps_every_byte():
    text = bytes(range(256)) * (2 * huge_pages.SIZE // 256)
    with mmap.mmap(-1, len(text), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[:] = text
        assert 0 <= huge_pages.collapse() <= len(list(huge_pages.places()))
        assert memory[:] == text
