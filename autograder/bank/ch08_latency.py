"""Chapter 08: what a user feels, and how many replicas that takes."""

from __future__ import annotations

from itertools import accumulate
from random import Random

from autograder.bank.ch08_words import UNCHECKED
from autograder.items import Build, Case, Group, Slip, invalid

# --- request_metrics


def slip_all_tokens(arrival, token_times):
    from dataclasses import make_dataclass

    if not token_times or any(b < a for a, b in zip([arrival, *token_times], token_times, strict=False)):
        raise ValueError("bad times")
    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(token_times[n + 1] - token_times[n] for n in range(n - 1))
    return kind(first - arrival, (last - arrival) / n if n > 1 else None, last - arrival, itls)


def slip_n_gaps(arrival, token_times):
    from dataclasses import make_dataclass

    if not token_times or any(b < a for a, b in zip([arrival, *token_times], token_times, strict=False)):
        raise ValueError("bad times")
    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(token_times[n + 1] - token_times[n] for n in range(n - 1))
    return kind(first - arrival, (last - first) / n if n > 1 else None, last - arrival, itls)


def slip_absolute(arrival, token_times):
    from dataclasses import make_dataclass

    if not token_times or any(b < a for a, b in zip([arrival, *token_times], token_times, strict=False)):
        raise ValueError("bad times")
    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(token_times[n + 1] - token_times[n] for n in range(n - 1))
    return kind(first, (last - first) / (n - 1) if n > 1 else None, last, itls)


def slip_first_gap(arrival, token_times):
    from dataclasses import make_dataclass

    if not token_times or any(b < a for a, b in zip([arrival, *token_times], token_times, strict=False)):
        raise ValueError("bad times")
    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(b - a for a, b in zip([arrival, *token_times], token_times, strict=False))
    return kind(first - arrival, (last - first) / (n - 1) if n > 1 else None, last - arrival, itls)


def slip_zero_tpot(arrival, token_times):
    from dataclasses import make_dataclass

    if not token_times or any(b < a for a, b in zip([arrival, *token_times], token_times, strict=False)):
        raise ValueError("bad times")
    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(token_times[n + 1] - token_times[n] for n in range(n - 1))
    return kind(first - arrival, (last - first) / (n - 1) if n > 1 else 0.0, last - arrival, itls)


def slip_decode_alone(arrival, token_times):
    from dataclasses import make_dataclass

    if not token_times or any(b < a for a, b in zip([arrival, *token_times], token_times, strict=False)):
        raise ValueError("bad times")
    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(token_times[n + 1] - token_times[n] for n in range(n - 1))
    return kind(first - arrival, (last - first) / (n - 1) if n > 1 else None, last - first, itls)


def slip_any_times(arrival, token_times):
    from dataclasses import make_dataclass

    kind = make_dataclass("RequestMetrics", ["ttft", "tpot", "e2e", "itls"])
    if not token_times:
        return kind(0.0, None, 0.0, ())
    first, last, n = token_times[0], token_times[-1], len(token_times)
    itls = tuple(token_times[n + 1] - token_times[n] for n in range(n - 1))
    return kind(first - arrival, (last - first) / (n - 1) if n > 1 else None, last - arrival, itls)


def _times(rng: Random, least: int = 2, most: int = 50) -> tuple[float, list[float]]:
    arrival = round(rng.uniform(0.5, 100), 3)
    gaps = [rng.uniform(0.01, 2)] + [rng.choice((0.0, rng.uniform(0.01, 0.5))) for _ in range(rng.randint(least, most))]
    return arrival, [arrival + passed for passed in accumulate(gaps[:-1])]


def _one_token(rng: Random) -> Case:
    arrival = round(rng.uniform(0.5, 100), 3)
    return Case((arrival, [arrival + rng.uniform(0, 3)]))


def _bad_times(rng: Random) -> list[Case]:
    arrival, times = _times(rng, 4)
    back = [*times, times[-1] - 0.3 * (times[-1] - arrival)]
    return [
        invalid(arrival, []),
        invalid(times[0] + 0.25, times),
        invalid(arrival, back),
        invalid(arrival, [times[0] + 1, *times]),
    ]


METRICS = Build(
    id="08-request-metrics",
    module="serving",
    function="request_metrics",
    grade="call",
    section="8.5",
    topic="latencies of a request",
    cases=(
        Case((10.0, [10.25, 10.30, 10.36, 10.41, 10.75])),
        Case((0, [0.4])),
        Case((1.0, [1.5, 1.5, 2.0])),
        invalid(0, []),
        invalid(1.0, [0.9, 1.1]),
    ),
    groups=(
        Group(
            "requests", lambda rng: Case(_times(rng)), 6, "TTFT from the arrival; TPOT over the gaps, not the tokens."
        ),
        Group("one token", _one_token, 3, "One token has no gap: `tpot` is None, `itls` is empty."),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_times(rng)),
            4,
            "Bad input must raise ValueError: no token, times that go backwards, a token before the request.",
            _bad_times,
        ),
    ),
    slips=(
        Slip("TPOT leaves the first token out: it is the mean gap, not end-to-end over tokens.", slip_all_tokens),
        Slip("n tokens have n - 1 gaps between them.", slip_n_gaps),
        Slip("Latencies count from the arrival of the request.", slip_absolute),
        Slip("The wait for the first token is TTFT, not an inter-token latency.", slip_first_gap),
        Slip("With one token there is no gap to average: None, not 0.", slip_zero_tpot),
        Slip("End-to-end starts at the arrival: the user waited for the first token too.", slip_decode_alone),
        Slip(UNCHECKED.format("no tokens, or times that go backwards"), slip_any_times),
    ),
)

