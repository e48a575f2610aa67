"""Duplicates: copies are found under other names and in another order; honest short programs are not."""

from __future__ import annotations

import ast
import csv
import inspect
import os
import random
import re
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom.duplicates import handed_out, report
from autograder.classroom.fingerprints import GRAM, WINDOW, Stream, fingerprints, grams, streams
from autograder.submission import Submission, Unit, definitions, load

ROOT = Path(__file__).parents[3]


def one(source: str, label: str = "labs.py") -> Submission:
    return Submission(label, (Unit(label, textwrap.dedent(source)),))


def solution(module: str) -> str:
    return next((ROOT / "solutions").glob(f"ch*/{module}.py")).read_text(encoding="utf-8")


def renamed(source: str) -> str:
    """Every function, argument and variable of a source under another name."""
    tree = ast.parse(source)
    made = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    made |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    made |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Name(f"zz_{node.id}" if node.id in made else node.id, node.ctx)

        def visit_arg(self, node):
            return ast.arg(f"zz_{node.arg}")

        def visit_keyword(self, node):
            value = self.visit(node.value)
            return ast.keyword(f"zz_{node.arg}" if node.arg in made else node.arg, value)

        def visit_FunctionDef(self, node):
            self.generic_visit(node)
            node.name = f"zz_{node.name}"
            return node

    return ast.unparse(ast.fix_missing_locations(Rename().visit(tree)))


