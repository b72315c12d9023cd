"""Shares by length as a curve: bars on a terminal, a picture in a file."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ibidem_ingest.errors import UsageError

BAR = 40
SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)
"""Lengths that stand on a terminal."""

Shares = Mapping[int, float]


def bars(shares: Shares) -> Iterator[str]:
    """Write a line with a bar for some lengths.

    >>> next(bars({6: 0.5, 7: 0.7, 20: 1.0}))
    ' 6   50.0 %  ████████████████████'
    """
    for length in SHOWN:
        if length in shares:
            yield f"{length:>2}  {100 * shares[length]:>5.1f} %  {'█' * round(shares[length] * BAR)}"


def draw(curves: Mapping[str, Shares], title: str, path: Path) -> None:
    """Draw curves into a file, in the format that its name ends with.

    Args:
        curves: Shares by length, for each name in the legend.
        title: Of the picture.
        path: The file; `.png`, `.svg` or `.pdf`.

    Raises:
        UsageError: The library is not installed, or the file cannot be written.
    """
    try:
        from matplotlib import rc_context  # noqa: PLC0415 - an extra, and only where something is drawn
        from matplotlib.figure import Figure  # noqa: PLC0415 - as above
    except ImportError as error:
        raise UsageError("no picture can be drawn", "pip install 'ibidem[plot]'") from error
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, shares in curves.items():
        axes.plot(list(shares), [100 * share for share in shares.values()], marker=".", label=name)
    axes.set(title=title, xlabel="terms in the fingerprint", ylabel="fingerprints that change, %", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    undated = {"Date": None} if path.suffix == ".svg" else None
    try:
        with rc_context({"svg.hashsalt": "ibidem"}):  # the same curves make the same file
            figure.savefig(path, dpi=150, metadata=undated)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be written: {error}", "name a file that ends with .png, .svg or .pdf"
        ) from error
