"""Chapter 13: programs to run."""
