"""Chapter 3: programs to run."""
