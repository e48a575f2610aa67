"""Chapter 9: programs to run."""
