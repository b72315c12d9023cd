"""Compiled loops in C for signing and grouping, if a compiler was available at installation."""
