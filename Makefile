# `make run` and `make test` do all set-up on a machine that has Python 3.11 or newer, git and make.
SHELL := /bin/sh
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT ?= .venv
# Every worker of the tests, and every command that they start, would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
BOT := .venv/bin/leaderboard-bot
PYTEST := .venv/bin/pytest
# One worker for each core; with what it starts, each grows to 700 MB.
WORKERS := -n logical --maxprocesses 8 --dist worksteal

.PHONY: run test test-slow test-all test-live check coverage fuzz mutate bench image-lock browser firefox docs install clean release-check

# The main job on what is here: from five result files to a board in the browser; no account, no network.
run: .venv/.run
	.venv/bin/python examples/tour.py

install: .venv/.all

test: .venv/.all
	$(PYTEST) $(WORKERS) -m "not campaign and not slow" -q

# Stories of many processes, kills and memory, of a second and more each, and all variants. CI runs them beside `make test`.
test-slow: .venv/.all
	$(PYTEST) $(WORKERS) -m "slow and not campaign" -q

test-all: .venv/.all
	$(PYTEST) $(WORKERS) -q --hypothesis-profile=thorough

# Stories on the real Hub and GitHub, where HF_TOKEN or GITHUB_TOKEN are given; see tests/world/README.md.
test-live: .venv/.all
	.venv/bin/python -m tests.live

check: .venv/.all
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/deptry bot
	.venv/bin/python .github/check_source.py
	.venv/bin/python .github/check_workflows.py

# A release from a clean clone, installed by pip in each Python that is here: half an hour. TESTS='' runs all tests of the sdist.
TESTS :=

release-check: .venv/.all
	UV="$(UV)" TESTS="$(TESTS)" .venv/bin/python .github/release_check.py

# The tests of pages need a Chromium, which npm brings; without it they are skipped, but not where CI=true.
browser: .venv/.browser

.venv/.browser: tests/browser/package-lock.json tests/browser/unpack.mjs uv.lock | .venv/.all
	$(UV) sync --frozen --quiet --inexact --all-extras --group browser
	npm ci --silent --ignore-scripts --prefix tests/browser
	node tests/browser/unpack.mjs
	touch $@

# A test of the board's page in Firefox; it and the libraries that it lacks here come from Debian's packages, unpacked beside the tests.
firefox: .venv/.browser
	rm -rf tests/browser/.firefox && mkdir -p tests/browser/.firefox
	cd tests/browser/.firefox && apt-get download $$(apt-get install -s --no-install-recommends firefox-esr | awk '/^Inst/ {print $$2}')
	cd tests/browser/.firefox && for each in *.deb; do dpkg -x $$each . && rm $$each; done

# The documentation as a web site: open build/docs/index.html.
docs: .venv/.all
	.venv/bin/python docs/site_pages.py build/docs

# Lines and branches that no test but campaigns runs, by file; processes that a test starts count too, see pyproject.toml.
coverage: .venv/.all
	$(PYTEST) $(WORKERS) -m "not campaign" -q --cov --cov-report=term:skip-covered

# Coverage-guided search, SECONDS for each reader, for sample logs and definitions, and then for the rules and the report.
FORMATS := lm-eval-0.3 lm-eval-0.4 open-llm-v1 lighteval inspect helm every-eval-ever olmes evalchemy mteb \
	lmms-eval evalplus euroeval evalscope opencompass bfcl harbor
SECONDS := 600
FUZZ := -max_total_time=$(SECONDS) -max_len=262144 -timeout=60

fuzz: .venv/.all
	$(UV) sync --frozen --quiet --inexact --all-extras --group fuzz
	.venv/bin/python tests/evaluation/fuzz/seeds.py .fuzz-corpus
	for each in $(FORMATS); do \
		.venv/bin/python tests/evaluation/fuzz/fuzz_readers.py $$each .fuzz-corpus/$$each $(FUZZ) || exit 1; \
	done
	for each in samples run details definition; do \
		.venv/bin/python tests/evaluation/fuzz/fuzz_samples.py $$each .fuzz-corpus/$$each $(FUZZ) || exit 1; \
	done
	mkdir -p .fuzz-corpus/result && cp examples/results/*/*.json .fuzz-corpus/result
	.venv/bin/python tests/evaluation/fuzz/fuzz_result.py .fuzz-corpus/result $(FUZZ)

# The packages of the image with their digests, as uv.lock has them.
image-lock: | $(UV)
	$(UV) export --frozen --no-default-groups --extra postgres --no-emit-project --no-annotate --no-header --quiet > requirements-image.txt

# Changes what decides in small places, one after the other, and lists the changes that no test notices: hours.
# A part of it: make mutate MUTANTS='bot.evaluation.score*'
MUTANTS :=

mutate: .venv/.all
	$(UV) sync --frozen --quiet --inexact --all-extras --group mutation
	.venv/bin/mutmut run --max-children 1 $(MUTANTS)
	.venv/bin/mutmut results | grep -v ': not checked$$' || true

bench: .venv/.all .venv/.browser
	$(UV) sync --frozen --quiet --inexact --all-extras --group benchmark
	for each in benchmarks/*.py; do echo "== $$each"; .venv/bin/python $$each || exit 1; done

.venv/.run: pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --quiet --inexact --no-default-groups --extra tables --extra server
	touch $@

.venv/.all: pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --quiet --inexact --all-extras
	touch $@ .venv/.run

# Where uv is not installed it is put beside the project, and nowhere else.
.uv/bin/uv:
	python3 -m venv .uv
	.uv/bin/pip install --quiet --disable-pip-version-check uv==0.13.8

clean:
	rm -rf tests/browser/node_modules tests/browser/.chromium tests/browser/.firefox .venv .uv demo build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .fuzz-corpus .coverage mutants
