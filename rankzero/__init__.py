"""The runtime under the course: worlds of real processes, simulators, units, tables of hardware and models, figures."""

__version__ = "0.1.0"
