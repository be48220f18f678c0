#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tracer/python_layout.inc from the debug information of real CPython interpreters.

  tools/python_offsets.py [ELF ...]           write the table from one interpreter per version
  tools/python_offsets.py --check [ELF ...]   compare the table with every interpreter found
  tools/python_offsets.py --show [ELF ...]    print the rows of what is there, write nothing

Without ELF the interpreters of pyenv (PYENV_ROOT, else ~/.pyenv) and of the system are taken, as
far as they hold DWARF; a file of detached debug information will do under the name python3.N. gdb reads it: this very file runs inside gdb and asks its type system, so
that no offset is computed here. --check exits 0 if all agree, 1 if one differs, and 77 (skipped)
if there is no gdb or no interpreter with DWARF; versions that are absent are named.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

VERSIONS = range(8, 15)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "tracer", "python_layout.inc")
NO_OFFSET = -1
MARK = "PYTHON_OFFSETS "

RUNTIME, INTERPRETER, THREAD = "_PyRuntimeState", "PyInterpreterState", "PyThreadState"
GC, CODE, TYPE, FRAME = "struct _gc_runtime_state", "PyCodeObject", "PyTypeObject", "struct _PyInterpreterFrame"
DICT, KEYS, DEBUG = "PyDictObject", "struct _dictkeysobject", "struct _Py_DebugOffsets"
FRAME_OBJECT, FUNCTION, GENERATOR = "PyFrameObject", "PyFunctionObject", "PyGenObject"
EXCEPTION, TRACEBACK = "PyBaseExceptionObject", "PyTracebackObject"
DEQUE, BLOCK, LRU, PARTIAL = "dequeobject", "struct BLOCK", "lru_cache_object", "partialobject"

