"""Compiled loops of signing and grouping in C, if a compiler was available at installation; both are slower without."""
