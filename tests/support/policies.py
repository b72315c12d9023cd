"""Policies whose verdicts are compared with the plain definition."""

from hypothesis import strategies as st

from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from support.learned_rules import make_rule

POLICIES = st.sampled_from(
    [
        Policy(),
        Policy(level="identical"),
        Policy(profile=0.8),
        Policy(profile=0.8, window_days=41),
        Policy(slots=None, window_days=0),
        Policy(slots=None, terms=None),
        Policy.from_rule(make_rule()),
        Policy.from_rule(make_rule(1, -1.0)).at("partial").within(42),
        *(preset.policy for preset in PRESETS.values()),
        *(Policy().similar(percent) for percent in (20, 60, 95)),
    ]
)
