"""Why a server cannot be started here."""


class Missing(Exception):
    """Something that a server needs is not on this machine; the message says what, and where it is looked for."""
