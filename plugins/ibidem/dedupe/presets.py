"""Named sets of figures for the decision, to be asked for as `dedupe_preset`."""

from collections.abc import Mapping
from dataclasses import dataclass

from ibidem_ingest.decision import Policy, Slots, Terms


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy with a name.

    Args:
        policy: Its figures; the level asked for is set on them.
        about: What it is for, in one line of the help.
    """

    policy: Policy
    about: str


PRESETS: Mapping[str, Preset] = {
    "news": Preset(
        Policy(window_days=42),
        "the default figures, and dates at most six weeks apart: what recurs later is another event",
    ),
    "law": Preset(
        Policy(slots=Slots(25), terms=Terms(lengths=0.5)),
        "no date window, and a quarter of the five-word runs suffices: versions of a contract are years apart",
    ),
    "books": Preset(
        Policy(terms=Terms(lengths=0.8, numbers=False)),
        "no date window, and numbers do not have to agree: in scanned books they are page numbers and misread digits",
    ),
    "conrad2003": Preset(
        Policy(
            window_days=42,
            slots=None,
            terms=Terms(share=0.8, full=False, smallest=20, lengths=0.8, numbers=False),
            fingerprint=None,
            profile=None,
        ),
        "the rule of Conrad, Guo and Schriber: 48 of 60 terms, padded sets too, lengths within 20 %, six weeks",
    ),
}
"""Every preset that is built in; others may be stored with an index."""
