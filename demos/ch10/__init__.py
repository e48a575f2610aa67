"""Chapter 10: programs to run."""
