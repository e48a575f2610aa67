"""Chapter 11: ``grammars``, schemas as patterns."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from autograder.items import Build, Case, Group, Promise, Slip

DIGITS = "0123456789"
LOWER = "abcxyz"


def _some(rng: Random, letters: str, low: int, high: int) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randint(low, high)))


def _name(rng: Random) -> str:
    return rng.choice("abXY_") + _some(rng, "abZ_01", 0, 5)


def _phone(rng: Random) -> str:
    return "-".join(_some(rng, DIGITS, size, size) for size in (3, 3, 4))


def _signature(rng: Random, arguments: int | None = None) -> str:
    count = rng.randint(0, 3) if arguments is None else arguments
    return f"def {_name(rng)}({', '.join(_name(rng) for _ in range(count))}):"


def _mail(rng: Random, labels: int | None = None) -> str:
    count = rng.randint(1, 3) if labels is None else labels
    host = ".".join(_some(rng, LOWER + "01-", 1, 5) for _ in range(count))
    return f"{_some(rng, LOWER + '09._-', 1, 8)}@{host}.{_some(rng, LOWER, 2, 4)}"


MAKERS: dict[str, Callable[[Random], str]] = {"phone": _phone, "signature": _signature, "email": _mail}


def _near(text: str, rng: Random) -> str:
    """A text that may be just outside the form."""
    index = rng.randrange(len(text))
    mark = rng.choice("-.@(), :_a0٣é")
    cut = (
        text[:index] + text[index + 1 :],
        text[:index] + mark + text[index:],
        text[:index] + mark + text[index + 1 :],
    )
    return rng.choice((*cut, text + rng.choice(("\n", " ")), text.upper(), text + text))


def _tried(name: str, rng: Random, *more: str) -> Case:
    right = [MAKERS[name](rng) for _ in range(25)]
    texts = [*right, *(_near(text, rng) for text in right), *more]
    rng.shuffle(texts)
    return Case((name, texts))


def _phones(rng: Random) -> Case:
    number = _phone(rng)
    return _tried(
        "phone",
        rng,
        number.replace("-", ".", 1),
        number.replace("-", "x"),
        "٣" + number[1:],
        "-" * 12,
        number[:-1] + "-",
    )


def _signatures(rng: Random) -> Case:
    head = f"def {_name(rng)}"
    few = [_signature(rng, count) for count in range(5)]
    odd = (
        f"{head}a, b:",
        f"{head}(a,b):",
        f"{head}(a, ):",
        f"{head}(, a):",
        f"{head}(1):",
        f"{head}(*a):",
        f"{head}:",
        "def é():",
    )
    return _tried("signature", rng, *few, *odd, f"{head}(٣):", f"{head}(a b):", f"{head}(ab, ab, ):", f"{head} ():")


def _mails(rng: Random) -> Case:
    text = _mail(rng, 1)
    odd = (
        text.replace(".", "x"),
        f"{text}@{text}",
        "a@b",
        "a@b.c",
        "@b.com",
        "a@.com",
        "a@b.com.",
        "a b@c.de",
        "a@bcde",
        "a@b_.de",
        f"a@b.{_some(rng, DIGITS, 2, 3)}",
        f"a@b.c{rng.choice(DIGITS)}",
        "a@b.c-d",
        "a@b.c_d",
    )
    return _tried("email", rng, *odd, _mail(rng, 3), _mail(rng, 2), "٣@b.com", "a@b..com")


EXERCISE = Build(
    "11 constrained.grammars",
    section="11.18",
    topic="schemas as patterns",
    bonus=True,
    probe="ch11_constraints.named",
    cases=(
        Case(("phone", ["555-010-4477", "555.010.4477", "5550104477", "555-010-44777", "٣55-010-4477"])),
        Case(("signature", ["def f():", "def _go2(a, b):", "def f(a, b, c):", "def f(a, b, c, d):", "def fa, b:"])),
        Case(("signature", ["def f(a,b):", "def f(a, ):", "def 2f():", "def f()", "def f(*a):", "def  f():"])),
        Case(("email", ["a.b@mail.example.org", "a@b.co", "a@b", "a@b.c", "@b.co", "a@bxco", "a@@b.co", "A@b.co"])),
    ),
    groups=(
        Group("phone numbers", _phones, 4, "Digits are 0 to 9, and the marks between them are not just any."),
        Group("signatures", _signatures, 4, "Brackets and a colon are there; arguments are none, one, two or three."),
        Group("e-mail addresses", _mails, 4, "A dot is a dot; the domain has two labels or more."),
    ),
    slips=(
        Slip(
            "`.*` matches nearly everything: say which characters may be there.",
            edits=(
                ('"[0-9]{3}-[0-9]{3}-[0-9]{4}"', '"[0-9-]{12}"'),
                ('rf"def {name}\\(({name}(, {name}){{0,2}})?\\):"', 'rf"def {name}\\(.*\\):"'),
                ('r"[a-z0-9._-]+@([a-z0-9-]+\\.)+[a-z]{2,}"', 'r".*@.*\\..*"'),
            ),
        ),
        Slip(
            "A dot or a bracket without a backslash is not that character.",
            edits=(
                ('"[0-9]{3}-[0-9]{3}-[0-9]{4}"', '"[0-9]{3}.[0-9]{3}.[0-9]{4}"'),
                ('rf"def {name}\\(({name}(, {name}){{0,2}})?\\):"', 'rf"def {name}(({name}(, {name}){{0,2}})?):"'),
                ("[a-z0-9-]+\\.", "[a-z0-9-]+."),
            ),
        ),
        Slip(
            "Four arguments pass: one, and then up to two more, are three.",
            edit=(
                'rf"def {name}\\(({name}(, {name}){{0,2}})?\\):"',
                '(rf"def {name}\\(({name}(, {name}){{0,3}})?\\):")',
            ),
        ),
        Slip(
            "A function may have no argument.",
            edit=('rf"def {name}\\(({name}(, {name}){{0,2}})?\\):"', '(rf"def {name}\\({name}(, {name}){{0,2}}\\):")'),
        ),
        Slip(
            "Commas are between two names, and nowhere else.",
            edit=('rf"def {name}\\(({name}(, {name}){{0,2}})?\\):"', "f'def {name}\\\\((({name})?(, )?){{0,3}}\\\\):'"),
        ),
        Slip(
            "In Python's patterns \\d and \\w match digits and letters of every script.",
            edits=(
                ('"[A-Za-z_][A-Za-z0-9_]*"', 'r"[^\\W\\d]\\w*"'),
                ('"[0-9]{3}-[0-9]{3}-[0-9]{4}"', 'r"\\d{3}-\\d{3}-\\d{4}"'),
                ('r"[a-z0-9._-]+@([a-z0-9-]+', 'r"[a-z\\d._-]+@([a-z\\d-]+'),
            ),
        ),
        Slip(
            "A domain may have more than two labels.",
            edit=('r"[a-z0-9._-]+@([a-z0-9-]+\\.)+[a-z]{2,}"', 'r"[a-z0-9._-]+@[a-z0-9-]+\\.[a-z]{2,}"'),
        ),
        Slip(
            "The last label of a domain is made of letters: no digits, no `-`.",
            edit=('r"[a-z0-9._-]+@([a-z0-9-]+\\.)+[a-z]{2,}"', 'r"[a-z0-9._-]+@([a-z0-9-]+\\.)+[a-z0-9-]{2,}"'),
        ),
    ),
    promises=(
        Promise("the last label two or more letters", edit=("[a-z]{2,}", "[a-z0-9]{2,}")),
        Promise("the last label two or more letters", edit=("[a-z]{2,}", "[a-z-]{2,}")),
        Promise("no, one, two or three names", edit=("{{0,2}}", "{{0,3}}")),
        Promise("The domain is two or more labels", edit=(r"([a-z0-9-]+\.)+", r"([a-z0-9-]+\.){1,2}")),
    ),
)
