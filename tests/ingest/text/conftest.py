"""Each test here is run with numpy alone and with the compiled loops."""

from support.signing_loops import way_of_signing

__all__ = ["way_of_signing"]
