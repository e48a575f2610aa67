"""Simulators: what a design does over time, without the machine. Each gives the events that real runs give."""
