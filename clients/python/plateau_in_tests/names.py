# SPDX-License-Identifier: Apache-2.0
"""What an object is called: the variable, attribute, closure or fixture that refers to it.

The collector knows who refers to an object (gc.get_referrers), not by what name. So each kind of holder
is asked for the name in its own way; the first that has one is taken, modules first. Costs a walk over
all tracked objects for each question, so it is asked of a handful, after a test has failed.
"""
import functools
import gc
import linecache
import os
import re
import site
import sys
import sysconfig
import types

_HERE = os.path.dirname(os.path.abspath(__file__))
OWN_FILES = {os.path.join(_HERE, name) for name in os.listdir(_HERE)} | {
    os.path.join(os.path.dirname(_HERE), name) for name in ("plateau_pytest.py", "plateau.py")}


@functools.lru_cache(maxsize=1)
def foreign_places():
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    places.update(site.getsitepackages() if hasattr(site, "getsitepackages") else ())
    return tuple(os.path.join(folder, "") for folder in places if folder) + ("<",)


def short(path):
    """A path as it is said: of a package from its name on, below the working directory from there."""
    for folder in sorted(foreign_places(), key=len, reverse=True):
        if path.startswith(folder) and folder != "<":
            return path[len(folder):]
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _assigned_at(path, name):
    """":12" where `name` is first assigned at the top of the file, or nothing."""
    pattern = re.compile(r"%s\s*(:[^=]+)?=[^=]" % re.escape(name))
    for number, line in enumerate(linecache.getlines(path), 1):
        if pattern.match(line):
            return ":%d" % number
    return ""


def _key_of(namespace, thing):
    for key, value in list(namespace.items()):
        if value is thing and isinstance(key, str):
            return key
    return None


def place(function):
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", "a function")
    if code is None:
        return name
    return "%s (%s:%d)" % (name, short(code.co_filename), code.co_firstlineno)


def _in_module(thing, holder):
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType) and vars(module) is holder:
            key = _key_of(holder, thing)
            if key is None or key.startswith("@"):
                return None
            path = getattr(module, "__file__", None)
            where = " (%s%s)" % (short(path), _assigned_at(path, key)) if path else ""
            return "`%s` in module %s%s" % (key, module.__name__, where)
    return None


def _instance_name(thing, owner, depth):
    """`attribute` of an instance, and what holds that."""
    try:
        key = _key_of(object.__getattribute__(owner, "__dict__"), thing)
    except Exception:  # pylint: disable=broad-except
        return None
    if key is None:
        return None
    kind = type(owner)
    if key == "funcargs" and kind.__module__.startswith(("_pytest", "pytest")):
        return None
    said = "`%s` of a %s" % (key, kind.__qualname__)
    held = holder_of(owner, depth + 1)
    return "%s, which is %s" % (said, held) if held else said


def _owner_name(thing, namespace, depth):
    """By the owner of a dict: a class, an instance, a test's fixtures."""
    key = _key_of(namespace, thing)
    if key is None:
        return None
    for owner in gc.get_referrers(namespace):
        if isinstance(owner, type) and owner.__dict__.get(key) is thing:
            return "`%s` of class %s.%s" % (key, owner.__module__, owner.__qualname__)
        fixtures = owner.get("funcargs") if type(owner) is dict else getattr(owner, "funcargs", None)
        if fixtures is namespace:
            return "fixture `%s`" % key
        if isinstance(owner, types.FunctionType):
            continue
        if getattr(owner, "__dict__", None) is namespace:
            return _instance_name(thing, owner, depth)
    return None


def _cell_name(cell):
    for closure in gc.get_referrers(cell):
        if isinstance(closure, tuple):
            for function in gc.get_referrers(closure):
                if isinstance(function, types.FunctionType) and function.__closure__ is closure:
                    name = function.__code__.co_freevars[closure.index(cell)]
                    return "`%s` in the closure of %s" % (name, place(function))
    return None


def _default_name(thing, defaults):
    for function in gc.get_referrers(defaults):
        if isinstance(function, types.FunctionType) and function.__defaults__ is defaults:
            code = function.__code__
            names = code.co_varnames[:code.co_argcount][-len(defaults):]
            return "the default of `%s` in %s" % (
                names[[value is thing for value in defaults].index(True)], place(function))
    return None


def _referrer_name(thing, holder, depth):
    if isinstance(holder, dict):
        return _owner_name(thing, holder, depth)
    if isinstance(holder, types.CellType if hasattr(types, "CellType") else ()):
        return _cell_name(holder)
    if isinstance(holder, tuple):
        return _default_name(thing, holder)
    if isinstance(holder, types.GeneratorType) and holder.gi_frame is not None:
        if holder.gi_code.co_filename in OWN_FILES:
            return None
        key = _key_of(holder.gi_frame.f_locals, thing)
        return "`%s` in %s" % (key, place(types.SimpleNamespace(
            __code__=holder.gi_code, __qualname__=holder.__qualname__))) if key else None
    if hasattr(type(holder), "__dict__") and not isinstance(
            holder, (types.FrameType, types.FunctionType, types.ModuleType, type)):
        return _instance_name(thing, holder, depth)
    return None


def _local_name(thing):
    """A variable of a function that is running now: the test whose loop is looked at."""
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if path not in OWN_FILES and not path.startswith(foreign_places()):
            key = _key_of(frame.f_locals, thing)
            if key:
                return "`%s` in %s (%s:%d)" % (
                    key, frame.f_code.co_name, short(path), frame.f_code.co_firstlineno)
        frame = frame.f_back
    return None


def holder_of(thing, depth=0):
    """What refers to it, in words, or nothing."""
    if depth > 2:
        return None
    said = _local_name(thing)
    if said:
        return said
    holders = [holder for holder in gc.get_referrers(thing)
               if not isinstance(holder, types.FrameType)]
    for holder in holders:
        if isinstance(holder, dict):
            said = _in_module(thing, holder)
            if said:
                return said
    for holder in holders[:20]:
        said = _referrer_name(thing, holder, depth)
        if said:
            return said
    return None
