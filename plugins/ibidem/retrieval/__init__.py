"""Components for programs that feed passages to a language model: one passage of each group of duplicates.

Each module needs the package that it is named after; none is loaded by `import ibidem`.
"""
