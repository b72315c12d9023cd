# `make demo` and `make test` need Python 3.11+, git and make; everything else comes from the project's own files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Where the labelled collections are that figures are taken on.
COLLECTIONS ?= ../shared/data

# How many schedules are simulated, the first of them, and what they hold; where nothing is said, also some of each focus.
SEEDS ?= 10000
FIRST ?= 0
FOCUS ?=

# One process of tests more than there are processors, since tests wait for servers, and those of the gateway for threads.
PROCESSES = $$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)')
MAVEN := command -v mvn > /dev/null && PYTHONPATH=tests $(PYTHON) -m servers.jdk > /dev/null 2>&1

# Tests start dozens of nodes, none of which lives long enough to earn what the second compiler of Java costs.
QUICK_TO_START := JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1

# Tests start hundreds of interpreters, each of which would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install groups demo test test-all test-nightly plugin plugins versions quick check core security docs release lint figures suites faults nodes upgrades simulate mutations clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml hatch_build.py ingest/ibidem_ingest/kernel/kernel.c
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: install
	$(BIN)/ibidem demo

# What the tests need beside Python is installed where it may be; what needs the rest is not run, and named at the end.
# `make test` runs what a change may break, `make test-all` also what takes minutes and rarely breaks, `make test-nightly`
# what says of the second engine what `make test-all` has said of the first (`tests/servers/tiers.py`).
test: TIER := -m "not thorough" --hypothesis-profile first
test-all: TIER := -m "not nightly"
test test-all test-nightly: install
	tests/servers/install.sh
	@! $(MAVEN) || $(MAKE) plugin
	$(QUICK_TO_START) PYTHONPATH=tests $(BIN)/python -m servers -- $(BIN)/pytest $(TIER) --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations=25
	@$(BIN)/python -c "import pyspark" 2> /dev/null || echo "not run: tests/spark/test_spark.py: PySpark is missing: pip install '.[spark]'"
	@$(MAVEN) || echo "not run: the plugins for search engines: Maven or a JDK of 21 or later is missing"

# The plugins for search engines, with their style check and unit tests; needs Maven and a JDK of 21 or later.
plugin:
	JAVA_HOME=$$(PYTHONPATH=tests $(PYTHON) -m servers.jdk) mvn --quiet --batch-mode --file plugins/java/pom.xml verify

# A zip of the plugin for each version of the engines that plugins/java/versions.toml names, in some minutes.
plugins: install
	JAVA_HOME=$$(PYTHONPATH=tests $(PYTHON) -m servers.jdk) $(BIN)/python .ci/plugins.py $(VERSIONS)

# Starts each of those versions and tries layer and plugin: docs/versions.md. Half an hour; VERSIONS names some of them.
versions: plugins
	$(BIN)/python .ci/versions.py $(VERSIONS)

# Without servers, without processes, and with a tenth of the examples of each law; nothing waits, so a process each processor.
# LangChain and Schemathesis take each of them most of a second to load; no test of the folders is a quick one.
SLOW_TO_LOAD := plugins/ibidem/retrieval/langchain.py tests/retrieval/test_index_search.py tests/gateway/test_openapi.py \
    tests/answers tests/faults tests/fuzz tests/gateway/browser tests/nodes tests/snippets tests/suites tests/upgrade
quick: install
	$(BIN)/pytest -m "not server and not slow and not thorough" --hypothesis-profile quick --quiet --dist loadfile --numprocesses auto $(SLOW_TO_LOAD:%=--ignore=%)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/shape.py

# The core without its side packages.
core: install
	$(BIN)/python .ci/core.py

# Every test that SECURITY.md names; `.ci/run`, which runs them among all tests, names none.
ATTACKS ?= $(shell grep --only-matching --no-filename '`tests/[^`]*`' SECURITY.md | tr --delete '`' | sort --unique)

# Stored groups of five collections, as they were frozen.
groups: install
	$(BIN)/python .ci/groups.py $(COLLECTIONS)

# What is known to be dangerous in our code and in the packages that are installed, and every test that
# SECURITY.md names, which takes up to half an hour on two busy processors.
security: install
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive ingest mappings plugins workers
	$(BIN)/python .ci/audit.py
	@test -z "$(ATTACKS)" || $(QUICK_TO_START) PYTHONPATH=tests $(BIN)/python -m servers -- \
	    $(BIN)/pytest --quiet --numprocesses auto --dist loadfile $(ATTACKS)

# What a release uploads, in ./dist, and no upload: CONTRIBUTING.md says what comes after.
release: lint plugins
	$(BIN)/python .ci/release.py

# Workflows, compositions, Dockerfiles and the chart's manifests, by linters and schemas.
lint: install
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[release]"
	$(BIN)/python .ci/lint.py

# A site in ./site; a warning is an error.
docs: install
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The pages of docs/figures that rest on the labelled collections, anew, in about half an hour; OpenSearch and Elasticsearch are started where none are named.
figures: install
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/python benchmarks/quality.py --collections $(COLLECTIONS)
	$(BIN)/python benchmarks/splits.py --collections $(COLLECTIONS)
	$(BIN)/python benchmarks/waits.py --collections $(COLLECTIONS) --write
	$(MAKE) plugin
	$(BIN)/python benchmarks/search.py --collections $(COLLECTIONS) --write
	$(BIN)/python benchmarks/books.py --collections $(COLLECTIONS)
	$(BIN)/python benchmarks/peak.py --write
	$(BIN)/python benchmarks/sizing.py --collections $(COLLECTIONS)

# The engines' own REST suites through the gateway, all chapters that it may change; the tests run those that write and search.
suites: install
	IBIDEM_SUITES=all $(BIN)/pytest tests/suites

# Schedules of a simulated cluster, queue and clock, one for each seed; `SEEDS=1 FIRST=17 FOCUS=DELETION` runs one again.
simulate: install
	cd tests && PYTHONHASHSEED=0 ../$(BIN)/python -m simulation --seeds $(SEEDS) --first $(FIRST) --focus '$(FOCUS)'

# Which changes of the code that decides, settles and keeps checkpoints no quick test notices; hours for all of it.
mutations: install
	$(BIN)/python .ci/mutations.py $(MODULES)

# Rounds of killing, and bad documents among good ones, in an hour or so; the short form of both is in the tests.
faults: install
	$(BIN)/python benchmarks/faults.py --rounds 200 --write

# Three nodes of each search engine in trouble, and RabbitMQ, in an hour or so; the page keeps the last trial of each trouble.
nodes: plugin install
	$(BIN)/python benchmarks/nodes.py --engine opensearch --write
	$(BIN)/python benchmarks/nodes.py --engine elasticsearch --write

# Snapshots restored, and upgrades with everything running, in an hour or so; the page keeps the last run of each part.
upgrades: install
	$(MAKE) plugins VERSIONS="opensearch-3.5.0 opensearch-3.8.0 elasticsearch-8.19.21 elasticsearch-9.2.2 elasticsearch-9.5.3"
	$(QUICK_TO_START) PYTHONPATH=tests $(BIN)/python -m servers -- $(BIN)/pytest --quiet tests/upgrade/test_snapshots.py
	$(BIN)/python benchmarks/upgrades.py --write

clean:
	rm -rf $(VENV) .ibidem dist site
