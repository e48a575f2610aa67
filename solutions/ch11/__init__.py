"""Chapter 11: the reference."""
