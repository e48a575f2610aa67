"""Chapter 14: programs to run."""
