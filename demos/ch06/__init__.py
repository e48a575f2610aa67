"""Chapter 6: programs to run."""
