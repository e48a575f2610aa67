"""Chapter 08: four small parts of a toy server, each with a mistake."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Iterator, Slip, invalid

# --- debug_token_id


def wrong_token_id(word, vocabulary=1000):
    if vocabulary < 1:
        raise ValueError(f"vocabulary must be >= 1, got {vocabulary!r}")
    return hash(word) % vocabulary


def slip_length(word, vocabulary=1000):
    if vocabulary < 1:
        raise ValueError("out of range")
    return len(word) % vocabulary


def slip_no_modulo(word, vocabulary=1000):
    from hashlib import sha256

    if vocabulary < 1:
        raise ValueError("out of range")
    return int.from_bytes(sha256(word.encode()).digest()[:4], "big")


def slip_any_vocabulary(word, vocabulary=1000):
    from hashlib import sha256

    return int.from_bytes(sha256(word.encode()).digest()[:4], "big") % (abs(vocabulary) or 1)


def _word(rng: Random) -> str:
    return "".join(rng.choice("abcdefghijklmnop\u00e9") for _ in range(rng.randint(3, 12)))


def _words(rng: Random) -> Case:
    return Case((sorted({_word(rng) for _ in range(40)}), rng.choice((1000, 50_000))))


def _default(rng: Random) -> Case:
    return Case((sorted({_word(rng) for _ in range(40)}),))


TOKEN_ID = Debug(
    id="08-debug-token-id",
    module="serving_repairs",
    function="debug_token_id",
    grade="call",
    probe="ch08.two_processes",
    section="8.2",
    topic="tokenizers",
    cases=(
        Case((["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"], 1000)),
        invalid(["the"], 0),
    ),
    groups=(
        Group("words", _words, 4, "The same word, the same number, in every process.", lambda rng: [_default(rng)]),
        Group("few numbers", lambda rng: Case(([_word(rng) for _ in range(30)], rng.randint(1, 3))), 2, "From 0 up."),
        Group("bad input", lambda rng: invalid(["a"], -rng.randint(0, 9)), 2, "No vocabulary, no number: ValueError."),
    ),
    slips=(
        Slip("Python salts the hash of a string anew in each process, and no random seed reaches it.", wrong_token_id),
        Slip("Different words should mostly get different numbers.", slip_length),
        Slip("The number must stay below the size of the vocabulary.", slip_no_modulo),
        Slip("A vocabulary below 1 was accepted.", slip_any_vocabulary),
    ),
    wrong=wrong_token_id,
)

# --- debug_kv_room


def wrong_kv_room(gpu_gb, billions, bytes_per_parameter=2):
    if min(gpu_gb, billions, bytes_per_parameter) <= 0:
        raise ValueError(f"all arguments must be > 0, got {gpu_gb!r}, {billions!r}, {bytes_per_parameter!r}")
    return gpu_gb - billions * bytes_per_parameter / 1e9


def slip_silent_zero(gpu_gb, billions, bytes_per_parameter=2):
    if min(gpu_gb, billions, bytes_per_parameter) <= 0:
        raise ValueError("out of range")
    return max(0.0, gpu_gb - billions * bytes_per_parameter)


def slip_negative_room(gpu_gb, billions, bytes_per_parameter=2):
    if min(gpu_gb, billions, bytes_per_parameter) <= 0:
        raise ValueError("out of range")
    return gpu_gb - billions * bytes_per_parameter


def slip_binary_room(gpu_gb, billions, bytes_per_parameter=2):
    if min(gpu_gb, billions, bytes_per_parameter) <= 0:
        raise ValueError("out of range")
    room = gpu_gb - billions * 1e9 * bytes_per_parameter / 2**30
    if room < 0:
        raise ValueError("does not fit")
    return room


def slip_always_two(gpu_gb, billions, bytes_per_parameter=2):
    if min(gpu_gb, billions, bytes_per_parameter) <= 0:
        raise ValueError("out of range")
    room = gpu_gb - billions * 2
    if room < 0:
        raise ValueError("does not fit")
    return room


def _room(rng: Random) -> Case:
    billions = rng.choice((1.0, 7.0, 8.0, 13.0, rng.uniform(1, 15)))
    return Case((billions * 2 + rng.uniform(5, 60), billions))


def _other_bytes(rng: Random) -> Case:
    size = rng.choice((0.5, 1))
    billions = rng.uniform(10, 70)
    return Case((billions * size + rng.uniform(1, 20), billions, size))


def _too_large(rng: Random) -> Case:
    billions = rng.uniform(45, 500)
    return invalid(rng.choice((24.0, 40.0, 80.0)), billions)


KV_ROOM = Debug(
    id="08-debug-kv-room",
    module="serving_repairs",
    function="debug_kv_room",
    grade="call",
    section="8.1",
    topic="memory in serving",
    cases=(
        Case((80, 8)),
        Case((80, 70, 1)),
        Case((16, 8)),
        invalid(80, 70),
        invalid(80, 0),
    ),
    groups=(
        Group("models that fit", _room, 4, "Billions of parameters times bytes are GB already."),
        Group("other sizes", _other_bytes, 3, "One byte or half a byte per parameter."),
        Group("models that do not fit", _too_large, 3, "Weights that do not fit are a ValueError, not a number."),
        Group("bad input", lambda rng: invalid(80, -rng.uniform(1, 9)), 2, "Sizes must be positive: ValueError."),
    ),
    slips=(
        Slip("Billions times bytes are GB already; dividing by 1e9 again makes every model fit.", wrong_kv_room),
        Slip("No room and not enough room are two things: raise when the weights do not fit.", slip_silent_zero),
        Slip("A negative room means that the weights do not fit: raise ValueError.", slip_negative_room),
        Slip("GB are 1e9 bytes here, on both sides.", slip_binary_room),
        Slip("The bytes of a parameter are an argument.", slip_always_two),
    ),
    wrong=wrong_kv_room,
)

# --- debug_max_tokens


def wrong_max_tokens(prefill_token, decoded, max_tokens, eos):
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be >= 1, got {max_tokens!r}")
    answer = [prefill_token]
    for token in decoded:
        if token == eos:
            break
        answer.append(token)
        if len(answer) >= max_tokens:
            break
    return answer


def slip_off_by_one(prefill_token, decoded, max_tokens, eos):
    if max_tokens < 1:
        raise ValueError("out of range")
    answer: list[int] = []
    for token in (prefill_token, *decoded):
        if token == eos or len(answer) == max_tokens - 1:
            break
        answer.append(token)
    return answer


def slip_prefill_end(prefill_token, decoded, max_tokens, eos):
    if max_tokens < 1:
        raise ValueError("out of range")
    answer = [prefill_token]
    for token in decoded:
        if token == eos or len(answer) == max_tokens:
            break
        answer.append(token)
    return answer


def slip_prefill_free(prefill_token, decoded, max_tokens, eos):
    if max_tokens < 1:
        raise ValueError("out of range")
    answer: list[int] = []
    for token in (prefill_token, *decoded):
        if token == eos or len(answer) == max_tokens + 1:
            break
        answer.append(token)
    return answer


def slip_prefill_dropped(prefill_token, decoded, max_tokens, eos):
    if max_tokens < 1:
        raise ValueError("out of range")
    answer: list[int] = []
    for token in decoded:
        if token == eos or len(answer) == max_tokens or prefill_token == eos:
            break
        answer.append(token)
    return answer


def slip_any_limit(prefill_token, decoded, max_tokens, eos):
    answer: list[int] = []
    for token in (prefill_token, *decoded):
        if token == eos or len(answer) >= max_tokens:
            break
        answer.append(token)
    return answer


def _answer(rng: Random, least: int = 3) -> Case:
    tokens = [rng.randrange(9) for _ in range(rng.randint(6, 20))]
    return Case((rng.randrange(9), Iterator(tuple(tokens)), rng.randint(least, 24), rng.choice((9, rng.randrange(9)))))


def _first_token(rng: Random) -> list[Case]:
    tokens = Iterator(tuple(rng.randrange(9) for _ in range(5)))
    first = rng.randrange(9)
    return [
        Case((first, tokens, 1, 9)),
        Case((first, tokens, 1, 9)),
        Case((9, tokens, rng.randint(1, 4), 9)),
        Case((9, tokens, 1, 9)),
        Case((first, Iterator(()), 3, 9)),
    ]


MAX_TOKENS = Debug(
    id="08-debug-max-tokens",
    module="serving_repairs",
    function="debug_max_tokens",
    grade="call",
    section="8.3",
    topic="prefill and decode",
    cases=(
        Case((5, Iterator((6, 7, 8)), 3, 0)),
        Case((5, Iterator((6, 7, 8)), 1, 0)),
        Case((5, Iterator((6, 0, 8)), 9, 0)),
        Case((0, Iterator((6, 7)), 9, 0)),
        invalid(5, Iterator((6, 7)), 0, 0),
    ),
    groups=(
        Group(
            "answers",
            _answer,
            10,
            "At most max_tokens tokens, and none from the end token on; the prefill's token is one like the others.",
            _first_token,
        ),
        Group("bad input", lambda rng: invalid(1, Iterator((2,)), -rng.randint(0, 5), 9), 2, "No token: ValueError."),
    ),
    slips=(
        Slip("The limit is tested only after a decode step: max_tokens=1 returns two tokens.", wrong_max_tokens),
        Slip("Off by one the other way: max_tokens tokens are wanted.", slip_off_by_one),
        Slip("The token of the prefill may be the end token.", slip_prefill_end),
        Slip("The token of the prefill counts.", slip_prefill_free),
        Slip("The token of the prefill is the first of the answer.", slip_prefill_dropped),
        Slip("A limit below 1 was accepted.", slip_any_limit),
    ),
    wrong=wrong_max_tokens,
)

# --- debug_sleep


def wrong_sleep(latency_ms):
    import asyncio

    if latency_ms < 0:
        raise ValueError(f"latency_ms must be >= 0, got {latency_ms!r}")
    return asyncio.sleep(latency_ms)


def slip_blocks(latency_ms):
    import asyncio
    import time

    if latency_ms < 0:
        raise ValueError("out of range")
    time.sleep(latency_ms / 1000)
    return asyncio.sleep(0)


def slip_microseconds(latency_ms):
    import asyncio

    if latency_ms < 0:
        raise ValueError("out of range")
    return asyncio.sleep(latency_ms / 1_000_000)


def slip_twice(latency_ms):
    import asyncio

    if latency_ms < 0:
        raise ValueError("out of range")
    return asyncio.sleep(latency_ms * 1000)


def slip_nobody_waits(latency_ms):
    import asyncio

    if latency_ms < 0:
        raise ValueError("out of range")
    return asyncio.sleep(0)


def slip_any_wait(latency_ms):
    import asyncio

    return asyncio.sleep(max(0, latency_ms) / 1000)


SLEEP = Debug(
    id="08-debug-sleep",
    module="serving_repairs",
    function="debug_sleep",
    grade="call",
    probe="ch08.on_a_clock",
    section="8.2",
    topic="event loops",
    cases=(Case(([10],)), Case(([10, 20, 5],)), Case(([0],)), invalid([-1])),
    groups=(
        Group(
            "one request", lambda rng: Case(([round(rng.uniform(1, 500), 1)],)), 3, "A second has 1,000 milliseconds."
        ),
        Group(
            "several at once",
            lambda rng: Case(([round(rng.uniform(1, 500), 1) for _ in range(rng.randint(2, 9))],)),
            4,
            "While one request waits, the others go on: nothing may block the event loop.",
        ),
        Group("bad input", lambda rng: invalid([-rng.uniform(1, 9)]), 2, "A negative time is a ValueError."),
    ),
    slips=(
        Slip("`asyncio.sleep` takes seconds: 10 ms became 10 s.", wrong_sleep),
        Slip("`time.sleep` blocks the event loop, and with it every other request.", slip_blocks),
        Slip("A second has 1,000 milliseconds, not a million.", slip_microseconds),
        Slip("Milliseconds to seconds: divide.", slip_twice),
        Slip("Nobody waited: return what `asyncio.sleep` gives, or await it.", slip_nobody_waits),
        Slip("A negative time was accepted.", slip_any_wait),
    ),
    wrong=wrong_sleep,
)

ITEMS: tuple[Build, ...] = (KV_ROOM, TOKEN_ID, SLEEP, MAX_TOKENS)
