"""A part of a model as an argument: made anew for each call, alike on both sides; its gradients are in the answer."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
import torch

from autograder import bank
from autograder.items import Case, Stage, Tensor
from autograder.marking import compare, plain, trusted, values, wording
from autograder.marking.outcome import Outcome
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

LINEAR = ("Linear", Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=(3, 2)), Tensor.of([0.5, -0.5, 0.0]))
LAST = ("Linear", Tensor.of([2.0, 0.0, 1.0], shape=(1, 3)), None)
MODEL = Stage((LINEAR, ("Tanh",), LAST))
INPUTS = Tensor.of([0.1, 0.2, 0.3, 0.4], shape=(2, 2))
ITEM = replace(bank.find("02-forward-backward"), grade="tensor", cases=(), groups=(), rule=None, probe=None)


def trained(stage, x):
    stage(x).sum().backward()
    return 1.5


def layers(stage, x):
    return [type(module).__name__ for module in stage]


def the_stage_itself(stage, x):
    return stage


def forgets_one(stage, x):
    stage(x).sum().backward()
    stage[0].weight.grad = None
    return 1.5


def twice_as_much(stage, x):
    stage(x).sum().mul(2).backward()
    return 1.5


def other_value(stage, x):
    stage(x).sum().backward()
    return 2.5


def spoils_its_weights(stage, x):
    found = [parameter.grad is None for parameter in stage.parameters()]
    stage[0].weight.data.zero_()
    return [*found, stage(x).tolist()]


def changes_x(stage, x):
    x.zero_()
    return 0


#: Its child is forked, beside those of others.
pytestmark = pytest.mark.xdist_group("systems")

PROGRAMS = [trained, layers, the_stage_itself, forgets_one, twice_as_much, other_value, spoils_its_weights, changes_x]


@pytest.fixture(scope="module")
def child(forked):
    source = "\n\n".join(inspect.getsource(program) for program in PROGRAMS)
    with Runner(Submission("s", (Unit("s.py", source, None),)), Processes(Sandbox.measure("none"))) as runner:
        yield lambda program, *args: runner.run(ITEM.moved_to(ITEM.module, program.__name__), [Case(args=args)])[0]


def in_trust(program, *args) -> Outcome:
    return trusted.run(ITEM, program, [Case(args=args)])[0]


def torch_model() -> torch.nn.Module:
    """The same model, written down once more."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        model[0].bias.copy_(torch.tensor([0.5, -0.5, 0.0]))
        model[2].weight.copy_(torch.tensor([[2.0, 0.0, 1.0]]))
    return model


@pytest.mark.parametrize("side", ["child", "trusted"])
def test_both_sides_make_the_model_and_report_its_gradients(child, side):
    """Kills: weights in the wrong place, gradients of the wrong parameter."""
    outcome = (child if side == "child" else in_trust)(trained, MODEL, INPUTS)
    model = torch_model()
    model(torch.tensor([[0.1, 0.2], [0.3, 0.4]])).sum().backward()
    assert outcome.kind == "value"
    assert outcome.value.fields["value"] == 1.5
    found = outcome.value.fields["gradients"]
    assert list(found) == [name for name, _ in model.named_parameters()]
    for name, parameter in model.named_parameters():
        assert found[name].shape == tuple(parameter.shape)
        assert found[name].tolist() == pytest.approx(parameter.grad.flatten().tolist(), rel=1e-6)


@pytest.mark.parametrize("side", ["child", "trusted"])
def test_a_frozen_stage_and_one_without_parameters_have_no_gradients(child, side):
    ask = child if side == "child" else in_trust
    frozen, bare = ask(layers, replace(MODEL, frozen=True), INPUTS), ask(layers, Stage((("ReLU",),)), INPUTS)
    assert frozen.value.fields["value"] == ["Linear", "Tanh", "Linear"]
    assert frozen.value.fields["gradients"] == {"0.weight": None, "0.bias": None, "2.weight": None}
    assert (bare.value.fields["value"], bare.value.fields["gradients"]) == (["ReLU"], {})


def test_each_call_has_a_model_of_its_own(child):
    """Kills a stage whose gradients, or spoilt weights, are still there in the next call."""
    first, second = (child(spoils_its_weights, MODEL, INPUTS) for _ in range(2))
    assert first == second
    assert first.value.fields["value"][:3] == [True, True, True]
    assert child(trained, MODEL, INPUTS) == child(trained, MODEL, INPUTS)


