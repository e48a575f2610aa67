"""Chapter 6: the reference."""
