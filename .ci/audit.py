"""Asks whether a package that is installed has a known weakness, and says plainly where nobody could be asked.

    python .ci/audit.py

Ends with 1 where there is one. pip-audit itself passes over packages that its service does not know, also where the
service is away and knows none.
"""

import json
import subprocess
import sys

COMMAND = [sys.executable, "-m", "pip_audit", "--skip-editable", "--progress-spinner", "off", "--format", "json"]
SECONDS = 120
INSTALLERS = {"pip", "setuptools", "wheel"}  # they came with the interpreter, and nothing of ours runs them


def main() -> int:
    """Ask, and tell what came of it."""
    try:
        audit = subprocess.run(COMMAND, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603 - a fixed command
        dependencies = json.loads(audit.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError) as error:
        return report(f"not audited: pip-audit did not answer ({type(error).__name__})")
    packages = [each for each in dependencies if each["name"] not in INSTALLERS]
    audited = [each for each in packages if "vulns" in each]
    weak = [each for each in audited if each["vulns"]]
    for each in weak:
        report(f"{each['name']} {each['version']}: {', '.join(one['id'] for one in each['vulns'])}")
    if not audited:
        return report(f"not audited: none of {len(packages)} packages could be looked up; the service is out of reach")
    report(f"audited {len(audited)} of {len(packages)} packages: {len(weak)} with known weaknesses")
    return 1 if weak else 0


def report(what: str) -> int:
    """Print a line; returns the exit code of what is no failure."""
    sys.stdout.write(f"audit: {what}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
