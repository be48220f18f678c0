#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every preset against a real VictoriaMetrics that holds six hours of what its exporter would have told, names, labels and
# units as the exporter has them: of two things one leaks and is named, with the load and the limit that the preset asks for.
# shellcheck source=lib.sh
. "$SOURCE_DIR/tests/e2e/lib.sh"
# shellcheck source=../fleet/engines.sh
. "$SOURCE_DIR/tests/fleet/engines.sh"
command -v victoria-metrics >/dev/null || skip "no victoria-metrics here"
trap 'stop_engines; wait; rm -rf "$SCRATCH"' EXIT

mkdir exporters
python3 - "$FLEET_END" >exporters/fleet.jsonl <<'PY'
import json, random, sys
end, count = int(float(sys.argv[1])), 720
random.seed(5)
times = [1000 * (end - 30 * (count - 1 - i)) for i in range(count)]
def tell(name, labels, value):
    print(json.dumps({"metric": {"__name__": name, **labels}, "timestamps": times, "values": [value(i) for i in range(count)]}))
def memory(leaks, begin=2e9, step=1e6):
    return lambda i: round(begin + (step * i if leaks else 0) + random.gauss(0, 2e5))
for leaks in (True, False):
    word = "leaky" if leaks else "level"
    own = {"job": word, "instance": word + ":80"}
    tell("process_resident_memory_bytes", own, memory(leaks))
    tell("process_start_time_seconds", own, lambda i: end - 9e5)
    tell("process_cpu_seconds_total", own, lambda i: 6 * i)
    group = {"job": "process-exporter", "instance": "h:9256", "groupname": word}
    tell("namedprocess_namegroup_memory_bytes", dict(group, memtype="proportionalResident"), memory(leaks))
    tell("namedprocess_namegroup_memory_bytes", dict(group, memtype="virtual"), memory(True))
    for mode in ("user", "system"):
        tell("namedprocess_namegroup_cpu_seconds_total", dict(group, mode=mode), lambda i: 3 * i)
    node = {"job": word, "instance": word + ":9100"}
    tell("node_memory_MemAvailable_bytes", node, memory(leaks, 3e10, -1e7))
    tell("node_memory_MemTotal_bytes", node, lambda i: 6.4e10)
    tell("node_boot_time_seconds", node, lambda i: end - 9e5)
    for mode in ("idle", "user"):
        tell("node_cpu_seconds_total", dict(node, cpu="0", mode=mode), lambda i: 15 * i)
    gpu = {"job": "dcgm", "instance": "h:9400", "gpu": "0" if leaks else "1", "UUID": word, "Hostname": "h", "exported_pod": word}
    used = [20000 + (10 * i if leaks else 0) + random.randint(-2, 2) for i in range(count)]
    tell("DCGM_FI_DEV_FB_USED", gpu, lambda i: used[i])
    tell("DCGM_FI_DEV_FB_FREE", gpu, lambda i: 81920 - used[i])
    tell("DCGM_FI_DEV_GPU_UTIL", gpu, lambda i: 90 + i % 3)
    task = {"job": "windows", "instance": "w:9182", "process": word, "process_id": "42", "creating_process_id": "4"}
    tell("windows_process_working_set_private_bytes", task, memory(leaks))
    tell("windows_process_start_time", task, lambda i: end - 9e5)
    for mode in ("privileged", "user"):
        tell("windows_process_cpu_time_total", dict(task, mode=mode), lambda i: 3 * i)
PY
start_victoria exporters || fail "VictoriaMetrics does not start: $(tail -3 exporters/victoria.log)"
arrived() {
  curl -sf "$VICTORIA_URL/api/v1/query" -d time=$FLEET_END --data-urlencode 'query=count(windows_process_start_time)' | grep -q '"value"'
}
wait_until arrived

# preset NAME LIMITED OPTION...: one of two leaks; if LIMITED is "limit", it is known when it is out of memory.
preset() {
  run "$PLATEAU" fleet --url "$VICTORIA_URL" --at "$FLEET_END" --preset "$1" --json "${@:3}"
  expect_code 1
  python3 - "$2" <<'PY' || fail "$1: $(cat out err)"
import json, sys
*found, summary = [json.loads(line) for line in open("out")]
assert summary["series_judged"] == 2 and summary["series_failed"] == 0 and not summary["partial"], summary
assert [f["verdict"] for f in found] == ["leak"] and "leaky" in json.dumps(found[0]), found
assert found[0]["load"] == "work", found
assert (found[0]["limit_eta_s"] is not None) == (sys.argv[1] == "limit"), found
PY
}
preset process none
preset process-exporter none
preset node limit
preset dcgm limit --group-by exported_pod
preset windows none
