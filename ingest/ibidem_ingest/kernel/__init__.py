"""The loops of signing in C, where a compiler made them at installation; numpy does the same without."""
