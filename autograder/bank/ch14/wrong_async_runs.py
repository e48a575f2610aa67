"""Wrong versions of ``simulate_async``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


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
