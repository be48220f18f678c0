# SPDX-License-Identifier: Apache-2.0
"""Which of how many processes this one is: torch.distributed or JAX where they have been set up, else the launcher's
variables. Nothing is set up by asking: JAX is asked only once it has compiled something, which starts its backend."""
import os
import sys

_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "torchrun"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"),
    ("PMI_RANK", "PMI_SIZE", "mpiexec"),
    ("SLURM_PROCID", "SLURM_NTASKS", "srun"),
)


def _of_torch():
    dist = sys.modules.get("torch.distributed")
    if dist is not None and dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size(), "torch.distributed"
    return None


def _of_jax(has_compiled):
    jax = sys.modules.get("jax")
    if jax is not None and has_compiled:
        return jax.process_index(), jax.process_count(), "jax.distributed"
    return None


def _of_launcher():
    for rank, world, name in _LAUNCHERS:
        rank, world = os.environ.get(rank, ""), os.environ.get(world, "")
        if rank.isdigit() and world.isdigit() and int(rank) < int(world):
            # srun gives a batch script that starts one Python the size of the whole allocation, and no rank but 0.
            if name != "srun" or os.environ.get("SLURM_STEP_NUM_TASKS", "") == world:
                return int(rank), int(world), name
    return None


def place(has_compiled=False):
    """(rank, world size, who says so), or None for a process that is alone as far as it knows."""
    for ask in (_of_torch, lambda: _of_jax(has_compiled), _of_launcher):
        try:
            found = ask()
        except Exception:  # pylint: disable=broad-except
            found = None  # A backend that cannot be asked is none.
        if found is not None and found[1] > 1:
            return found
    return None


def speaks():
    """Whether this process says steps: one of each host does, unless each rank has a watcher of its own. Asked at the
    first step, because processes that the job makes itself (torch.multiprocessing) are told their rank late."""
    if os.environ.get("PLATEAU_OWN_RANK") == "1":
        return True
    local = os.environ.get("LOCAL_RANK", "")
    if not local.isdigit() and os.environ.get("MASTER_ADDR") in ("localhost", "127.0.0.1", "::1"):
        found = place()
        return found is None or found[0] == 0
    return not local.isdigit() or int(local) == 0


def world_size():
    """Processes that share the data, as far as this one knows."""
    found = place()
    return found[1] if found else 1
