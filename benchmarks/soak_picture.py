"""The picture of an hour of steady work: memory of each process, documents in the index, times of searches."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from resident import Memory

MINUTE = 60.0


def draw(
    memory: Memory, counts: Sequence[tuple[float, int, int]], answers: Sequence[tuple[float, float]], path: Path
) -> None:
    """Draw it into a file."""
    figure = Figure(figsize=(8, 8), layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    for name, samples in memory.samples.items():
        top.plot([at / MINUTE for at, _ in samples], [size for _, size in samples], label=name)
    for name, column in (("handed in", 2), ("in the index", 1)):
        middle.plot([each[0] / MINUTE for each in counts], [each[column] / 1e3 for each in counts], label=name)
    draw_times(bottom, answers)
    top.set(title="An hour of steady work", ylabel="memory, MB", ylim=(0, None))
    middle.set(ylabel="documents, thousands", ylim=(0, None))
    bottom.set(xlabel="minutes", ylabel="search, ms", ylim=(0, None))
    for axes in (top, middle, bottom):
        axes.grid(alpha=0.3)
        axes.legend()
    with rc_context({"svg.hashsalt": "ibidem"}):
        figure.savefig(path, metadata={"Date": None})


def draw_times(axes: Axes, answers: Sequence[tuple[float, float]]) -> None:
    """Draw the median of each minute, and the time within which nine of ten came."""
    minutes: dict[int, list[float]] = {}
    for due, took in answers:
        minutes.setdefault(int(due // MINUTE), []).append(took)
    at = [minute + 0.5 for minute in minutes]
    axes.plot(at, [statistics.median(took) for took in minutes.values()], label="median")
    axes.plot(at, [sorted(took)[int(len(took) * 0.9)] for took in minutes.values()], label="90 % within")
