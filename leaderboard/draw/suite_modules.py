"""The module that a suite brings for the page: ours by its name, an outside suite's from its own
folder.

A suite in a folder of ARMILLARY_SUITES_PATH may have `panel.py` and `charts.py` beside its
`__init__.py`. They are loaded by themselves, never the suite around them, and import only
`leaderboard` and libraries for drawing.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from infra.settings import Settings


def suite_module(package: str, suite: str, file: str) -> ModuleType | None:
    """`<package>.<suite>`, or the file of that name in an outside suite's folder; None if there is
    neither. A bank of a suite is drawn as the suite is."""
    suite = suite.partition(".")[0]
    if not suite.isidentifier():
        return None
    name = f"{package}.{suite}"
    if name in sys.modules or find_spec(name):
        return import_module(name)
    for folder in Settings().suites_path.split(os.pathsep):
        path = Path(folder) / suite / file
        if folder and path.is_file():
            return _loaded(name, path)
    return None


def _loaded(name: str, path: Path) -> ModuleType:
    """The file as a module under a name that our own modules have left free."""
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