def reordered(source: str) -> str:
    """The functions of a source the other way round, with comments and prints between their statements."""
    tree = ast.parse(source)
    tree.body = [*(node for node in tree.body if not isinstance(node, ast.FunctionDef))] + [
        node for node in reversed(tree.body) if isinstance(node, ast.FunctionDef)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(1, ast.parse("print('here')").body[0])
            node.body.insert(0, ast.Expr(ast.Constant("My own words on what this does.")))
    return "# all my own work\n" + ast.unparse(ast.fix_missing_locations(tree)).replace("\n\n", "\n\n# so\n\n")


#: Two long programs that have nothing to do with each other, and a third.
LONG, OTHER, THIRD = solution("pipeline"), solution("topology"), solution("precision")


# Copies


@pytest.mark.parametrize("disguise", [str, renamed, reordered, lambda source: reordered(renamed(source))])
def test_a_copy_is_found_in_any_disguise(disguise):
    """Kills: comparing text, names, comments, or functions in their order."""
    (pair,) = report({"ana": one(LONG), "bo": one(disguise(LONG)), "cy": one(OTHER), "di": one(THIRD)})
    assert (pair.first, pair.second) == ("ana", "bo")
    assert pair.similarity > 0.95
    assert pair.shared[0].similarity == pytest.approx(1.0, abs=0.1)


def test_a_copy_among_others_functions_is_found_by_its_functions():
    """Kills: a similarity of whole programs alone, which a copied third never reaches."""
    part = inspect.getsource(__import__("solutions.ch07.pipeline", fromlist=["x"]).simulate_schedule)
    (pair,) = report(
        {"ana": one(OTHER + "\n\n" + part), "bo": one(THIRD + "\n\n" + renamed(part)), "cy": one(LONG[:500])}
    )
    assert (pair.first, pair.second) == ("ana", "bo")
    assert pair.similarity < 0.8
    assert [(both.first.name, both.second.name) for both in pair.shared] == [
        ("simulate_schedule", "zz_simulate_schedule")
    ]
    line = 1 + (OTHER + "\n\n").count("\n")
    assert line < min(pair.shared[0].first.prints.values()) < line + 60


def test_a_program_that_holds_all_of_another_is_found():
    """Kills: dividing by the larger program, so that a copy hides in more code of one's own."""
    (pair,) = report({"ana": one(LONG), "bo": one(LONG + "\n\n" + OTHER), "cy": one(THIRD)})
    assert pair.similarity > 0.95


def test_independent_programs_are_no_pair():
    assert report({"ana": one(LONG), "bo": one(OTHER), "cy": one(THIRD)}) == []


def test_notebook_cells_and_files_are_compared_with_each_other():
    imported = "from rankzero import checks\n"  # as in every cell of an exercise
    cells = [Unit(f"cell {n}", imported + ast.unparse(node)) for n, node in enumerate(ast.parse(LONG).body, 1)]
    (pair,) = report({"ana": one(LONG), "bo": Submission("b.ipynb", tuple(cells)), "cy": one(OTHER)})
    assert pair.similarity > 0.95


# What is nobody's


def test_starter_code_counts_for_nothing():
    """Kills: reporting everybody for what everybody was given, as it stands or with a few lines changed."""
    given = one(LONG)
    changed = LONG.replace("return", "print('x')\n    return", 1)
    assert report({"ana": one(LONG), "bo": one(changed), "cy": one(OTHER)}, given) == []
    (pair,) = report({"ana": one(LONG + OTHER), "bo": one(LONG + OTHER), "cy": one(THIRD)}, given)
    assert all(both.first.name not in LONG for both in pair.shared if both.first.name)


def test_what_many_hold_counts_for_nothing():
    """Kills: naming a whole class for code that most of it took from one page."""
    many = {f"learner {n}": one(LONG + f"\n\ndef own(x):\n    return x + {n}\n") for n in range(12)}
    assert report(many | {"else": one(OTHER)}) == []


@pytest.mark.parametrize(("holders", "pairs"), [(2, 1), (9, 0)])
def test_what_is_shared_counts_as_far_as_it_is_rare(holders, pairs):
    """Kills: a weight of 1 for every fingerprint: nine of thirty who write one page's code are no thirty-six pairs."""
    part = inspect.getsource(__import__("solutions.ch07.pipeline", fromlist=["x"]).pipeline_schedule)
    own = {f"learner {n}": one(f"def own(x):\n    return x + {n}\n") for n in range(30 - holders)}
    assert len(report(own | {f"holder {n}": one(part) for n in range(holders)})) == pairs


#: Natural ways to write some short functions, told apart by people who never met.
WAYS = {
    "message_time": ["return latency + size / bandwidth", "t = size / bandwidth\n    return t + latency"],
    "ring_time": [
        "steps = 2 * (ranks - 1)\n    return steps * (latency + size / ranks / bandwidth)",
        "return 2 * (ranks - 1) * (latency + size / (ranks * bandwidth))",
        "part = size / ranks\n    one = latency + part / bandwidth\n    return 2 * (ranks - 1) * one",
    ],
    "state_bytes": [
        "table = {'fp32': 16, 'mixed': 16, 'bf16': 8}\n    return table[name] * size",
        "if name == 'bf16':\n        return 8 * size\n    return 16 * size",
    ],
    "mean": [
        "return sum(values) / len(values)",
        "total = 0\n    for value in values:\n        total += value\n    return total / len(values)",
    ],
    "bubble": ["return (p - 1) / (m + p - 1)", "idle = p - 1\n    return idle / (m + idle)"],
    "shard": [
        "return list(range(rank, size, world))",
        "return [i for i in range(size) if i % world == rank]",
        "out = []\n    for i in range(rank, size, world):\n        out.append(i)\n    return out",
    ],
}
CHECK = "    if ranks < 1:\n        raise ValueError(f'ranks must be an integer >= 1, got {ranks}')\n"


def honest(seed: int) -> Submission:
    """Short functions, each in one of its natural ways, most with the same check of arguments."""
    rng = random.Random(seed)
    bodies = {name: rng.choice(ways) for name, ways in WAYS.items()}
    made = [
        f"def {name}(size, ranks, latency, bandwidth, values, p, m, rank, world, name):\n"
        f"{CHECK if rng.random() < 0.8 else ''}    {body}\n"
        for name, body in bodies.items()
    ]
    return one("\n\n".join(made))


@pytest.mark.parametrize("size", [2, 3, 5, 12, 40, 150])
def test_honest_classes_of_short_functions_give_no_pair(size):
    """Kills: punishing the only natural solution, in a class of any size."""
    assert report({f"learner {n}": honest(n) for n in range(size)}) == []


def test_honest_answers_to_the_stubs_give_no_pair():
    """References of short exercises, handed in by everybody."""
    short = "\n".join(solution(module) for module in ("ranks", "alpha_beta", "scaling"))
    assert report({f"learner {n}": one(short) for n in range(15)}, load(ROOT / "labs")) == []


# Fingerprints


def test_a_shared_run_of_tokens_leaves_a_shared_fingerprint():
    """The promise of winnowing: ``GRAM + WINDOW - 1`` tokens in a row, wherever they stand."""
    rng = random.Random(1)
    for _ in range(50):
        run = [rng.randrange(1000) for _ in range(GRAM + WINDOW - 1)]
        sides = [[rng.randrange(1000) for _ in range(rng.randrange(60))] for _ in range(4)]
        texts = [sides[0] + run + sides[1], sides[2] + run + sides[3]]
        first, second = (fingerprints(Stream("", text, [1] * len(text))) for text in texts)
        assert set(first) & set(second)


def test_shorter_runs_leave_none():
    assert grams(list(range(GRAM - 1))) == []
    assert fingerprints(Stream("", list(range(GRAM - 1)), [1] * GRAM)) == {}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("return a > b", "return b < a"),
        ("x = 2\n    return x", "x: float = 2.0\n    return x"),
        ("raise ValueError('a must be > 0')", "raise ValueError(f'{a} is too small, really')"),
        ("import math\n    return a", "pass\n    return a"),
    ],
)
def test_the_same_in_other_words(left, right):
    (first, *_), (second, *_) = (streams(f"def f(a, b):\n    {body}\n") for body in (left, right))
    assert first.tokens == second.tokens


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("return a + b", "return a - b"),
        ("return 2 * a", "return 3 * a"),
        ("return len(a)", "return sum(a)"),
        ("return a.real", "return a.imag"),
        ("if a:\n        b = 1\n    return b", "if a:\n        b = 1\n        return b"),
    ],
)
def test_not_the_same(left, right):
    """Kills: a stream without operators, constants, names of the language, or the ends of blocks."""
    (first, *_), (second, *_) = (streams(f"def f(a, b):\n    {body}\n") for body in (left, right))
    assert first.tokens != second.tokens


