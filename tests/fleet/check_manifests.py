#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_manifests.py FILE...: are these Kubernetes manifests what the API would take?

Each document is read by a real YAML parser; then no field may be unknown at its place, every mount must have a
volume, every selector its labels, every $(VARIABLE) in arguments its definition. The arguments that plateau is
given are printed, one a line, for the caller to try. Where the package `kubernetes` is installed, its models
(made from the API's own schema) check names and types of all fields as well.
"""
import re
import sys

import yaml

CONTAINER = {"name", "image", "args", "command", "env", "resources", "securityContext", "volumeMounts", "restartPolicy"}
POD = {"hostPID", "shareProcessNamespace", "automountServiceAccountToken", "terminationGracePeriodSeconds", "tolerations",
       "containers", "initContainers", "volumes", "restartPolicy", "securityContext"}
TOP = {"apiVersion", "kind", "metadata", "spec"}
SPEC = {"DaemonSet": {"selector", "template"}, "Job": {"backoffLimit", "template"}, "Namespace": set()}
API = {"DaemonSet": "apps/v1", "Job": "batch/v1", "Namespace": "v1"}


def known(what, given, allowed):
    assert set(given) <= allowed, f"{what}: unknown {sorted(set(given) - allowed)}"


def check_container(container, volumes):
    known(container["name"], container, CONTAINER)
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", container["name"]), container["name"]
    assert container["image"]
    words = container.get("args", []) + container.get("command", [])
    assert all(isinstance(word, str) for word in words), words
    defined = {entry["name"] for entry in container.get("env", [])}
    for name in re.findall(r"\$\(([^)]*)\)", " ".join(words)):
        assert name in defined, f"$({name}) is not defined"
    for entry in container.get("env", []):
        known(entry["name"], entry, {"name", "value", "valueFrom"})
    for mount in container.get("volumeMounts", []):
        known("mount", mount, {"name", "mountPath", "readOnly"})
        assert mount["name"] in volumes, f"no volume {mount['name']}"
    for kind, amounts in container.get("resources", {}).items():
        assert kind in ("requests", "limits")
        for amount in amounts.values():
            assert re.fullmatch(r"[0-9]+(m|Ki|Mi|Gi)?", str(amount)), amount
    if container["image"].startswith("plateau"):
        print("\n".join(word.replace("$(", "").replace(")", "") for word in container["args"]), end="\n\n")


def check(document):
    kind = document["kind"]
    known(kind, document, TOP)
    assert document["apiVersion"] == API[kind] and document["metadata"]["name"]
    spec = document.get("spec", {})
    known(kind, spec, SPEC[kind])
    if "template" not in spec:
        return
    template = spec["template"]
    if "selector" in spec:
        wanted = spec["selector"]["matchLabels"].items()
        assert wanted <= template["metadata"]["labels"].items(), "the selector does not match the template"
    pod = template["spec"]
    known("pod", pod, POD)
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod.get("initContainers", []) + pod["containers"]:
        check_container(container, volumes)


def check_by_models(document):
    try:
        from kubernetes import client
    except ImportError:
        return
    model = {"DaemonSet": "V1DaemonSet", "Job": "V1Job", "Namespace": "V1Namespace"}[document["kind"]]

    def walk(kind, value, where):
        if kind.startswith("list["):
            assert isinstance(value, list), where
            for i, item in enumerate(value):
                walk(kind[5:-1], item, f"{where}[{i}]")
        elif hasattr(client, kind):
            types, names = getattr(client, kind).openapi_types, getattr(client, kind).attribute_map
            by_wire = {wire: types[name] for name, wire in names.items()}
            for key, inner in value.items():
                assert key in by_wire, f"{where}.{key}: no field of {kind}"
                walk(by_wire[key], inner, f"{where}.{key}")
        elif kind in ("str", "int", "bool"):
            assert isinstance(value, {"str": str, "int": int, "bool": bool}[kind]), f"{where}: {value!r} is no {kind}"

    walk(model, document, document["kind"])


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for each in yaml.safe_load_all(file):
            try:
                check(each)
                check_by_models(each)
            except (AssertionError, KeyError, TypeError) as error:
                sys.exit(f"{path}: {error!r}")
