"""Chapter 15: programs to run."""
