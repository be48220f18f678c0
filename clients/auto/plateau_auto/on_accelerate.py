# SPDX-License-Identifier: Apache-2.0
"""accelerate: its loops are plain loops, and torch's hooks see them. What it alone knows is how many batches are added
up, and that it steps at the end of a pass even if the last group is short."""
from .loop import LOOP


def patch(module):
    """`module` is accelerate.state."""
    def known():
        shared = module.GradientState._shared_state
        if not shared:
            return {}  # Imported, but there is no Accelerator: a library brought it.
        steps = module.GradientState().num_steps
        return {"accumulation": steps, "rounds_up": True} if steps > 1 else {}

    LOOP.knows = known
