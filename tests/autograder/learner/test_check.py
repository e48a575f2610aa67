"""``check``: her function when it passes, the reference until then, three failing cases at most, no hanging cell."""

from __future__ import annotations

import inspect
import threading

import pytest
import toy_bank as toys

from autograder import bank, check
from autograder.items import Case, Iterator, Tensor
from autograder.learner import checking, progress
from autograder.marking import trusted
from autograder.marking.compare import UNWRITTEN
from solutions.ch03 import collective_cost, collectives
from solutions.ch05 import zero


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKZERO_DATA", str(tmp_path))
    monkeypatch.delenv("RANKZERO_BOOK", raising=False)


def make(source: str):
    """The last function that a cell with this source defines."""
    namespace: dict = {}
    exec(compile(source, "<cell>", "exec"), namespace)
    return [value for value in namespace.values() if inspect.isfunction(value)][-1]


def time_with(body: str):
    return make(f"def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):\n    {body}\n")


TOTAL = len(bank.find_function("ring_all_reduce_time").cases)
NAMESPACE: dict = {}
exec(inspect.getsource(collective_cost).replace("from .collective_semantics import OPERATIONS", ""), NAMESPACE)
RIGHT = NAMESPACE["ring_all_reduce_time"]


def test_her_function_comes_back_when_it_passes(capsys):
    assert check(RIGHT) is RIGHT
    said = capsys.readouterr().out
    assert said.startswith(f"03-ring-all-reduce-time: {TOTAL} of {TOTAL} public cases\n")
    assert "Later cells use your function. Hidden cases are checked when you submit." in said


def test_the_reference_comes_back_until_then_and_the_slip_is_named(capsys):
    wrong = time_with("return 4 * (ranks - 1) * (latency + message_bytes / ranks / bandwidth)")
    assert check(wrong) is collective_cost.ring_all_reduce_time
    said = capsys.readouterr().out
    assert said.startswith(f"03-ring-all-reduce-time: 0 of {TOTAL} public cases\n")
    assert said.lower().count("both trips were counted twice") == checking.SHOWN
    assert "Later cells use the reference." in said


def test_without_a_slip_the_ratio_is_told(capsys):
    check(time_with("return 6 * (ranks - 1) * (latency + message_bytes / ranks / bandwidth)"))
    assert "the value is 3x too large" in capsys.readouterr().out


def test_a_stub_is_one_line(capsys):
    stub = time_with("raise NotImplementedError('03-ring-all-reduce-time: ...')")
    assert check(stub) is collective_cost.ring_all_reduce_time
    assert capsys.readouterr().out == f"03-ring-all-reduce-time: {UNWRITTEN}. Later cells use the reference.\n"


def test_checking_the_reference_again_says_so_and_counts_for_nothing(capsys):
    """Kills: a cell that is run twice, whose name holds the reference by then, and that praises it."""
    assert check(collective_cost.ring_all_reduce_time) is collective_cost.ring_all_reduce_time
    assert "this is the reference" in capsys.readouterr().out
    assert progress.load() == {}


def test_progress_is_kept(capsys):
    check(RIGHT)
    assert progress.load() == {"03-ring-all-reduce-time": {"passed": TOTAL, "total": TOTAL}}
    assert capsys.readouterr().out


@pytest.mark.parametrize("thing", [None, 3, "ring_all_reduce_time", print, lambda x: x])
def test_what_is_no_exercise_is_refused_in_one_sentence(thing):
    with pytest.raises(ValueError, match=r"exercise"):
        check(thing)


def test_an_error_names_class_line_and_text(capsys):
    check(time_with("return math.ceil(ranks)"))
    said = capsys.readouterr().out
    assert "raised NameError at line 2: name 'math' is not defined" in said
    assert "Traceback" not in said


def test_an_endless_loop_ends(capsys, monkeypatch):
    """Kills: a cell that hangs, also when the learner's code swallows every exception."""
    monkeypatch.setattr(checking, "TIME", 0.2)
    check(time_with("while True:\n        try:\n            while True: pass\n        except Exception: pass"))
    said = capsys.readouterr().out
    assert f"0 of {TOTAL} public cases" in said
    assert said.count("no answer within 0.2 s") == 1