# Field of PythonLayout -> where it comes from, the first that the version knows. ("at", type, path)
# is an offset in bytes, ("bit", ...) the first bit of a bit field within its word, ("size", type) a
# size in bytes, ("enum", name) a value. A fourth element names a member that must exist too.
FIELDS = {
    "runtime_interpreters_head": [("at", RUNTIME, "interpreters.head")],
    "interpreter_next": [("at", INTERPRETER, "next")],
    "interpreter_threads_head": [("at", INTERPRETER, "threads.head"),
                                 ("at", INTERPRETER, "tstate_head")],
    "interpreter_modules": [("at", INTERPRETER, "imports.modules"), ("at", INTERPRETER, "modules")],
    "gc": [("at", INTERPRETER, "gc"), ("at", RUNTIME, "gc")],
    "gc_generations": [("at", GC, "generations")],
    "gc_generation_bytes": [("size", "struct gc_generation")],
    "gc_permanent": [("at", GC, "permanent_generation")],
    "gc_collecting": [("at", GC, "collecting")],
    "gc_long_lived_total": [("at", GC, "long_lived_total")],
    "thread_frame": [("at", THREAD, "frame"), ("at", THREAD, "current_frame")],
    # 3.10 has a cframe too, which holds no frame.
    "thread_cframe": [("at", THREAD, "cframe", "current_frame of _PyCFrame")],
    "cframe_current_frame": [("at", "_PyCFrame", "current_frame")],
    "thread_next": [("at", THREAD, "next")],
    "thread_native_id": [("at", THREAD, "native_thread_id")],
    "thread_ident": [("at", THREAD, "thread_id")],
    "thread_dict": [("at", THREAD, "dict")],
    "frame_back": [("at", FRAME, "previous"), ("at", "PyFrameObject", "f_back")],
    "frame_code": [("at", FRAME, "f_executable"), ("at", FRAME, "f_code"),
                   ("at", "PyFrameObject", "f_code")],
    "frame_instruction": [("at", FRAME, "instr_ptr"), ("at", FRAME, "prev_instr"),
                          ("at", "PyFrameObject", "f_lasti")],
    "frame_owner": [("at", FRAME, "owner")],
    "frame_is_entry": [("at", FRAME, "is_entry")],
    "frame_owned_by_c": [("enum", "FRAME_OWNED_BY_INTERPRETER"), ("enum", "FRAME_OWNED_BY_CSTACK")],
    "frame_locals": [("at", FRAME, "localsplus"), ("at", FRAME_OBJECT, "f_localsplus")],
    "frame_object_frame": [("at", FRAME_OBJECT, "f_frame")],
    "code_filename": [("at", CODE, "co_filename")],
    "code_name": [("at", CODE, "co_name")],
    "code_qualname": [("at", CODE, "co_qualname")],
    "code_first_line": [("at", CODE, "co_firstlineno")],
    "code_line_table": [("at", CODE, "co_linetable"), ("at", CODE, "co_lnotab")],
    "code_bytecode": [("at", CODE, "co_code_adaptive")],
    "code_locals": [("at", CODE, "co_nlocalsplus"), ("at", CODE, "co_nlocals")],
    "code_local_names": [("at", CODE, "co_localsplusnames"), ("at", CODE, "co_varnames")],
    "code_cell_names": [("at", CODE, "co_cellvars")],
    "code_free_names": [("at", CODE, "co_freevars")],
    "code_free_count": [("at", CODE, "co_nfreevars")],
    "code_stack_places": [("at", CODE, "co_stacksize")],
    "object_type": [("at", "PyObject", "ob_type")],
    "object_refcount": [("at", "PyObject", "ob_refcnt")],
    "var_size": [("at", "PyVarObject", "ob_size")],
    "object_bytes": [("size", "PyObject")],
    "bytes_data": [("at", "PyBytesObject", "ob_sval")],
    "ascii_data": [("size", "PyASCIIObject")],
    "compact_data": [("size", "PyCompactUnicodeObject")],
    "unicode_length": [("at", "PyASCIIObject", "length")],
    "unicode_state": [("at", "PyASCIIObject", "state")],
    "unicode_kind_bit": [("bit", "PyASCIIObject", "state.kind")],
    "unicode_compact_bit": [("bit", "PyASCIIObject", "state.compact")],
    "unicode_ascii_bit": [("bit", "PyASCIIObject", "state.ascii")],
    "type_name": [("at", TYPE, "tp_name")],
    "type_basic_bytes": [("at", TYPE, "tp_basicsize")],
    "type_item_bytes": [("at", TYPE, "tp_itemsize")],
    "type_flags": [("at", TYPE, "tp_flags")],
    "type_base": [("at", TYPE, "tp_base")],
    "type_dict": [("at", TYPE, "tp_dict")],
    "type_dict_offset": [("at", TYPE, "tp_dictoffset")],
    "member_bytes": [("size", "PyMemberDef")],
    "member_name": [("at", "PyMemberDef", "name")],
    "member_type": [("at", "PyMemberDef", "type")],
    "member_offset": [("at", "PyMemberDef", "offset")],
    "heap_type_qualname": [("at", "PyHeapTypeObject", "ht_qualname")],
    "heap_type_cached_keys": [("at", "PyHeapTypeObject", "ht_cached_keys")],
    "gc_head_bytes": [("size", "PyGC_Head")],
    "gc_head_next": [("at", "PyGC_Head", "_gc_next")],
    "gc_head_prev": [("at", "PyGC_Head", "_gc_prev")],
    "dict_used": [("at", DICT, "ma_used")],
    "dict_keys": [("at", DICT, "ma_keys")],
    "dict_values": [("at", DICT, "ma_values")],
    "values_items": [("at", "struct _dictvalues", "values")],
    "values_valid": [("at", "struct _dictvalues", "valid")],
    "keys_refcount": [("at", KEYS, "dk_refcnt")],
    "keys_size": [("at", KEYS, "dk_size")],
    "keys_log2_size": [("at", KEYS, "dk_log2_size")],
    "keys_log2_index_bytes": [("at", KEYS, "dk_log2_index_bytes")],
    "keys_kind": [("at", KEYS, "dk_kind")],
    "keys_usable": [("at", KEYS, "dk_usable")],
    "keys_entries": [("at", KEYS, "dk_nentries")],
    "keys_indices": [("at", KEYS, "dk_indices")],
    "key_entry_bytes": [("size", "PyDictKeyEntry")],
    "key_entry_key": [("at", "PyDictKeyEntry", "me_key")],
    "key_entry_value": [("at", "PyDictKeyEntry", "me_value")],
    "unicode_entry_bytes": [("size", "PyDictUnicodeEntry")],
    "unicode_entry_key": [("at", "PyDictUnicodeEntry", "me_key")],
    "unicode_entry_value": [("at", "PyDictUnicodeEntry", "me_value")],
    "keys_kind_general": [("enum", "DICT_KEYS_GENERAL")],
    "list_allocated": [("at", "PyListObject", "allocated")],
    "list_items": [("at", "PyListObject", "ob_item")],
    "tuple_items": [("at", "PyTupleObject", "ob_item")],
    "set_mask": [("at", "PySetObject", "mask")],
    "set_table": [("at", "PySetObject", "table")],
    "set_small_table": [("at", "PySetObject", "smalltable")],
    "set_entry_bytes": [("size", "setentry")],
    "set_entry_key": [("at", "setentry", "key")],
    "set_used": [("at", "PySetObject", "used")],
    "deque_left_block": [("at", DEQUE, "leftblock")],
    "deque_left_index": [("at", DEQUE, "leftindex")],
    "block_items": [("at", BLOCK, "data")],
    "block_next": [("at", BLOCK, "rightlink")],
    "module_dict": [("at", "PyModuleObject", "md_dict")],
    "function_code": [("at", FUNCTION, "func_code")],
    "function_closure": [("at", FUNCTION, "func_closure")],
    "function_defaults": [("at", FUNCTION, "func_defaults")],
    "function_keyword_defaults": [("at", FUNCTION, "func_kwdefaults")],
    "function_dict": [("at", FUNCTION, "func_dict")],
    "function_qualname": [("at", FUNCTION, "func_qualname")],
    "cell_value": [("at", "PyCellObject", "ob_ref")],
    "method_self": [("at", "PyMethodObject", "im_self")],
    "method_function": [("at", "PyMethodObject", "im_func")],
    "generator_frame": [("at", GENERATOR, "gi_iframe"), ("at", GENERATOR, "gi_frame")],
    "generator_frame_state": [("at", GENERATOR, "gi_frame_state")],
    "exception_args": [("at", EXCEPTION, "args")],
    "exception_traceback": [("at", EXCEPTION, "traceback")],
    "exception_context": [("at", EXCEPTION, "context")],
    "traceback_next": [("at", TRACEBACK, "tb_next")],
    "traceback_frame": [("at", TRACEBACK, "tb_frame")],
    "lru_cache": [("at", LRU, "cache")],
    "lru_function": [("at", LRU, "func")],
    "lru_element_result": [("at", "lru_list_elem", "result")],
    "partial_function": [("at", PARTIAL, "fn")],
    "partial_arguments": [("at", PARTIAL, "args")],
    "partial_keywords": [("at", PARTIAL, "kw")],
    "debug_version": [("at", DEBUG, "version")],
    "debug_free_threaded": [("at", DEBUG, "free_threaded")],
    "debug_interpreters_head": [("at", DEBUG, "runtime_state.interpreters_head")],
    "debug_interpreter_next": [("at", DEBUG, "interpreter_state.next")],
    "debug_interpreter_gc": [("at", DEBUG, "interpreter_state.gc")],
    "debug_interpreter_threads_head": [("at", DEBUG, "interpreter_state.threads_head")],
    "debug_interpreter_modules": [("at", DEBUG, "interpreter_state.imports_modules")],
    "debug_gc_collecting": [("at", DEBUG, "gc.collecting")],
}
MAY_LACK = {
    "thread_frame", "thread_cframe", "cframe_current_frame", "thread_native_id", "frame_owner",
    "frame_is_entry", "frame_owned_by_c", "code_qualname", "code_bytecode", "keys_size",
    "keys_log2_size", "keys_log2_index_bytes", "keys_kind", "unicode_entry_bytes",
    "unicode_entry_key", "unicode_entry_value", "keys_kind_general", "frame_object_frame", "code_cell_names",
    "code_free_names", "code_free_count", "values_items", "values_valid", "generator_frame_state",
    *(name for name in FIELDS if name.startswith("debug_")),
}


