# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Databases with a made fleet in them, for tests and benchmarks. Source it in a scratch directory, after
# setting SOURCE_DIR; end what was started by stop_engines. Everything listens on 127.0.0.1 only.

# shellcheck disable=SC2034
FLEET_END=1793534400  # The moment at which the fleet ends, tests/fleet/make_fleet.py's default.
ENGINES=()

stop_engines() {
  [ ${#ENGINES[@]} -eq 0 ] || kill "${ENGINES[@]}" 2>/dev/null || true
  ENGINES=()
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# answers URL PID: waits until it does; fails if the process ended or nothing came for a minute.
answers() {
  local try
  for ((try = 0; try < 600; try++)); do
    if curl -sf -o /dev/null "$1"; then return 0; fi
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

# start_prometheus DIR [OPTION...]: serves DIR/fleet.om, made into blocks first; sets PROMETHEUS_URL.
start_prometheus() {
  local dir=$1 port try
  shift
  if [ -f "$dir/fleet.om" ] && [ ! -d "$dir/blocks" ]; then
    promtool tsdb create-blocks-from openmetrics "$dir/fleet.om" "$dir/blocks" >"$dir/blocks.log" 2>&1 || return 1
  fi
  [ -f "$dir/prometheus.yml" ] || echo 'global: {}' >"$dir/prometheus.yml"
  for ((try = 0; try < 3; try++)); do
    port=$(free_port)
    prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/blocks" --storage.tsdb.retention.time=30y \
      --web.listen-address="127.0.0.1:$port" "$@" >"$dir/prometheus.log" 2>&1 &
    PROMETHEUS_PID=$!
    ENGINES+=("$PROMETHEUS_PID")
    PROMETHEUS_URL=http://127.0.0.1:$port
    if answers "$PROMETHEUS_URL/-/ready" "$PROMETHEUS_PID"; then return 0; fi
  done
  return 1
}

# start_victoria DIR: imports DIR/fleet.jsonl; sets VICTORIA_URL.
start_victoria() {
  local dir=$1 port try
  for ((try = 0; try < 3; try++)); do
    port=$(free_port)
    victoria-metrics -storageDataPath="$dir/victoria" -httpListenAddr="127.0.0.1:$port" -retentionPeriod=100y \
      -search.maxPointsPerTimeseries=100000 -loggerLevel=ERROR >"$dir/victoria.log" 2>&1 &
    VICTORIA_PID=$!
    ENGINES+=("$VICTORIA_PID")
    VICTORIA_URL=http://127.0.0.1:$port
    if answers "$VICTORIA_URL/health" "$VICTORIA_PID"; then
      curl -sf -X POST -T "$dir/fleet.jsonl" "$VICTORIA_URL/api/v1/import" || return 1
      curl -sf -o /dev/null "$VICTORIA_URL/internal/force_flush"
      return 0
    fi
  done
  return 1
}
