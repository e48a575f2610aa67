"""Chapter 8: programs to run."""