# Inside gdb --------------------------------------------------------------------------------------

def complete_type(gdb, name):
    """The type with its fields, or None. Typedefs are followed, declarations are not enough."""
    try:
        found = gdb.lookup_type(name).strip_typedefs()
    except gdb.error:
        return None
    return found if found.sizeof else None


def member(gdb, holder, path):
    """Offset in bits of a dotted path, in the type and in the member that holds the last part."""
    bits = inner = 0
    for part in path.split("."):
        step = find_member(gdb, holder, part)
        if step is None:
            return None
        inner, holder = step
        bits += inner
    return bits, inner


def find_member(gdb, holder, name):
    if holder.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return None
    for field in holder.fields():
        inner = field.type.strip_typedefs()
        if field.name == name:
            return field.bitpos, inner
        # PyObject begins with an unnamed union; PyVarObject and others with the member ob_base.
        if not field.name or field.name == "ob_base":
            found = find_member(gdb, inner, name)
            if found is not None:
                return field.bitpos + found[0], found[1]
    return None


def resolve(gdb, source):
    kind = source[0]
    if kind == "enum":
        try:
            return int(gdb.parse_and_eval(f"(int){source[1]}"))
        except gdb.error:
            return None
    holder = complete_type(gdb, source[1])
    if holder is None:
        return None
    if kind == "size":
        return int(holder.sizeof)
    found = member(gdb, holder, source[2])
    if found is None:
        return None
    if len(source) > 3:
        needed, other = source[3].split(" of ")
        target = complete_type(gdb, other)
        if target is None or find_member(gdb, target, needed) is None:
            return None
    return found[1] if kind == "bit" else found[0] // 8


def report_from_gdb():
    import gdb  # pylint: disable=import-error,import-outside-toplevel
    row = {}
    for name, sources in FIELDS.items():
        values = (resolve(gdb, source) for source in sources)
        row[name] = next((value for value in values if value is not None), NO_OFFSET)
    print(MARK + json.dumps(row))


