"""Chapter 15: the reference."""