def test_arguments_are_fresh_for_every_case():
    """Kills: a function that changes its argument and so spoils the next check of another."""
    item = bank.find_function("collective_outputs")
    before = repr(item.cases)
    check(
        make("def collective_outputs(operation, inputs, root=0, reduction='sum'):\n    inputs.clear()\n    return []\n")
    )
    assert repr(item.cases) == before


def test_the_report_carries_the_source_of_the_reference(monkeypatch, capsys):
    reports = []
    monkeypatch.setattr(checking.function_cards, "check_card", lambda report: reports.append(report) or "")
    check(RIGHT)
    source = reports[0].source
    assert source.startswith(inspect.getsource(collective_cost.ring_all_reduce_time).rstrip())
    assert "checks.count(ranks=ranks)" in source
    assert "def traffic" not in source
    assert (reports[0].using, reports[0].passed, reports[0].failures) == ("yours", TOTAL, ())
    assert capsys.readouterr().out


def test_a_class_is_checked(capsys):
    reference = bank.find_function("LossScaler").solution()
    source = inspect.getsource(inspect.getmodule(reference)).replace("from __future__ import annotations", "")
    namespace: dict = {"__name__": "cell"}
    exec(compile(source, "<cell>", "exec"), namespace)
    assert check(namespace["LossScaler"]) is namespace["LossScaler"]
    assert "public cases" in capsys.readouterr().out


# Worlds


def test_a_world_function_runs_on_real_ranks(capsys):
    hers = make(
        "def ring_all_reduce(x):\n    import torch.distributed as dist\n    y = x.clone()\n"
        "    dist.all_reduce(y)\n    return y\n"
    )
    assert check(hers) is collectives.ring_all_reduce
    assert "use only send, recv, isend and irecv" in capsys.readouterr().out


def test_what_ranks_print_is_shown(capsys):
    """Kills: a ``print`` that is swallowed, also where a rank fails, and one that fills the page."""
    check(
        make(
            "def ring_all_reduce(x):\n    import torch.distributed as dist\n    rank = dist.get_rank()\n"
            "    print('I am', rank)\n    print(('x' * 1000 + chr(10)) * 4)\n"
            "    if rank == 0:\n        raise KeyError('lost')\n    return x\n"
        )
    )
    out = capsys.readouterr().out
    total = len(bank.find_function("ring_all_reduce").cases)
    assert out.startswith(f"printed in case 1 of {total}:\n  rank 0: I am 0\n  rank 0: xxx")
    assert "\n  rank 1: I am 1\n" in out
    shown = out[: out.index("03-ring-all-reduce: ")].splitlines()
    assert len(shown) == checking.LINES + 1
    assert max(map(len, shown)) <= len("  rank 0: ") + checking.WIDEST
    assert shown[-1].startswith("... and ")
    assert shown[-1].endswith(" more lines")


def test_a_tensor_function_prints_without_ranks():
    outcome = trusted.Outcome("value", 1, printed=(("one", "two"),))
    quiet = trusted.Outcome("value", 1)
    assert checking.printed([quiet, outcome]) == ["printed in case 2 of 2:", "  one", "  two"]
    assert checking.printed([quiet, quiet]) == []


def test_a_world_that_is_not_tried_again_prints_once():
    """Kills: lines that are shown again for each case that was left out."""
    item, case = bank.find_function("ring_all_reduce"), Case(((Tensor.of([1]),),) * 2)
    waiting = make(
        "def ring_all_reduce(x):\n    import torch.distributed as dist\n"
        "    print('in', flush=True)\n    dist.recv(x, 1 - dist.get_rank())\n"
    )
    outcomes = trusted.run(item, waiting, [case] * 4, timeout=250.0)
    assert {outcome.kind for outcome in outcomes} == {"deadlock"}
    assert [bool(outcome.printed) for outcome in outcomes] == [True, True, False, False]
    program = make("def ring_all_reduce(x):\n    print('again')\n    raise NotImplementedError\n")
    outcomes = checking._outcomes(bank.find_function("ring_all_reduce"), program)
    assert [bool(outcome.printed) for outcome in outcomes] == [True] + [False] * (len(outcomes) - 1)


