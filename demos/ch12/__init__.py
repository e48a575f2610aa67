"""Chapter 12: programs to run."""
