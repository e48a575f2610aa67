"""Maintenance: set-up, build, checks and generated files. No module of the course imports it."""