def test_the_exercise_that_is_missing_is_named(capsys):
    check(make("def ring_all_reduce(x):\n    return ring_reduce_scatter(x)\n"))
    assert "needs ring_reduce_scatter (03-ring-reduce-scatter), which is not there" in capsys.readouterr().out


def test_an_exception_of_one_rank_arrives_although_the_others_wait():
    """Kills: reporting a deadlock only, when one rank raised and the others wait for it."""
    program = make(
        "def f(x):\n    import torch.distributed as dist\n"
        "    if dist.get_rank() == 1:\n        raise KeyError('lost')\n    dist.barrier()\n"
    )
    item = bank.find_function("ring_all_reduce")
    (outcome,) = trusted.run(item, program, [Case(((Tensor.of([1]),),) * 3)], timeout=250.0)
    assert (outcome.kind, outcome.error) == ("raised", "KeyError on rank 1 only")


def test_an_exception_of_every_rank_is_one_exception():
    program = make("def f(x):\n    raise ValueError('everywhere')\n")
    item = bank.find_function("ring_all_reduce")
    (outcome,) = trusted.run(item, program, [Case(((Tensor.of([1]),),) * 2)], timeout=250.0)
    assert (outcome.kind, outcome.error, outcome.line) == ("raised", "ValueError", 2)


def test_the_reference_takes_many_cases_in_one_world_and_keeps_their_events_apart():
    item = bank.find_function("ring_all_reduce")
    sizes = (2, 3, 2, 1)
    cases = [Case(tuple((Tensor.of([rank, 1.0]),) for rank in range(size))) for size in sizes]
    outcomes = trusted.run(item, item.solution(), cases, timeout=250.0)
    for size, outcome in zip(sizes, outcomes, strict=True):
        assert [value["returned"].tolist() for value in outcome.value] == [[sum(range(size)), size]] * size
        sends = [event for event in outcome.events if event.operation == "send"]
        assert len(sends) == 2 * (size - 1) * min(size, 2)
        assert {event.operation for event in outcome.events} <= {"send", "recv"}


# Trusted programs


def test_values_pass_the_gate_of_exact_types():
    class Disguised(float):
        pass

    (outcome,) = trusted.run(toys.SCALE, lambda a, b: Disguised(a), [Case((1.0, 2.0))])
    assert (outcome.kind, outcome.detail.startswith("returned a Disguised")) == ("refused", True)


def test_an_iterator_can_be_walked_once():
    (outcome,) = trusted.run(toys.LOWEST, lambda values: [*values, *values], [Case((Iterator((1, 2)),))])
    assert outcome.value == [1, 2]


def test_the_deadline_works_in_the_main_thread_and_does_no_harm_in_others():
    found = []
    thread = threading.Thread(target=lambda: found.extend(trusted.run(toys.LOWEST, min, [Case(([2.0, 1.0],))], 0.1)))
    thread.start()
    thread.join()
    assert found[0].value == 1.0


def test_after_two_late_answers_no_more_is_tried():
    def endless(values):
        while True:
            pass

    outcomes = trusted.run(toys.LOWEST, endless, [Case(([1.0],))] * 50, timeout=0.05)
    assert [outcome.kind for outcome in outcomes] == ["timeout"] * 50


def test_all_slips_of_a_plain_item_pass_through_check(capsys):
    """The page names what the grader names."""
    item = bank.find("05-zero-memory")
    for slip in item.slips:
        namespace: dict = {}
        exec(item.source_of(slip), namespace)
        wrong = namespace[slip.name if slip.program else item.function]
        wrong.__name__ = item.function
        assert check(wrong) in (wrong, zero.zero_memory)
    assert "public cases" in capsys.readouterr().out
