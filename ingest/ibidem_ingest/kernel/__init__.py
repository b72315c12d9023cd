"""The loops of signing and grouping in C, where a compiler made them at installation; both are slower without."""
