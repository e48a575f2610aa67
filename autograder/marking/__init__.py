"""Turns answers into points and sentences: trusted programs, comparisons, the judge, reports."""
