"""Chapter 4: the reference."""
