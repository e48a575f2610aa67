"""Simulators: what a design does over time, without the hardware."""
