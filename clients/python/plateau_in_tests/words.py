# SPDX-License-Identifier: Apache-2.0
"""What was measured, in words: the failure of a test, a warning, the row of a summary."""
import json
import shlex
import warnings

from plateau_in_tests.growth import format_bytes

_READ_FROM = {"anon": "anonymous memory of the process", "heap": "bytes in use of malloc",
              "traced": "bytes of Python objects"}


class PlateauWarning(UserWarning):
    """A test could not be judged as asked."""


def _interval(growth):
    """" (0.98 MB to 1.1 MB)", or nothing where all three numbers read alike."""
    ends = [format_bytes(end) for end in (growth.low, growth.high)]
    return "" if set(ends) == {format_bytes(growth.mid)} else " (%s to %s)" % tuple(ends)


def sentence(growth, per):
    """`per` is what the limit is for: call, step, or test."""
    noun = growth.noun
    allowed = "%s per %s" % (format_bytes(growth.allowed), noun)
    if per == "test":
        allowed = "%s per test, which is %s" % (format_bytes(growth.allowed * growth.asked), allowed)
    return ("memory grew by %s per %s%s over the last %d of %d %ss; allowed: %s\n"
            "  read from: %s" % (
                format_bytes(growth.mid), noun, _interval(growth), growth.over, growth.calls, noun,
                allowed, _READ_FROM[growth.source]))


def native_lines(growth, python_bytes, nodeid):
    """For what no line of Python allocates."""
    if growth.source == "traced" or python_bytes * 2 >= growth.mid:
        return []
    return ["native: Python's allocators saw %s of it per %s; whose the rest is, is told by" % (
                format_bytes(max(0, python_bytes)), growth.noun),
            "  plateau run --heap -o growth.plateau -- python -m pytest %s" % shlex.quote(nodeid),
            "  plateau profile growth.plateau"]


def failure(first, lines):
    return "\n  ".join([first] + lines)


def warn(item, text):
    """Doubt is no failure, where warnings are errors neither: there it stands in the report only."""
    try:
        warnings.warn_explicit(
            PlateauWarning("%s: %s" % (item.nodeid, text)), None, str(item.path), 0)
    except PlateauWarning:
        item.add_report_section("call", "plateau", text + "\n")


def keep(item, growth):
    """For the summary, JUnit and the controller of xdist: as one text. Says what stays open."""
    item.user_properties.append(("plateau", json.dumps(growth.facts())))
    noun = growth.noun
    if growth.word == "undecided":
        warn(item, "cannot tell: memory grew by between %s and %s per %s, allowed is %s; more %ss would tell" % (
            format_bytes(growth.low), format_bytes(growth.high), noun,
            format_bytes(growth.allowed), noun))
    elif growth.word == "level" and growth.hidden > growth.allowed > 0:
        wanted = 1 + growth.over * growth.hidden // growth.allowed
        warn(item, "no growth was seen, but under %s per %s could hide in %d %ss; %d of them would show %s" % (
            format_bytes(growth.hidden), noun, growth.over, noun, wanted,
            format_bytes(growth.allowed)))


def row(nodeid, facts):
    """One line of the summary."""
    low, mid, high, allowed, hidden = (format_bytes(facts[name + "_bytes"]) for name in (
        "low", "growth", "high", "allowed", "hidden"))
    text = "%-9s %10s per %s (%s to %s), allowed %s; %d %ss" % (
        facts["word"], mid, facts["per"], low, high, allowed, facts["count"], facts["per"])
    if facts["word"] == "level":
        text += "; under %s could hide" % hidden
    return "%s  %s" % (text, nodeid)
