"""Chapter 7: programs to run."""
