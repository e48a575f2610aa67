"""Chapter 08: four small parts of a toy server, each with a mistake."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Iterator, Slip, invalid

# --- debug_token_id


def wrong_token_id(word, vocabulary=1000):
    return hash(word) % vocabulary


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
    processes=2,
    section="8.2",
    topic="tokenizers",
    cases=(
        Case((["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"], 1000)),
        Case((["to", "be", "or", "not", "to", "be"], 50_000)),
    ),
    groups=(
        Group("words", _words, 4, "The same word, the same number, in every process.", lambda rng: [_default(rng)]),
        Group(
            "few numbers",
            lambda rng: Case(([_word(rng) for _ in range(30)], rng.randint(1, 3))),
            2,
            "The vocabulary may hold one to three numbers: all words get integers from 0 to `vocabulary - 1`.",
        ),
    ),
    slips=(
        Slip("Python salts the hash of a string anew in each process, and no random seed reaches it.", wrong_token_id),
        Slip(
            "Different words should mostly get different numbers.",
            edit=('int.from_bytes(digest[:4], "big")', "len(word)"),
        ),
        Slip(
            "The number must stay below the size of the vocabulary.",
            edit=('int.from_bytes(digest[:4], "big") % vocabulary', 'int.from_bytes(digest[:4], "big")'),
        ),
    ),
    wrong=wrong_token_id,
)

# --- debug_kv_room


def wrong_kv_room(gpu_gb, billions, bytes_per_parameter=2):
    return gpu_gb - billions * bytes_per_parameter / 1e9


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
    ),
    groups=(
        Group("models that fit", _room, 4, "Billions of parameters times bytes are GB already."),
        Group("other sizes", _other_bytes, 3, "One byte or half a byte per parameter."),
        Group("models that do not fit", _too_large, 3, "Weights that do not fit are a ValueError, not a number."),
    ),
    slips=(
        Slip("Billions times bytes are GB already; dividing by 1e9 again makes every model fit.", wrong_kv_room),
        Slip(
            "0 GB of room is not the same as too little room: raise when the weights do not fit.",
            edit=(
                'raise ValueError(f"{billions} billion parameters do not fit: {-room:g} GB are missing")',
                "return 0.0",
            ),
        ),
        Slip(
            "Weights that do not fit leave no negative room: raise ValueError.",
            edit=("if room < 0:", "if False:"),
        ),
        Slip(
            "GB are 1e9 bytes here, on both sides.",
            edit=("billions * bytes_per_parameter", "billions * 1e9 * bytes_per_parameter / 2**30"),
        ),
        Slip(
            "The bytes of a parameter are an argument, not always two.",
            edit=("billions * bytes_per_parameter", "billions * 2"),
        ),
    ),
    wrong=wrong_kv_room,
)

# --- debug_max_tokens


def wrong_max_tokens(prefill_token, decoded, max_tokens, eos):
    answer = [prefill_token]
    for token in decoded:
        if token == eos:
            break
        answer.append(token)
        if len(answer) >= max_tokens:
            break
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
    ),
    groups=(
        Group(
            "answers",
            _answer,
            10,
            "At most max_tokens tokens, and none from the end token on; the prefill's token is one like the others.",
            _first_token,
        ),
    ),
    slips=(
        Slip("The limit is tested only after a decode step: max_tokens=1 returns two tokens.", wrong_max_tokens),
        Slip(
            "An answer may have max_tokens tokens; yours ends one token earlier.",
            edit=("token == eos", "token == eos or len(answer) == max_tokens - 1"),
        ),
        Slip(
            "The token from prefill may be the end token.",
            edits=(
                ("answer: list[int] = []", "answer: list[int] = [prefill_token]"),
                ("itertools.chain([prefill_token], decoded)", "decoded"),
                ("token == eos", "token == eos or len(answer) == max_tokens"),
            ),
        ),
        Slip(
            "The token from prefill counts towards max_tokens; your answers are one token too long.",
            edits=(
                ("token == eos", "token == eos or len(answer) == max_tokens + 1"),
                ("if len(answer) == max_tokens:\n            break", ""),
            ),
        ),
        Slip(
            "The token from prefill is the first token of the answer.",
            edits=(
                ("itertools.chain([prefill_token], decoded)", "decoded"),
                ("token == eos", "token == eos or len(answer) == max_tokens or prefill_token == eos"),
            ),
        ),
    ),
    wrong=wrong_max_tokens,
)

# --- debug_sleep


def wrong_sleep(latency_ms):
    import asyncio

    return asyncio.sleep(latency_ms)


SLEEP = Debug(
    id="08-debug-sleep",
    module="serving_repairs",
    function="debug_sleep",
    grade="call",
    probe="ch08_clock.on_a_clock",
    section="8.2",
    topic="event loops",
    cases=(Case(([10],)), Case(([10, 20, 5],)), Case(([0],))),
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
    ),
    slips=(
        Slip("`asyncio.sleep` takes seconds: 10 ms became 10 s.", wrong_sleep),
        Slip(
            "`time.sleep` blocks the event loop, and with it every other request.",
            edits=(
                ("    return", "    import time\n\n    time.sleep(latency_ms / 1000)\n    return"),
                ("latency_ms / 1000", "0"),
            ),
        ),
        Slip("A second has 1,000 milliseconds, not a million.", edit=("latency_ms / 1000", "latency_ms / 1_000_000")),
        Slip(
            "Milliseconds divided by 1,000 are seconds; yours are multiplied by 1,000.",
            edit=("latency_ms / 1000", "latency_ms * 1000"),
        ),
        Slip("Nobody waited: what is awaited must take as long as the latency says.", edit=("latency_ms / 1000", "0")),
    ),
    wrong=wrong_sleep,
)

ITEMS: tuple[Build, ...] = (KV_ROOM, TOKEN_ID, SLEEP, MAX_TOKENS)
