"""Chapter 2: the reference."""
