"""Names of options in errors: request parameters appear as command-line options."""

import re


def name_options(message: str) -> str:
    """Replace the names of request parameters in a message by the names of options.

    >>> name_options("dedupe_similarity='1.5' is not valid"), name_options("dedupe_by=stored, dedupe=off")
    ("--similarity '1.5' is not valid", '--by stored, --dedupe off')
    """
    return _PARAMETER.sub(_option, message)


_PARAMETER = re.compile(r"\bdedupe(?:_(?P<name>[a-z]+(?:_[a-z]+)*)\b(?P<with_value>=?)|=)")


def _option(match: re.Match[str]) -> str:
    if match["name"] is None:
        return "--dedupe "
    return f"--{match['name'].replace('_', '-')}{' ' * bool(match['with_value'])}"
