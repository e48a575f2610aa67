"""In the child: the submission's code, compiled unit by unit, and what it may import.

Inside, ``labs`` is the submission itself. A module is found by its own name, whatever chapter's folder it was handed in
or is imported from: ``labs.zero``, ``labs.ch05.zero`` and ``from ..ch05.zero`` are the same module. ``rankzero`` holds
``rankzero.checks``, ``rankzero.facts.units`` and nothing else; ``autograder`` holds ``check`` and its like, which do
nothing here. The other packages of the course cannot be imported, and the ImportError says so. This file uses little of
the standard library and nothing else: every grading pays for the child's start.
"""

import builtins
import sys

#: Packages of the course that graded code cannot reach, with the reason.
CLOSED = {
    "solutions": "the reference cannot be imported in grading: write the function yourself, or import it from labs",
    "experiments": "what the pages run cannot be imported in grading",
    "autograder": "autograder cannot be imported in grading, except for check, predict, design and scorecard",
    "rankzero": "only rankzero.checks and rankzero.facts.units can be imported in grading",
}

#: Earlier names of modules of ``rankzero`` that exist inside.
RENAMED = {"rankzero.units": "rankzero.facts.units"}

#: What learners call in the middle of their programs. Here ``check(f)``, or ``@check``, is ``f``; the rest is None.
STAND_INS = """
def check(function=None, *rest, **named):
    return function
def predict(*rest, **named):
    return None
design = scorecard = export_progress = predict
__all__ = ["check", "design", "export_progress", "predict", "scorecard"]
"""

#: Most names of a failed import that are tried one by one.
MOST_NAMES = 100
#: The package in which every module of the submission runs. It is as deep as a chapter, so that ``..ch03`` works in it.
CHAPTER = "labs.chapter"
ONLY_AST = 0x400
FUTURE_ANNOTATIONS = 0x1000000
TOP_LEVEL_AWAIT = 0x2000
COROUTINE = 0x80


class Unit:
    """One unit of the submission: its label, the module it belongs to (None: the shared one) and its source.

    The statements of a notebook's cell run one by one. ``needed`` holds the places of those whose failure matters; it
    is None for a file, which runs as a whole.
    """

    def __init__(self, index, label, module, source, needed=None):
        self.index, self.label, self.module, self.source = index, label, module, source
        self.needed = None if needed is None else set(needed)
        self.file = f"<{label}>"


