"""The pages of a graded class: one for each learner, one for the class. HTML files, each complete in itself."""

from autograder.class_page import classroom
from autograder.learner_page import learner

__all__ = ["classroom", "learner"]
