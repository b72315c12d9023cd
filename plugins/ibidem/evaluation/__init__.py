"""Evaluation: grouping a labelled collection and comparing it with its labels."""
