"""Wrong versions of ``simulate_async``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


def slip_bound_for_all(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            queue = queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, (max_staleness,) * batch))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_index_order(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        first = len(steps) * batch
        if step_end is None and set(range(first, first + batch)) <= set(queue):
            taken = range(first, first + batch)
            queue = [index for index in queue if index not in taken]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_version_at_finish(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        for end, index in sorted(running):
            if end <= now:
                queue.append(index)
                born[index] = version
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_no_sync(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_bound_without_one(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_no_gate(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < len(lengths) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_last_batch_too(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and queue and (len(queue) >= batch or (not running and len(born) == len(lengths))):
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_one_batch_at_a_time(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        fresh = 0 if not running else slots
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and fresh < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
            fresh += 1
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_starts_first(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_busy_of_trained(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    if min([slots, batch, *lengths]) < 1 or token_time <= 0 or min(train_time, sync_time, max_staleness) < 0:
        raise ValueError("out of range")
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    trained = []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            trained += taken
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(spans[index][1] - spans[index][0] for index in trained)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)


def slip_accepts_anything(lengths, slots, batch, token_time, train_time, sync_time, max_staleness):
    from dataclasses import make_dataclass

    slots, batch, token_time = max(1, slots), max(1, batch), max(token_time, 1e-9)
    now, version, step_end, running, queue, born, spans, steps = 0.0, 0, None, [], [], [], [], []
    while True:
        queue += [index for end, index in sorted(running) if end <= now]
        running = [pair for pair in running if pair[0] > now]
        if step_end is not None and step_end <= now:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = now + train_time + sync_time
            steps.append((now, step_end, tuple(version - born[index] for index in taken)))
            if step_end == now:
                continue
        while len(born) < min(len(lengths), (max_staleness + version + 1) * batch) and len(running) < slots:
            spans.append((now, now + lengths[len(born)] * token_time))
            running.append((spans[-1][1], len(born)))
            born.append(version)
        coming = [end for end, _ in running] + [step_end] * (step_end is not None)
        if not coming:
            break
        now = min(coming)
    total = steps[-1][1] if steps else 0.0
    busy = sum(max(0.0, min(end, total) - start) for start, end in spans)
    return make_dataclass("Run", ["total", "steps", "busy"])(total, tuple(steps), busy)
