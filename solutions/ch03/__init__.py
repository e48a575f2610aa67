"""Chapter 3: the reference."""
