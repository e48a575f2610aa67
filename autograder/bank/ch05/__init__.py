"""Chapter 5: its questions and exercises; those of the chapter in order stand in ``items``."""