def test_a_stage_may_change_and_other_arguments_may_not(child):
    case = Case(args=(MODEL, INPUTS))
    assert compare.changed(ITEM, case, child(trained, MODEL, INPUTS)) is None
    assert compare.changed(ITEM, case, in_trust(trained, MODEL, INPUTS)) is None
    assert compare.changed(ITEM, case, child(changes_x, MODEL, INPUTS)) is not None
    assert compare.changed(ITEM, case, in_trust(changes_x, MODEL, INPUTS)) is not None


def test_the_model_is_no_answer(child):
    assert child(the_stage_itself, MODEL, INPUTS).kind == "refused"
    assert in_trust(the_stage_itself, MODEL, INPUTS).kind == "refused"


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (trained, None),
        (forgets_one, "an entry of the field gradients is None; it must be a float32 tensor"),
        (twice_as_much, "element 0 of an entry of the field gradients is wrong"),
        (other_value, "the field value is wrong"),
    ],
)
def test_gradients_are_compared(child, program, sentence):
    """Kills a grader that looks at the returned value alone."""
    expected = in_trust(trained, MODEL, INPUTS)
    assert compare.fault(ITEM, Case(args=(MODEL, INPUTS)), expected, child(program, MODEL, INPUTS)) == sentence


def test_on_the_wire_it_is_what_it_was():
    for stage in (MODEL, replace(MODEL, frozen=True), Stage(())):
        assert values.decode(values.encode(stage)) == values.fresh(stage) == stage


@pytest.mark.parametrize(
    "wire",
    [
        ["S"],
        ["S", 1],
        ["S", True, 1],
        ["S", True, ["t"]],
        ["S", True, ["t", 1]],
        ["S", True, ["t", "Linear", 1]],
        ["S", True, ["l", "Tanh"]],
    ],
)
def test_a_malformed_stage_is_refused(wire):
    with pytest.raises(values.Malformed):
        values.decode(wire)


@pytest.mark.parametrize("wire", [["r"], ["r", 1, 2], ["r", 1, 2, 0], ["r", 1, True, 1], ["r", 1, 2, ["f", "0x1p0"]]])
def test_a_malformed_range_is_refused(wire):
    with pytest.raises(values.Malformed):
        values.decode(wire)


@pytest.mark.parametrize("given", [range(10**18), range(10**30, 0, -1), [range(60_000), range(60_000)]], ids=str)
def test_a_range_is_as_large_as_its_numbers(given):
    """Kills: an answer of seventy bytes that holds the grader for ever when it is walked."""
    with pytest.raises(values.Refused, match="of more than 100,000 parts"):
        values.encode(given)
    pieces = given if isinstance(given, list) else [given]
    with pytest.raises(values.Malformed):
        values.decode(["l", *(["r", one.start, one.stop, one.step] for one in pieces)])


@pytest.mark.parametrize("given", [range(3), range(5, 2, -1), range(0), range(10**30, 0), range(0, 10**30, 10**28)])
def test_a_range_is_a_value(given):
    assert values.decode(values.encode(given)) == given
    assert type(plain.plain([given])[0]) is range


def test_a_list_is_no_range():
    expected, got = Outcome("value", range(2)), Outcome("value", [0, 1])
    assert compare.matches(expected, got, 1e-9) == "returned a list; return a range"
    assert compare.matches(expected, Outcome("value", range(1, 2)), 1e-9) == "the value is wrong"
    assert compare.matches(expected, Outcome("value", range(2)), 1e-9) is None


def test_a_reader_sees_a_call():
    assert wording.value(MODEL) == "Sequential(Linear(2, 3), Tanh(), Linear(3, 1))"
    assert wording.value(Stage((("Tanh",),), frozen=True)) == "Sequential(Tanh()).requires_grad_(False)"


def raises_on_rank_1(stage, x):
    import torch.distributed as dist

    if dist.get_rank() == 1:
        raise ValueError("here")
    return [1]


def test_a_rank_that_raises_beside_one_that_answers():
    """Kills a comparison of ranks that needs answers which can be hashed."""
    item = replace(ITEM, grade="world")
    outcome = trusted.run(item, raises_on_rank_1, [Case(args=((MODEL, INPUTS),) * 2)])[0]
    assert (outcome.kind, outcome.error) == ("raised", "ValueError on rank 1 only")
