"""Chapter 9: the reference."""
