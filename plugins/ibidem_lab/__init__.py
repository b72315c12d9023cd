"""The laboratory: a labelled collection is grouped and compared with its labels, and figures are chosen on them."""

COMMANDS = {
    "evaluate": ("Compare the duplicates found with labels.", "ibidem_lab.evaluate_command"),
    "tune": ("Choose similarity and preset on your own labels, with cross-validation.", "ibidem_lab.tune_command"),
}
