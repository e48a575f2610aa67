"""Grades a whole class: collects the submissions, grades them in parallel, stores the results, writes the reports."""