class Code:
    """The submission as modules. ``offered``: the sources of the modules of ``rankzero`` that exist inside, by name.

    ``running(index, place)`` is called before a unit runs (its place is None) and before each of its statements that
    runs alone; what is listed in ``skip``, as such pairs, never runs.
    """

    def __init__(self, units, offered, running):
        self.units = [Unit(i, *unit) for i, unit in enumerate(units)]
        self.skip, self.running = [], running
        self.problems = []
        self.unbound = []  # problems with imports, and the names that these would bind
        self.flags = 0  # of the cells: a __future__ import holds for all later ones
        self.by_file = {unit.file: unit for unit in self.units}
        self.folder = {unit.module for unit in self.units if unit.module}
        self.shared = None
        sys.meta_path.insert(0, Finder(self, offered))

    def module(self, name):
        """The module of the submission for the topic ``name``, run on first use; None if there is none."""
        if name in self.folder:
            __import__(f"{CHAPTER}.{name}")
            return sys.modules[f"{CHAPTER}.{name}"]
        return self.shared_module()

    def shared_module(self):
        """The single namespace of a file or notebook, run on first use; None for a folder of modules."""
        if self.shared is None and any(unit.module is None for unit in self.units):
            self.shared = sys.modules[f"{CHAPTER}.submission"] = make_module(f"{CHAPTER}.submission", CHAPTER)
            self.run(self.shared, None)
        return self.shared

    def run(self, module, name):
        """Run the units of the topic ``name`` in ``module``, one by one: if one fails, the others still run."""
        for unit in self.units:
            if unit.module != name:
                continue
            if [unit.index, None] in self.skip:
                self.problems.append([unit.index, None, "", ""])
                continue
            self.running(unit.index, None)
            module.__dict__["__file__"] = unit.label
            try:
                self.run_unit(unit, module.__dict__)
            except BaseException as error:
                self.note(unit, error)
        # A name that an import did not bind is no loss if another statement did.
        bound = [problem for problem, names in self.unbound if all(name in module.__dict__ for name in names)]
        self.problems = [problem for problem in self.problems if not any(problem is one for one in bound)]
        self.unbound = []

    def run_unit(self, unit, namespace):
        """Compile and run one unit. A failed import is noted, and the rest of the unit still runs."""
        if unit.needed is not None:
            return self.run_statements(unit, namespace)
        try:
            exec(compile(unit.source, unit.file, "exec", 0, True), namespace)
        except (ImportError, SyntaxError):  # joined cells can have a __future__ import in the middle
            self.run_parts(unit, namespace)

    def run_statements(self, unit, namespace):
        """Run the statements of a cell one by one: one that fails costs only itself, and is noted if it is needed."""
        tree = compile(unit.source, unit.file, "exec", ONLY_AST, True)
        for index, statement in enumerate(tree.body):
            if [unit.index, index] in self.skip:
                self.problems.append([unit.index, index, "", ""])
                continue
            if not _is_plain(statement):
                self.running(unit.index, index)
            for part, error in _failures(statement, lambda part: self.run_statement(part, unit, namespace, type(tree))):
                if index in unit.needed:
                    self.note(unit, error, statement.lineno)
                    self.unbound += [(self.problems[-1], _imported(part))] if _is_missing(part, error) else []

    def run_statement(self, statement, unit, namespace, module):
        if getattr(statement, "module", None) == "__future__":
            self.flags |= FUTURE_ANNOTATIONS
        part = module(body=[statement], type_ignores=[])
        code = compile(part, unit.file, "exec", self.flags | TOP_LEVEL_AWAIT, True)
        awaited = eval(code, namespace)
        if code.co_flags & COROUTINE:
            __import__("asyncio").run(awaited)

    def run_parts(self, unit, namespace):
        """Run a unit part by part: each import alone, and the statements between imports together."""
        flags = 0
        tree = compile(unit.source, unit.file, "exec", ONLY_AST, True)

        def run(*statements):
            exec(compile(type(tree)(body=[*statements], type_ignores=[]), unit.file, "exec", flags, True), namespace)

        for is_import, statements in _parts(tree.body):
            if not is_import:
                run(*statements)
                continue
            if getattr(statements[0], "module", None) == "__future__":
                flags |= FUTURE_ANNOTATIONS
            for _, error in _failures(statements[0], run):
                if not isinstance(error, ImportError):
                    raise error
                self.note(unit, error)

    def note(self, unit, error, line=None):
        """Remember that ``unit`` could not be run, or only in part; ``line`` is where, if the error does not say."""
        line = (error.lineno if isinstance(error, SyntaxError) else self.place(error)[1]) or line
        text = error.msg if isinstance(error, SyntaxError) else safe_text(error)
        self.problems.append([unit.index, line, type(error).__name__, text])

    def place(self, error):
        """``(unit index, line)`` of the innermost frame of ``error`` in the submission; ``(None, None)`` if none is."""
        found = (None, None)
        step = error.__traceback__
        while step is not None:
            unit = self.by_file.get(step.tb_frame.f_code.co_filename)
            if unit:
                found = (unit.index, step.tb_lineno)
            step = step.tb_next
        return found

    def caller(self):
        """``(unit index, line)`` of the submission's innermost running frame."""
        frame = sys._getframe(1)
        while frame is not None:
            unit = self.by_file.get(frame.f_code.co_filename)
            if unit:
                return unit.index, frame.f_lineno
            frame = frame.f_back
        return None, None


def _is_plain(statement):
    """Whether a statement cannot take long, so that nobody has to know that it runs."""
    kind = type(statement).__name__
    return kind == "Pass" or (kind == "Assign" and type(statement.value).__name__ == "Constant")


def _is_missing(statement, error):
    """Whether a statement is an import of something that does not exist in grading."""
    return isinstance(error, ImportError) and type(statement).__name__ in ("Import", "ImportFrom")


def _failures(statement, run):
    """What of a statement fails when it is run, each part with its error: of an import, each name is a part."""
    try:
        run(statement)
        return []
    except BaseException as error:
        failed = error
    if not _is_missing(statement, failed) or not 1 < len(statement.names) <= MOST_NAMES:
        return [(statement, failed)]
    return [failure for part in _alone(statement) for failure in _failures(part, run)]


