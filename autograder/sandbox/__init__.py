"""The sandbox that confines a submission: how a child starts, the layers around it, and what this host offers."""

from autograder.sandbox.bubblewrap import INSIDE, Bubblewrap
from autograder.sandbox.launch import (
    HERE,
    Launch,
    Layer,
    SandboxRefused,
    child,
    child_files,
    interpreter,
    site_packages,
)
from autograder.sandbox.layers import LAYERS, LEVELS, NAMES, Level, ProcessLayer, Sandbox, measured, probe

__all__ = [
    "HERE",
    "INSIDE",
    "LAYERS",
    "LEVELS",
    "NAMES",
    "Bubblewrap",
    "Launch",
    "Layer",
    "Level",
    "ProcessLayer",
    "Sandbox",
    "SandboxRefused",
    "child",
    "child_files",
    "interpreter",
    "measured",
    "probe",
    "site_packages",
]
