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
        state = module.GradientState()
        # Only of the loaders that it has prepared does it know the end.
        if state.num_steps > 1 and state.in_dataloader:
            return {"accumulation": state.num_steps, "rounds_up": True}
        return {}

    LOOP.knows = known
