# SPDX-License-Identifier: Apache-2.0
"""Says what was learnt to the watcher, by the client that users may also call themselves (client.py, which the
build copies from clients/python/plateau.py).

Every line ends in from=auto: what the user's own code says outranks it. Steps come as often as the watcher samples
after one (src/session/pace.h): every 50 ms in the first 40 s, then less and less often. A word wakes it and costs
some 30 us, and steps may be left out. The last one is said before an event, but not at the end of the process: a sample then would show memory that is being taken down.
"""
import os
import time

_GAP_S = 0.05
_WIDEST_GAP_S = 0.25
_GAPS = 800  # A word for each so manieth part of the time since the first.

spoken = None  # The voice of this process, once it has one; for the fast way, see get().
_path = None  # Of the socket; None: what PLATEAU_SOCKET says.
_notes = []  # Said before there was anybody to say them.


def hello():
    """A process that may train has us in it: the watcher need not guess steps from what it prints."""
    get().client.say(["run from=auto"])


def hello_once():
    """For frameworks that show no beginning: at their first step."""
    voice = get()
    if not voice.greeted:
        voice.greeted = True
        hello()


def get():
    """The voice of this process; made when torch's optimizers are imported."""
    global spoken
    if spoken is None or spoken.pid != os.getpid():
        spoken = _Voice()
    return spoken


def speak_to(path):
    """From now on to this socket: a watcher came that the environment does not know."""
    global _path
    _path = path
    forget()


def note(text):
    """One line for the report that something is missing. Waits until this process has something to say."""
    if spoken is None:
        _notes.append(text)
    else:
        spoken.event("mark " + text)


def forget():
    """In a forked child: it has said nothing yet, and may never."""
    global spoken
    spoken = None
    del _notes[:]


class _Voice:
    def __init__(self, says_steps=None):
        # Imported this late: most interpreters of a job never train.
        from . import client
        self.pid = os.getpid()
        self.gap_s = _GAP_S  # The least between two words.
        self.greeted = False
        self._facts = {}  # By source: {key: value}.
        self._place_told = False
        self._held = None  # The last step, if it was not said.
        self._due_at = self._began = None
        self.client = client.Client({}, every=1 << 60, socket_path=_path,
                                    says_steps=says_steps)
        for text in _notes:
            self.event("mark " + text)
        del _notes[:]

    def facts(self, source, **facts):
        """Facts of the run by their keys, all from `source`, in words for the report. A key that was said
        before is said anew only if it has changed."""
        known = {key: value for said in self._facts.values() for key, value in said.items()}
        news = {key: value for key, value in facts.items() if value is not None and (
            value or key == "rank") and known.get(key) != value}
        if not news:
            return
        for said in self._facts.values():
            for key in news:
                said.pop(key, None)
        self._facts.setdefault(source, {}).update(news)
        lines = ["run %s source=%s from=auto" % (
            " ".join("%s=%.12g" % pair for pair in sorted(said.items())), "_".join(words.split()))
            for words, said in self._facts.items() if said]
        self.client.state("\n".join(lines))

    def step(self, number, epoch, told):
        """Step `number` has ended. told() gives its epoch, if that is None, and gauges that belong to it."""
        self._held = (number, epoch, told)
        if self._due_at is None or time.monotonic() >= self._due_at:
            self.flush()

    def event(self, line):
        """"begin eval", "end eval", "mark checkpoint"."""
        self.flush()
        self.client.say([], events=[line + " from=auto"])

    def _tell_place(self, has_compiled):
        """At the first step: by then the processes of a job know each other. Each says its own."""
        self._place_told = True
        from . import ranks
        place = ranks.place(has_compiled)
        if place is not None:
            self.facts(place[2], rank=place[0], world=place[1])
            if not ranks.speaks():
                self.client.leave_steps_to_others()

    def flush(self):
        """Says the last step, if it was not."""
        if self._held is None or self.pid != os.getpid():
            return
        (number, epoch, told), self._held = self._held, None
        position, gauges = told()
        if not self._place_told:
            self._tell_place(any(name == "jax.compilations" for name, _ in gauges))
        if epoch is None:
            epoch = position
        text = "step %d from=auto" % number if epoch is None else "step %d epoch=%.6g from=auto" % (number, epoch)
        for pair in gauges:
            text += "\ngauge %s %.9g from=auto" % pair
        self.client.post(text)
        now = time.monotonic()
        if self._began is None:
            self._began = now
        self._due_at = now + min(max(self.gap_s, (now - self._began) / _GAPS), max(self.gap_s, _WIDEST_GAP_S))
