# SPDX-License-Identifier: Apache-2.0
# Python imports this by itself when it starts, because `plateau run` puts this directory first on PYTHONPATH.
# It makes ready to learn steps and epochs from the training framework (plateau_auto/), if a watcher listens, and
# hands on to the sitecustomize that the user or the system has. Nothing here may raise, print, or import more than
# it must: every interpreter of the job passes through, also a version of Python that we do not know.
import os
import sys


def _hand_on(here):
    """Imports the sitecustomize that would have been imported without us, if there is one."""
    kept = sys.path[:]
    sys.path[:] = [entry for entry in kept if os.path.abspath(entry or ".") != here]
    without = sys.path[:]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours
    finally:
        # The user's own may have changed the path: only what we took away comes back.
        if sys.path == without:
            sys.path[:] = kept
        else:
            sys.path.insert(0, here)


_HERE = os.path.dirname(os.path.abspath(__file__))
try:
    if os.environ.get("PLATEAU_SOCKET") and os.environ.get("PLATEAU_AUTO", "1") != "0":
        if sys.version_info >= (3, 8):
            __import__("plateau_auto").start()
except Exception:  # The job goes on without us.
    pass
_hand_on(_HERE)
