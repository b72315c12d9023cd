"""What `spark-submit` runs: `ibidem regroup --all` in a session with the settings that it was given."""

import sys

from ibidem.cli import main

main(["regroup", "--all", "--spark", "", *sys.argv[1:]])
