"""Wrong versions of ``choose_layout``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


def slip_states_alone(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, seconds = (globals()[name] for name in names)  # supplied by the grader
    room = (job.gpu_memory if limit is None else limit) * (1 - job.reserve)
    fitting = [one for one in candidates(job) if memory(one, job)[0] <= room]
    if not fitting:
        return None
    times = {one: seconds(one, job) for one in fitting}
    least = min(times.values())
    tied = [one for one in fitting if times[one] <= least * (1 + 1e-9)]
    return min(tied, key=lambda one: (one.tp * one.cp * one.pp * one.ep, one.zero, one.virtual_stages, one.recompute))


def slip_least_split(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, seconds = (globals()[name] for name in names)  # supplied by the grader
    room = (job.gpu_memory if limit is None else limit) * (1 - job.reserve)
    fitting = [one for one in candidates(job) if sum(memory(one, job)) <= room]
    return min(fitting, key=lambda one: (one.tp * one.cp * one.pp * one.ep, seconds(one, job)), default=None)


def slip_first_that_fits(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, _ = (globals()[name] for name in names)  # supplied by the grader
    room = (job.gpu_memory if limit is None else limit) * (1 - job.reserve)
    fitting = [one for one in candidates(job) if sum(memory(one, job)) <= room]
    return fitting[0] if fitting else None


def slip_fits_afterwards(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, seconds = (globals()[name] for name in names)  # supplied by the grader
    room = (job.gpu_memory if limit is None else limit) * (1 - job.reserve)
    fitting = candidates(job)
    if not fitting:
        return None
    times = {one: seconds(one, job) for one in fitting}
    least = min(times.values())
    tied = [one for one in fitting if times[one] <= least * (1 + 1e-9)]
    best = min(tied, key=lambda one: (one.tp * one.cp * one.pp * one.ep, one.zero, one.virtual_stages, one.recompute))
    return best if sum(memory(best, job)) <= room else None


def slip_no_reserve(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, seconds = (globals()[name] for name in names)  # supplied by the grader
    room = job.gpu_memory if limit is None else limit
    fitting = [one for one in candidates(job) if sum(memory(one, job)) <= room]
    if not fitting:
        return None
    times = {one: seconds(one, job) for one in fitting}
    least = min(times.values())
    tied = [one for one in fitting if times[one] <= least * (1 + 1e-9)]
    return min(tied, key=lambda one: (one.tp * one.cp * one.pp * one.ep, one.zero, one.virtual_stages, one.recompute))


def slip_any_tie(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, seconds = (globals()[name] for name in names)  # supplied by the grader
    room = (job.gpu_memory if limit is None else limit) * (1 - job.reserve)
    fitting = [one for one in candidates(job) if sum(memory(one, job)) <= room]
    if not fitting:
        return None
    times = {one: seconds(one, job) for one in fitting}
    least = min(times.values())
    return [one for one in fitting if times[one] <= least * (1 + 1e-9)][-1]


def slip_no_limit(job, limit=None):
    names = ("candidates", "layout_memory", "step_time")
    candidates, memory, seconds = (globals()[name] for name in names)  # supplied by the grader
    room = job.gpu_memory * (1 - job.reserve)
    fitting = [one for one in candidates(job) if sum(memory(one, job)) <= room]
    if not fitting:
        return None
    times = {one: seconds(one, job) for one in fitting}
    least = min(times.values())
    tied = [one for one in fitting if times[one] <= least * (1 + 1e-9)]
    return min(tied, key=lambda one: (one.tp * one.cp * one.pp * one.ep, one.zero, one.virtual_stages, one.recompute))
