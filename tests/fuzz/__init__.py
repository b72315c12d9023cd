"""Inputs that nobody meant: one target for each parser, fed here briefly."""
