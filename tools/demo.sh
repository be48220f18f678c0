#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on real cases: tools/demo.sh [train|fleet]
# The two production logs that the project began from, a recorded process tree in which a child leaks
# under a flat parent, and a job that is started and watched; with "train", a training whose memory is
# planned before its first step; with "fleet", fifty small jobs, a Prometheus and an Alertmanager, until an alert comes.
set -euo pipefail
cd "$(dirname "$0")/.."
plateau=build/release/plateau
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
show() {
  printf '\n$ plateau %s\n' "$*"
  local status=0
  "$plateau" "$@" || status=$?
  printf '(exit %d)\n' "$status"
  [ "$status" -ne 2 ]
}

judge_and_watch() {
  local logs=corpus/model-garden recording=$scratch/images.plateau
  echo "A vision-language fine-tuning run grew from 5.4 to 17.7 GB, with 663 examples, 8 per step. Is it a leak?"
  show judge "$logs/run2.log" --examples 663 --batch 8
  echo; echo "An earlier run was stopped at step 70, in the belief that it leaked. What could be known then?"
  show judge "$logs/run1.log" --examples 663 --batch 8 --limit 32GB
  echo; echo "A process tree: which process is it?"
  show judge corpus/dev/tree_leak_child-1.csv.gz

  echo; echo "A live job, watched for some 12 seconds: a list of images that stay decoded, as in the first case."
  printf '\n$ plateau run --heap -o images.plateau -- python3 tests/leakers/lazy_images.py >/dev/null\n'
  "$plateau" run --heap -o "$recording" -- /usr/bin/python3 tests/leakers/lazy_images.py >/dev/null
  echo; echo "Which call is it?"
  show profile "$recording"
}

train() {
  echo "The same kind of training with bounded memory: planned, 150 steps, judged at the end."
  printf '\n$ plateau-train init --preset tiny -o tiny\n'
  build/release/plateau-train init --preset tiny -o "$scratch/tiny" --examples 400 --eval-examples 24 >/dev/null
  printf '$ plateau train -m tiny/model -d tiny/train.jsonl --eval-dataset tiny/eval.jsonl -o tiny/out --batch-size 8 ...\n'
  "$plateau" train -m "$scratch/tiny/model" -d "$scratch/tiny/train.jsonl" --eval-dataset "$scratch/tiny/eval.jsonl" \
    -o "$scratch/tiny/out" --load-in-32bit --use-gradient-checkpointing false --batch-size 8 \
    --gradient-accumulation-steps 1 --max-steps 150 --learning-rate 1e-3 --lora-alpha 64 --lr-scheduler-type linear \
    --logging-steps 50 --save-steps 75 --save-method lora
}

# Starts what the alert goes through: the service, an Alertmanager, somebody who is told. Sets service_url.
alerting() {
  local integrations=integrations/prometheus port alert_port
  python3 -B tests/stand_in/alert_receiver.py "$scratch/told.jsonl" >"$scratch/receiver.port" &
  ENGINES+=($!)
  touch "$scratch/told.jsonl"
  port=$(free_port) alert_port=$(free_port) service_url=127.0.0.1:$port
  until [ -s "$scratch/receiver.port" ]; do sleep 0.1; done
  sed -e "s/127.0.0.1:5001/127.0.0.1:$(cat "$scratch/receiver.port")/" -e 's/group_wait: .*/group_wait: 2s/' \
    "$integrations/alertmanager-example.yml" >"$scratch/alertmanager.yml"
  prometheus-alertmanager --config.file="$scratch/alertmanager.yml" --storage.path="$scratch/alerts" --cluster.listen-address= \
    --web.listen-address="127.0.0.1:$alert_port" >"$scratch/alertmanager.log" 2>&1 &
  ENGINES+=($!)
  cat >"$scratch/prometheus.yml" <<YML
global: {scrape_interval: 5s, scrape_timeout: 5s, evaluation_interval: 5s}
rule_files: ['$PWD/$integrations/plateau-fleet-rules.yml']
alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:$alert_port']}]}]}
scrape_configs:
  - job_name: plateau-fleet
    static_configs: [{targets: ['$service_url']}]
  - job_name: jobs
    file_sd_configs: [{files: ['$scratch/targets.json']}]
YML
}

# tell_alert: the first notification of a leak in words.
tell_alert() {
  python3 - "$scratch/told.jsonl" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    for alert in json.loads(line)["alerts"]:
        if alert["labels"]["alertname"] == "PlateauFleetLeak":
            print(f"  {alert['status'].upper()}  {alert['annotations']['summary'].strip('/ ')}\n"
                  f"          {' '.join(alert['annotations']['description'].split())}\n          {alert['annotations']['report_url']}")
PY
}

fleet() {
  # shellcheck source=../tests/fleet/engines.sh
  . tests/fleet/engines.sh
  trap 'stop_engines; wait; rm -rf "$scratch"' EXIT
  local began=$SECONDS question=(--preset process --match 'job="jobs"' --group-by service)
  echo "Fifty small jobs, a Prometheus that scrapes them and knows their last six hours, plateau fleet beside it, an Alertmanager behind it."
  python3 -B tools/demo_jobs.py "$scratch" &
  ENGINES+=($!)
  until [ -s "$scratch/targets.json" ]; do sleep 0.1; done
  alerting
  start_prometheus "$scratch"
  show fleet --url "$PROMETHEUS_URL" "${question[@]}"
  printf '\n$ plateau fleet --url %s %s --every 20s --listen %s\n' "$PROMETHEUS_URL" "${question[*]}" "$service_url"
  "$plateau" fleet --url "$PROMETHEUS_URL" "${question[@]}" --every 20s --listen "$service_url" &
  ENGINES+=($!)
  until grep -q PlateauFleetLeak "$scratch/told.jsonl"; do
    [ $((SECONDS - began)) -lt 600 ] || { echo "no alert came within ten minutes" >&2; return 1; }
    sleep 1
  done
  printf '\n%d s after the start the Alertmanager tells the team:\n' $((SECONDS - began))
  tell_alert
}

case ${1:-} in
  "") judge_and_watch; echo; echo "'make demo-train' shows a training whose memory is planned before its first step." ;;
  train) train ;;
  fleet) fleet ;;
  *) echo "usage: tools/demo.sh [train|fleet]" >&2; exit 2 ;;
esac