# --- replicas_needed


def slip_one_per_replica(rate, ttft, itl, output_tokens, slots):
    from math import ceil

    if min(rate, ttft, itl) < 0 or min(output_tokens, slots) < 1:
        raise ValueError("out of range")
    return ceil(rate * (ttft + (output_tokens - 1) * itl) * (1 - 1e-9))


def slip_n_steps(rate, ttft, itl, output_tokens, slots):
    from math import ceil

    if min(rate, ttft, itl) < 0 or min(output_tokens, slots) < 1:
        raise ValueError("out of range")
    return ceil(rate * (ttft + output_tokens * itl) / slots * (1 - 1e-9))


def slip_floor(rate, ttft, itl, output_tokens, slots):
    if min(rate, ttft, itl) < 0 or min(output_tokens, slots) < 1:
        raise ValueError("out of range")
    return int(rate * (ttft + (output_tokens - 1) * itl) / slots * (1 + 1e-9))


def slip_no_prefill(rate, ttft, itl, output_tokens, slots):
    from math import ceil

    if min(rate, ttft, itl) < 0 or min(output_tokens, slots) < 1:
        raise ValueError("out of range")
    return ceil(rate * (output_tokens - 1) * itl / slots * (1 - 1e-9))


def slip_float_noise(rate, ttft, itl, output_tokens, slots):
    from math import ceil

    if min(rate, ttft, itl) < 0 or min(output_tokens, slots) < 1:
        raise ValueError("out of range")
    return ceil(rate * (ttft + (output_tokens - 1) * itl) / slots + 1e-12)


def slip_at_least_one(rate, ttft, itl, output_tokens, slots):
    from math import ceil

    if min(rate, ttft, itl) < 0 or min(output_tokens, slots) < 1:
        raise ValueError("out of range")
    return max(1, ceil(rate * (ttft + (output_tokens - 1) * itl) / slots * (1 - 1e-9)))


def slip_any_fleet(rate, ttft, itl, output_tokens, slots):
    from math import ceil

    return ceil(rate * (ttft + (output_tokens - 1) * itl) / (slots or 1) * (1 - 1e-9))


def _fleet(rng: Random) -> Case:
    """Somewhere in the middle between two whole numbers of replicas, and no less than two."""
    slots, tokens = rng.choice((8, 16, 64, 256)), rng.randint(2, 30)
    itl = rng.uniform(0.005, 0.05)
    inside = rng.uniform(0.6, 2) * itl + (tokens - 1) * itl
    return Case(
        ((rng.randint(2, 40) + rng.uniform(0.1, 0.9)) * slots / inside, inside - (tokens - 1) * itl, itl, tokens, slots)
    )


def _whole(rng: Random) -> Case:
    """In flight is exactly a multiple of the slots; seconds are sixteenths."""
    slots, tokens, replicas = rng.choice((4, 8, 64)), rng.choice((5, 9, 17)), rng.randint(2, 9)
    itl = 1 / 16
    ttft = rng.choice((1, 2)) - (tokens - 1) * itl if tokens < 17 else 1.0
    return Case((replicas * slots / (ttft + (tokens - 1) * itl), ttft, itl, tokens, slots))


def _small(rng: Random) -> list[Case]:
    return [
        Case((0, rng.uniform(0, 1), 0.03, 100, 64)),
        Case((0.0, 0.0, 0.0, 1, 1)),
        Case((rng.uniform(0.001, 0.1), 0.2, 0.02, 20, 64)),
        Case((rng.randint(20, 90), 1.0, 0.05, 1, 8)),
    ]


def _bad_fleet(rng: Random) -> list[Case]:
    good = [rng.uniform(1, 99), 0.2, 0.02, 100, 64]
    bad = [(0, -1.0), (1, -0.2), (2, -0.02), (3, 0), (4, 0), (3, -5), (4, -8)]
    return [invalid(*(value if at == place else given for at, given in enumerate(good))) for place, value in bad]


REPLICAS = Build(
    id="08-replicas-needed",
    module="serving",
    function="replicas_needed",
    grade="call",
    section="8.6",
    topic="Little's law",
    cases=(
        Case((500, 0.01417, 0.0209, 50, 64)),
        Case((20, 0.5, 0.03, 300, 64)),
        Case((10, 1, 0.05, 1, 8)),
        Case((0, 0.5, 0.03, 300, 64)),
        Case((8, 0.1, 0.1, 10, 8)),
        invalid(10, 0.5, 0.03, 0, 64),
    ),
    groups=(
        Group("fleets", _fleet, 6, "Rate times time inside are in flight; each replica holds `slots` of them."),
        Group("whole numbers", _whole, 4, "Guard the ceiling against 1e-9 of float noise: exactly full is no more."),
        Group("few requests", lambda rng: rng.choice(_small(rng)), 4, "No requests, no replica; few need one.", _small),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_fleet(rng)),
            5,
            "Bad input must raise ValueError.",
            lambda rng: rng.sample(_bad_fleet(rng), 5),
        ),
    ),
    slips=(
        Slip("That is one request per replica: a replica runs `slots` of them at once.", slip_one_per_replica),
        Slip("Prefill gives the first token: n - 1 steps remain.", slip_n_steps),
        Slip("Rounding down leaves requests without a slot.", slip_floor),
        Slip("The time to the first token is spent inside, too.", slip_no_prefill),
        Slip("Float noise takes a replica more where the last one is exactly full.", slip_float_noise),
        Slip("Without requests no replica is needed.", slip_at_least_one),
        Slip(UNCHECKED.format("negative times, no tokens or no slots"), slip_any_fleet),
    ),
)

ITEMS: tuple[Build, ...] = (METRICS, REPLICAS)
