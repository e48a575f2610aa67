"""Chapter 1: programs to run."""
