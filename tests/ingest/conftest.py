"""How these tests are run: an example may take its time, since the machine may be slow."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
