"""Maintenance: set-up, build, checks and what is generated. Nothing of the course imports it."""
