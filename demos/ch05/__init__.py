"""Chapter 5: programs to run."""
