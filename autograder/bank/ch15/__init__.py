"""Chapter 15: its questions and exercises; those of the chapter in order stand in ``items``."""
