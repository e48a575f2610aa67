"""Chapter 11: programs to run."""
