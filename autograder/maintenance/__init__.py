"""Maintains the bank: verifies it on this machine, releases learners' copies, freezes exams, searches for leaks."""
