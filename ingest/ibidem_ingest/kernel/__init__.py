"""The loops of signing and grouping in C, where a compiler made them at installation; numpy does the same without."""
