# SPDX-License-Identifier: Apache-2.0
"""Makes broken copies of a model directory, for tests: safetensors_tool.py KIND MODEL COPY [TENSOR].

shape    TENSOR has twice the rows and half the columns
poison   the first value of TENSOR is NaN
lacks    TENSOR is not there
shards   the weights in two files and an index
"""
import json
import os
import shutil
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {
        name: (entry["dtype"], entry["shape"], data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]])
        for name, entry in header.items()
    }


def write(path, tensors):
    header, at = {}, 0
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(values for _, _, values in tensors.values()))


def main():
    kind, model, copy = sys.argv[1:4]
    shutil.copytree(model, copy)
    weights = os.path.join(copy, "model.safetensors")
    tensors = read(weights)
    if kind == "shards":
        os.remove(weights)
        names, place = list(tensors), {}
        for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), 1):
            shard = f"model-{number:05}-of-00002.safetensors"
            write(os.path.join(copy, shard), {name: tensors[name] for name in part})
            place.update({name: shard for name in part})
        with open(weights + ".index.json", "w") as file:
            json.dump({"metadata": {}, "weight_map": place}, file)
        return
    dtype, shape, values = tensors.pop(sys.argv[4])
    if kind == "shape":
        tensors[sys.argv[4]] = (dtype, [shape[0] * 2, shape[1] // 2], values)
    elif kind == "poison":
        tensors[sys.argv[4]] = (dtype, shape, struct.pack("<f", float("nan")) + values[4:])
    write(weights, tensors)


main()
