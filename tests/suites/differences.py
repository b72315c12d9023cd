"""Tests of the engines' own suites that pass directly and not through the gateway, each with the reason."""

from collections.abc import Mapping

DIFFERENCES: Mapping[str, Mapping[str, str]] = {"opensearch": {}, "elasticsearch": {}}
