"""Runs submissions and collects their answers: exams, children, worlds of ranks."""
