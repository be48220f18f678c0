# SPDX-License-Identifier: Apache-2.0
"""Waits for modules: when_imported("torch.optim.optimizer", "torch_steps", "patch") calls the function `patch` of
our torch_steps with torch.optim.optimizer once that is there. Until then nothing of ours but this file is imported:
most interpreters of a job never train.

A finder at the head of sys.meta_path answers for the names that are waited for, and for no other. It asks all the
other finders for the module, so that editable installs and zip files work as before, and puts a loader of its own
around the one that they name. That loader takes itself out again before the module's code runs: afterwards the
module cannot be told from one imported without us.
"""
import importlib
import sys

_waiting = {}  # By module name: pairs of a module of ours and its function.


def when_imported(name, ours, function):
    """At once if it is imported already, else when it will be. Failures stay ours."""
    module = sys.modules.get(name)
    if module is not None and not _still_loading(module):
        _run((ours, function), module)
        return
    _waiting.setdefault(name, []).append((ours, function))
    if not any(finder is _FINDER for finder in sys.meta_path):
        sys.meta_path.insert(0, _FINDER)


def _still_loading(module):
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _run(patch, module):
    ours, function = patch
    try:
        getattr(importlib.import_module("." + ours, __package__), function)(module)
    except Exception as error:  # pylint: disable=broad-except
        from . import guard
        guard.complain("does not know this %s" % module.__name__, error)


class _Finder:
    """An entry of sys.meta_path."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is _FINDER or find is None:
                continue
            spec = find(name, path, target)
            if spec is None:
                continue
            if hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, name)
            return spec
        return None


class _Loader:
    """Stands before the real loader until the module is executed. runpy and importlib.resources may ask it
    anything that they would ask the real one."""

    def __init__(self, real, name):
        self._real = real
        self._name = name

    def __getattr__(self, asked):
        return getattr(self._real, asked)

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = self._real
        if getattr(module, "__spec__", None) is not None:
            module.__spec__.loader = self._real
        self._real.exec_module(module)
        for patch in _waiting.pop(self._name, ()):
            _run(patch, module)


_FINDER = _Finder()
