"""Wrong programs for ``BlockManager``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class FreesShared:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] = 0
            self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class WritesShared:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        table += self.take(self.need(length + max(tokens, self.need(tokens))) - len(table))
        self.lengths[sequence] = length + tokens
        return []

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class TakesEarly:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + max(0, (length + tokens) // self.size + (tokens > 0) - len(table)))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class HeadFirst:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in self.tables.pop(sequence):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class ReusesAtOnce:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.insert(0, block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class Leaks:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        taken = []
        for _ in range(count):
            if not self.queue:
                raise self.OutOfBlocks(f"need {count} blocks, {len(taken)} free")
            taken.append(self.queue.pop(0))
            self.counts[taken[-1]] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class CopiesAlways:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table[-1]] -= 1
            if self.counts[table[-1]] == 0:
                self.queue.append(table[-1])
            table.pop()
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class KeepsReference:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            table.pop()
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class CopiesForNothing:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) >= 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class ForksWholeBlocks:
    class OutOfBlocks(RuntimeError):
        pass

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables, self.lengths = {}, {}

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and table and self.counts[table[-1]] > 1
        taken = self.take(bool(copied) + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens) and tokens // self.size]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


class SharedState:
    class OutOfBlocks(RuntimeError):
        pass

    tables, lengths = {}, {}

    def __init__(self, blocks, block_size):
        if not all(type(number) is int and number >= 1 for number in (blocks, block_size)):
            raise ValueError("out of range")
        self.size, self.queue, self.counts = block_size, list(range(blocks)), [0] * blocks
        self.tables.clear()
        self.lengths.clear()

    def need(self, tokens):
        if type(tokens) is not int or tokens < 0:
            raise ValueError("out of range")
        return -(-tokens // self.size)

    def take(self, count):
        if count > len(self.queue):
            raise self.OutOfBlocks(f"need {count} blocks, {len(self.queue)} free")
        taken, self.queue = self.queue[:count], self.queue[count:]
        for block in taken:
            self.counts[block] = 1
        return taken

    def can_allocate(self, tokens):
        return self.need(tokens) <= len(self.queue)

    def allocate(self, sequence, tokens):
        if sequence in self.tables:
            raise ValueError("known")
        self.tables[sequence], self.lengths[sequence] = self.take(self.need(tokens)), tokens
        return list(self.tables[sequence])

    def append(self, sequence, tokens=1):
        table, length = self.tables[sequence], self.lengths[sequence]
        copied = self.need(tokens) > 0 and length % self.size > 0 and self.counts[table[-1]] > 1
        taken = self.take(copied + self.need(length + tokens) - len(table))
        copies = [(table[-1], taken[0])] if copied else []
        if copied:
            self.counts[table.pop()] -= 1
        table += taken
        self.lengths[sequence] = length + tokens
        return copies

    def fork(self, parent, child, tokens=None):
        length = self.lengths[parent]
        tokens = length if tokens is None else tokens
        shared = self.tables[parent][: self.need(tokens)]
        if child in self.tables or tokens > length:
            raise ValueError("out of range")
        for block in shared:
            self.counts[block] += 1
        self.tables[child], self.lengths[child] = shared, tokens
        return list(shared)

    def free(self, sequence):
        self.lengths.pop(sequence)
        for block in reversed(self.tables.pop(sequence)):
            self.counts[block] -= 1
            if self.counts[block] == 0:
                self.queue.append(block)

    def table(self, sequence):
        return list(self.tables[sequence])

    def length(self, sequence):
        return self.lengths[sequence]

    def free_queue(self):
        return list(self.queue)

    def references(self, block):
        if block not in range(len(self.counts)):
            raise ValueError("out of range")
        return self.counts[block]

    def check(self):
        pass


BLOCK_MANAGER = (
    Slip(
        "A block that another table still holds is not free: it joins the queue when its count reaches 0.", FreesShared
    ),
    Slip(
        "A partly filled block that is shared must be copied before it is written: the other sequence reads it.",
        WritesShared,
    ),
    Slip(
        "A block that has just become full needs no successor yet: the next one is taken with the next token.",
        TakesEarly,
    ),
    Slip("`free` goes from the last block to the first: the head of a sequence is to be reused last.", HeadFirst),
    Slip("Freed blocks join the tail of the queue; yours are taken next.", ReusesAtOnce),
    Slip("A call that raises changes nothing: yours took blocks from the queue first, and they are lost.", Leaks),
    Slip("A block with a single owner is written in place: copy only where its count is above 1.", CopiesAlways),
    Slip(
        "The sequence that got a copy no longer holds the block that was copied: its count drops by one.",
        KeepsReference,
    ),
    Slip("Appending 0 tokens writes nothing, so nothing is copied.", CopiesForNothing),
    Slip("A fork also shares the block that its tokens fill in part.", ForksWholeBlocks),
    Slip("Two managers share their tables: keep them in the instance, not in the class.", SharedState),
)
