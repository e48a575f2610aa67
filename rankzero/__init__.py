"""The course's runtime: worlds of real processes, simulators, a tiny model and server, published facts, and figures."""

__version__ = "0.1.0"
