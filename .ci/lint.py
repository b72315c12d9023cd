"""Checks what no test can run: workflows, compositions and Dockerfiles by linters, the chart's manifests by schema.

    make lint

The manifests of each of the chart's value files are held against Kubernetes' own schemas, of the oldest version that
the chart names and of the newest that the package of schemas has. Kinds of operators have no schema there, and are
named.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from helm_python import Chart
from kubernetes_validate import utils as schemas

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "charts" / "ibidem"
SCHEMA = ("check-jsonschema", "--builtin-schema")
LINTERS = (
    (*SCHEMA, "vendor.github-workflows", *(str(path) for path in sorted((ROOT / ".github/workflows").glob("*.yml")))),
    (*SCHEMA, "custom.github-workflows-require-timeout", ".github/workflows/ci.yml"),
    (*SCHEMA, "vendor.compose-spec", "docker-compose.yml"),
    ("hadolint", "Dockerfile", "plugins/java/Dockerfile"),
)


def main() -> int:
    """Run the linters and check the chart; returns the exit code."""
    failed = [command for command in LINTERS if not passes(*command)]
    wrong = list(check_chart())
    sys.stdout.writelines(f"lint: {each}\n" for each in wrong)
    return 1 if failed or wrong else 0


def passes(program: str, *arguments: str) -> bool:
    """Run a linter of this environment; what it finds is shown."""
    path = Path(sys.executable).parent / program
    return not subprocess.run([path, *arguments], cwd=ROOT, check=False).returncode  # noqa: S603 - one of LINTERS


def check_chart() -> Iterator[str]:
    """Yield the faults of the manifests; print which kinds no schema covers."""
    unknown = set()
    oldest = re.findall(r"\d+\.\d+", yaml.safe_load((CHART / "Chart.yaml").read_text())["kubeVersion"])[0]
    newest = schemas.latest_version()
    for name, manifest in manifests():
        for version in (oldest, newest):
            try:
                schemas.validate(manifest, version, strict=True)
            except schemas.SchemaNotFoundError as error:
                unknown.add(error.kind)
            except schemas.ValidationError as error:
                yield f"{name}: {manifest['kind']} of Kubernetes {version}: {error.message}"
    left_out = ", ".join(sorted(unknown))
    sys.stdout.write(f"lint: checked the chart by the schemas of {oldest} and {newest}, without {left_out}\n")


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each manifest of the chart with the name of the value file."""
    for file in (None, *sorted((CHART / "ci").glob("*.yaml"))):
        values = yaml.safe_load(file.read_text()) if file else {}
        with Chart.load(CHART) as chart:
            for path, text in chart.render(values, name="try").items():
                documents = yaml.safe_load_all(text) if path.endswith(".yaml") else ()
                yield from ((file.name if file else "values.yaml", each) for each in documents if each)


if __name__ == "__main__":
    sys.exit(main())
