"""Formal languages: regular expressions as automata, a byte-by-byte JSON parser, and a toy language with a judge."""
