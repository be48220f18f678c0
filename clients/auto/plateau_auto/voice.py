# SPDX-License-Identifier: Apache-2.0
"""Says what was learnt to the watcher, by the client that users may also call themselves (client.py, which the
build copies from clients/python/plateau.py).

Every line ends in from=auto: what the user's own code says outranks it. Steps come at most every _GAP_S: a word
wakes the watcher and costs some 30 us, and steps may be left out. What was left out is said before an event.
"""
import atexit
import os
import time

_GAP_S = 0.02

_voice = None
_notes = []  # Said before there was anybody to say them.


def get():
    """The voice of this process; made when the first step has ended."""
    global _voice
    if _voice is None or _voice.pid != os.getpid():
        _voice = _Voice()
    return _voice


def note(text):
    """One line for the report that something is missing. Waits until this process has something to say."""
    if _voice is None:
        _notes.append(text)
    else:
        _voice.event("mark " + text)


def forget():
    """In a forked child: it has said nothing yet, and may never."""
    global _voice
    _voice = None
    del _notes[:]


class _Voice:
    def __init__(self, says_steps=None):
        # Imported this late: most interpreters of a job never train.
        from . import client
        self.pid = os.getpid()
        self.gap_s = _GAP_S
        self._facts = {}  # By source: {key: value}.
        self._held = None  # The last step, if it was not said.
        self._said_at = 0.0
        self._client = client.Client({}, every=1 << 60, says_steps=says_steps)
        for text in _notes:
            self.event("mark " + text)
        del _notes[:]
        atexit.register(self.flush)

    def facts(self, source, **facts):
        """Facts of the run by their keys, all from `source`, in words for the report. A key that was said
        before is said anew only if it has changed."""
        known = {key: value for said in self._facts.values() for key, value in said.items()}
        news = {key: value for key, value in facts.items() if value and known.get(key) != value}
        if not news:
            return
        for said in self._facts.values():
            for key in news:
                said.pop(key, None)
        self._facts.setdefault(source, {}).update(news)
        lines = ["run %s source=%s from=auto" % (
            " ".join("%s=%.12g" % pair for pair in sorted(said.items())), "_".join(words.split()))
            for words, said in self._facts.items() if said]
        self._client.state("\n".join(lines))

    def step(self, number, epoch, gauges=()):
        """Step `number` has ended; `gauges` are pairs that belong to it."""
        lines = ["step %d from=auto" % number if epoch is None
                 else "step %d epoch=%.6g from=auto" % (number, epoch)]
        lines += ["gauge %s %.9g from=auto" % pair for pair in gauges]
        now = time.monotonic()
        if now - self._said_at < self.gap_s:
            self._held = lines
            return
        self._said_at = now
        self._held = None
        self._client.say(lines)

    def event(self, line):
        """"begin eval", "end eval", "mark checkpoint"."""
        self.flush()
        self._client.say([], events=[line + " from=auto"])

    def flush(self):
        if self._held is not None and self.pid == os.getpid():
            held, self._held = self._held, None
            self._client.say(held)
