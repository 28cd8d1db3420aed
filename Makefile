# Two commands do everything on a machine with Python 3.11+, make and git: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
SERVE ?= yes
NAME ?=

.PHONY: install upgrade demo serve pictures test test-long compose-test test-newest check fix bench clean

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
EVERYTHING := --editable '.[board,models,engines,dev]'

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing into .venv (a few minutes the first time)"
	@$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt pip setuptools
	@$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt --build-constraint constraints.txt $(EVERYTHING)
	@touch $@

upgrade: install
	@echo "Resolving the newest versions inside the ranges of pyproject.toml"
	@$(BIN)/python -m infra.lock

demo: install
	@$(BIN)/armillary demo $(if $(filter no,$(SERVE)),--no-serve,--serve)

pictures: install
	@$(BIN)/armillary demo --no-serve
	@$(BIN)/python -m tests.browser.pictures

serve: install
	@$(BIN)/armillary serve

test: install
	@tests/servers/install
	@$(BIN)/python -m tests.run $(ARGS)

test-long: install
	@tests/servers/install
	@$(BIN)/python -m pytest -m "" $(ARGS)

compose-test: install
	@$(BIN)/python -m tests.deployment.compose_run

test-newest:
	@tests/servers/install
	@echo "Installing the newest versions into .venv-newest, without the lock"
	@rm -rf .venv-newest
	@$(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python $(PIP_INSTALL) --upgrade pip setuptools
	@.venv-newest/bin/python $(PIP_INSTALL) $(EVERYTHING)
	@.venv-newest/bin/python -m pytest -n 3 --dist loadgroup tests/models tests/judges tests/leaderboard tests/test_golden.py $(ARGS)

check: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fix: install
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: install
	@for file in $(if $(NAME),tests/bench/$(NAME).py,$(filter-out tests/bench/__init__.py tests/bench/report.py tests/bench/red_team_inputs.py tests/bench/rivals.py tests/bench/rival_main.py,$(wildcard tests/bench/*.py))); do \
		$(BIN)/python -m tests.bench.$$(basename $$file .py) || exit 1; done

clean:
	rm -rf .venv .venv-newest .armillary .armillary-tools
