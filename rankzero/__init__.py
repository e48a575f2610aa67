"""The course's runtime: worlds of real processes, simulators, a tiny model and server, published facts, and figures."""

#: Of the whole course: packages, pages and what they install (CONTRIBUTING.md, "Release").
__version__ = "1.0.0.dev0"