@pytest.mark.parametrize(
    "source", ["def f(:", "x = " + "(" * 5000 + ")" * 5000, "x = " + "-" * 20000 + "1", "x = " + "1+" * 20000 + "1"]
)
def test_what_is_not_python_or_too_deep_is_passed_over(source):
    assert report({"ana": one(source), "bo": one(source), "cy": one(LONG)}) == []


@pytest.mark.parametrize("least", [0, -1, 1.5, float("nan")])
def test_least_is_checked(least):
    with pytest.raises(ValueError, match="least must be above 0 and at most 1"):
        report({}, None, least)


def test_no_code_is_run(tmp_path):
    mark = tmp_path / "ran"
    source = f"open({str(mark)!r}, 'w')\n\n" + LONG
    assert report({"ana": one(source), "bo": one(source)})
    assert not mark.exists()


# The command


@pytest.fixture
def class_(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    for name, source in {"ana": LONG, "bo": reordered(renamed(LONG)), "cy": OTHER, "di": THIRD}.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    (folder / "eve.zip").write_bytes(b"no archive")
    return folder


def test_the_command_lists_pairs_and_says_what_they_are_worth(class_, tmp_path, capsys):
    table = tmp_path / "pairs.csv"
    (tmp_path / "nothing.py").write_text("")
    arguments = ["duplicates", str(class_), "--starter", str(tmp_path / "nothing.py"), "--csv", str(table)]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert re.search(r"^ana and bo: (100|9\d) %", said, re.MULTILINE)
    assert "1 pair among 4 submissions." in said
    assert "never a verdict" in said
    assert "not compared: eve" in said
    (row,) = csv.DictReader(table.open(encoding="utf-8", newline=""))
    assert (row["first"], row["second"]) == ("ana", "bo")
    assert float(row["similarity"]) > 0.9
    assert "simulate_schedule" in row["functions"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no-such-folder"], "no-such-folder"),
        (["{}", "--least", "2"], "least must be"),
        (["{}", "--starter", "x.py"], "starter"),
    ],
)
def test_usage(class_, capsys, arguments, sentence):
    assert main(["duplicates", *(one.format(class_) for one in arguments)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_tokens_are_the_same_in_every_process():
    """Kills: hashes that change from run to run, and with them what is found."""
    source = "def f(values):\n    return len(values) + values.size * 2\n"
    code = f"from autograder.classroom.fingerprints import streams; print(streams({source!r})[0].tokens)"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == str(streams(source)[0].tokens)


@pytest.mark.proof(part="classes")
def test_what_the_course_hands_out_counts_for_nothing(tmp_path):
    """Kills: accusing learners of the functions of a page, of a lab's helpers, or of a program to repair."""
    given = handed_out(ROOT)
    for page in ("05-data-parallel", "08-server", "deeper/03-collectives-deeper"):
        whole = load(ROOT / f"book/{page}.ipynb")
        (tmp_path / "page.py").write_text("\n\n".join(unit.source.strip() for unit in whole.units), encoding="utf-8")
        assert report({"ana": whole, "bo": load(tmp_path / "page.py"), "cy": one(OTHER)}, given) == []
        pair = {"ana": replace(whole, units=(*whole.units, *one(LONG).units)), "bo": one(LONG), "cy": one(OTHER)}
        assert len(report(pair, given)) == 1
    wrong = "\n\n".join(definitions.given_programs().values())
    assert report({"ana": one(wrong), "bo": one(wrong)}, given) == []
    assert report({"ana": one(wrong), "bo": one(wrong)})
