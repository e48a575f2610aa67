"""Chapter 4: programs to run."""
