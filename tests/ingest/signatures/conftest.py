"""Tests of the signatures of batches, which compiled loops make."""

from support.signing_loops import need_compiled_loops

__all__ = ["need_compiled_loops"]