def _alone(statement):
    """An import of several names as imports of one name each."""
    kind = type(statement)
    rest = {name: getattr(statement, name) for name in (*kind._fields, *kind._attributes) if name != "names"}
    return [kind(names=[alias], **rest) for alias in statement.names]


def _imported(statement):
    return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]


def _parts(body):
    """The parts of a unit, as ``(is_import, statements)``: every import alone, the statements between them together."""
    parts = []
    for statement in body:
        is_import = type(statement).__name__ in ("Import", "ImportFrom")
        if is_import or not parts or parts[-1][0]:
            parts.append((is_import, []))
        parts[-1][1].append(statement)
    return parts


def safe_text(error):
    """The text of an exception, at most 300 characters, whatever its ``__str__`` does."""
    try:
        return str(error)[:300].encode("utf-8", "replace").decode()
    except BaseException:
        return ""


def is_chapter(name):
    """Whether ``labs.name`` is a package of ``labs``: a chapter such as ``ch07``, or :data:`CHAPTER`."""
    return f"labs.{name}" == CHAPTER or (name[:2] == "ch" and len(name) == 4 and name[2:].isdigit())


def topic(name):
    """The module's own name: ``"zero"`` of ``"labs.ch05.zero"``."""
    return name.rpartition(".")[2]


def make_module(name, package):
    module = type(sys)(name)
    module.__package__ = package
    return module


class Modules:
    """Finds modules whose sources are given, by name, and the packages around them; each has built-ins of its own.

    In a ``with`` they can be imported. After it their names are free again: only who has imported one still has it.
    """

    def __init__(self, sources):
        self.sources = sources
        self.packages = {name[:end] for name in sources for end, sign in enumerate(name) if sign == "."}
        self.ModuleSpec = type(sys.__spec__)

    def __enter__(self):
        sys.meta_path.insert(0, self)

    def __exit__(self, *error):
        sys.meta_path.remove(self)
        for name in {*self.sources, *self.packages}.intersection(sys.modules):
            del sys.modules[name]

    def find_spec(self, name, path=None, target=None):
        if name in self.packages:
            return self.ModuleSpec(name, self, is_package=True)
        return self.ModuleSpec(name, self) if name in self.sources else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        module.__builtins__ = dict(vars(builtins))
        exec(compile(self.sources.get(name, ""), f"{topic(name)}.py", "exec", 0, True), module.__dict__)


class Finder(Modules):
    """Finds ``labs``, ``labs.*`` and what is offered; refuses the rest of the course's packages."""

    def __init__(self, code, offered):
        super().__init__({**offered, **{old: offered[new] for old, new in RENAMED.items() if new in offered}})
        self.code = code

    def find_spec(self, name, path=None, target=None):
        first, _, rest = name.partition(".")
        if name == "labs" or (first == "labs" and is_chapter(rest)):
            return self.ModuleSpec(name, self, is_package=True)
        if name == "autograder" or (first == "labs" and (topic(name) in self.code.folder or self.code.shared_module())):
            return self.ModuleSpec(name, self)
        found = super().find_spec(name)
        if found is None and first in CLOSED:
            raise ImportError(CLOSED[first])
        return found

    def create_module(self, spec):
        return self.code.module(topic(spec.name)) if self.another_name(spec.name) else None

    def another_name(self, name):
        """Whether ``name`` means a module of the submission that runs under another name."""
        first, _, rest = name.partition(".")
        return first == "labs" and rest and not is_chapter(rest) and self.own_name(name) != name

    def own_name(self, name):
        return f"{CHAPTER}.{topic(name)}" if topic(name) in self.code.folder else ""

    def exec_module(self, module):
        name = module.__spec__.name
        if name in self.sources:
            super().exec_module(module)
        elif name == "autograder":
            exec(compile(STAND_INS, "autograder.py", "exec", 0, True), module.__dict__)
            module.__path__ = []  # so that what is asked for inside is refused in words
        elif name == self.own_name(name):
            self.code.run(module, topic(name))
        elif self.another_name(name):
            module.__spec__ = None  # the module keeps the name and package under which it ran