# Outside gdb -------------------------------------------------------------------------------------

def minor_of(path):
    found = re.search(r"python3\.(\d+)", os.path.basename(os.path.realpath(path)))
    return int(found.group(1)) if found else None


def has_dwarf(path):
    listed = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False)
    return ".debug_info" in listed.stdout


def interpreters(named):
    """(minor, path) of every interpreter with DWARF, by version; each file once."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    patterns = [f"{pyenv}/versions/*/lib/libpython3.*.so.1.0", f"{pyenv}/versions/*/bin/python3.*",
                "/usr/lib/*/libpython3.*.so.1.0", "/usr/local/lib/libpython3.*.so.1.0",
                "/usr/bin/python3.*", "/usr/local/bin/python3.*"]
    candidates = named or [path for pattern in patterns for path in sorted(glob.glob(pattern))]
    seen, found = set(), []
    for path in candidates:
        real = os.path.realpath(path)
        if real in seen or not re.search(r"(python3\.\d+|\.so\.1\.0)$", real) or not has_dwarf(real):
            continue
        seen.add(real)
        minor = minor_of(real)
        if minor not in VERSIONS:
            continue
        # A launcher built with debug information holds none of the interpreter's types.
        if real.endswith(".so.1.0") or os.path.getsize(real) > 1 << 20:
            found.append((minor, path))
    return sorted(found)


def release_of(path, minor):
    """The full version, "3.12.1", as the interpreter beside the library says it; else "3.12"."""
    beside = os.path.join(os.path.dirname(path), "..", "bin", f"python3.{minor}")
    if not os.path.exists(beside):
        return f"3.{minor}"
    told = subprocess.run([beside, "--version"], capture_output=True, text=True, check=False)
    return told.stdout.strip().removeprefix("Python ") or f"3.{minor}"


def row_of(path, minor):
    command = ["gdb", "--batch", "-nx", "-ex", "set auto-load off", "-ex",
               "python import sys; sys.argv=['in-gdb']", "-x", os.path.abspath(__file__), path]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in told.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        sys.exit(f"python_offsets: gdb said nothing of {path}: {told.stderr.strip()[-400:]}")
    row = json.loads(lines[0][len(MARK):])
    lacking = [name for name in FIELDS if row[name] == NO_OFFSET and name not in MAY_LACK]
    if lacking:
        sys.exit(f"python_offsets: {path} has no {', '.join(lacking)}")
    return {"minor": minor, **row}


def text_of(rows):
    head = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Generated by tools/python_offsets.py from the debug information of CPython",
        f"// {', '.join(release for release, _ in rows)} (x86-64); do not",
        "// edit. -1: the version lacks it.",
    ]
    for _, row in rows:
        head.append("{")
        head += [f"    .{name} = {value}," for name, value in row.items()]
        head.append("},")
    return "\n".join(head) + "\n"


def read_table():
    with open(TABLE, encoding="utf-8") as file:
        blocks = re.findall(r"^\{\n(.*?)^\},$", file.read(), re.S | re.M)
    rows = [dict(re.findall(r"\.(\w+) = (-?\d+),", block)) for block in blocks]
    return {int(row["minor"]): {name: int(value) for name, value in row.items()} for row in rows}


def check(found):
    table = read_table()
    wrong = 0
    for minor, path in found:
        row = row_of(path, minor)
        kept = table.get(minor, {})
        differ = [name for name in {**row, **kept} if row.get(name) != kept.get(name)]
        for name in differ:
            print(f"{path}: {name} is {row.get(name)}, the table says {kept.get(name)}")
        wrong += bool(differ)
        print(f"{release_of(path, minor)}: {'differs' if differ else f'{len(row)} values agree'} ({path})")
    for minor in VERSIONS:
        if minor not in (known for known, _ in found):
            print(f"3.{minor}: skipped, no interpreter with debug information here")
    if not found:
        return 77
    return 1 if wrong else 0


def main(arguments):
    flags = [word for word in arguments if word.startswith("--")]
    if any(flag not in ("--check", "--show") for flag in flags):
        sys.exit(__doc__.strip())
    if not shutil.which("gdb"):
        print("python_offsets: needs gdb", file=sys.stderr)
        return 77
    found = interpreters([word for word in arguments if not word.startswith("--")])
    if "--check" in flags:
        return check(found)
    newest = dict(found)
    missing = [f"3.{minor}" for minor in VERSIONS if minor not in newest]
    if missing and "--show" not in flags:
        sys.exit(f"python_offsets: no interpreter with debug information for {', '.join(missing)}")
    text = text_of([(release_of(path, minor), row_of(path, minor)) for minor, path in newest.items()])
    if "--show" in flags:
        print(text, end="")
        return 0
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if sys.argv[:1] == ["in-gdb"]:
    report_from_gdb()
elif __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
