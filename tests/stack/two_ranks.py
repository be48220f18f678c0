# SPDX-License-Identifier: Apache-2.0
"""Two ranks under DistributedDataParallel on gloo, each with half of the data, as torchrun starts them."""
import os
import socket
import subprocess
import sys


def train():
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    examples = TensorDataset(torch.randn(24, 4))
    sampler = DistributedSampler(examples)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(1):
        sampler.set_epoch(epoch)
        for (batch,) in DataLoader(examples, batch_size=2, sampler=sampler):
            model(batch).pow(2).mean().backward()
            optimizer.step()
    torch.distributed.destroy_process_group()


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [subprocess.Popen([sys.executable, __file__, "rank"], env=dict(
        os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port))) for rank in range(2)]
    return max(rank.wait() for rank in ranks)


if __name__ == "__main__":
    if sys.argv[1:] == ["rank"]:
        train()
    else:
        sys.exit(main())
