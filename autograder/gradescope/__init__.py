"""Grading on Gradescope: builds the archive to upload, and runs inside Gradescope's container."""
