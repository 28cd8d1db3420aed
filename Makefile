# Two commands do everything on a machine with Python 3.11+, make and git: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
SERVE ?= yes
NAME ?=

.PHONY: install demo serve test test-long check fix bench clean

install: .venv/installed

.venv/installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing into .venv (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[board,models,dev]'
	@touch $@

demo: install
	@$(BIN)/armillary demo $(if $(filter no,$(SERVE)),--no-serve,--serve)

serve: install
	@$(BIN)/armillary serve

test: install
	@tests/servers/install
	@$(BIN)/python -m pytest -n 3 --dist loadgroup $(ARGS)

test-long: install
	@tests/servers/install
	@$(BIN)/python -m pytest -m "" $(ARGS)

check: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fix: install
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: install
	@for file in $(if $(NAME),tests/bench/$(NAME).py,$(filter-out tests/bench/__init__.py tests/bench/report.py,$(wildcard tests/bench/*.py))); do \
		$(BIN)/python -m tests.bench.$$(basename $$file .py) || exit 1; done

clean:
	rm -rf .venv .armillary .armillary-tools
