# SPDX-License-Identifier: Apache-2.0
"""One rank of a small job on gloo, as torchrun starts it: DistributedDataParallel over epochs of 20 steps. Rank LEAKS keeps
1 MB a step. Rank 0 writes a checkpoint at the end of each epoch, from which all resume; with SAVES it keeps 8 MB of each. Beyond
step PAUSE, if that is set, a rank waits for the file GO before it goes on, so that a test can kill it there. A step takes STEP_S
seconds besides its work."""
import os
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.set_num_threads(1)
torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
world = torch.distributed.get_world_size()
here = os.environ["OUT"]
leaks = rank == int(os.environ.get("LEAKS", "-1"))
checkpoint = os.path.join(here, "checkpoint.pt")
kept = []

examples = TensorDataset(torch.randn(40 * world, 8))
sampler = DistributedSampler(examples)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
first = 0
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint)
    first = saved["epoch"]
    model.load_state_dict(saved["model"])

for epoch in range(first, int(os.environ["EPOCHS"])):
    sampler.set_epoch(epoch)
    for number, (batch,) in enumerate(DataLoader(examples, batch_size=2, sampler=sampler)):
        model(batch).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if leaks:
            kept.append(bytearray(os.urandom(1000)) * 1000)
        if rank == 0 and number == 0:
            with open(os.path.join(here, "progress"), "w", encoding="ascii") as progress:
                progress.write(f"{epoch}\n")
        time.sleep(float(os.environ.get("STEP_S", "0.01")))
    if rank == 0:
        torch.save({"epoch": epoch + 1, "model": model.state_dict()}, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
        if os.environ.get("SAVES"):
            kept.append(bytearray(os.urandom(1000)) * 8000)
    while epoch + 1 == int(os.environ.get("PAUSE", "-1")) and not os.path.exists(os.path.join(here, "go")):
        time.sleep(0.05)
torch.distributed.destroy_process_group()
