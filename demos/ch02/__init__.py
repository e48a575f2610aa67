"""Chapter 2: programs to run."""
