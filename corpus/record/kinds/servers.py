# SPDX-License-Identifier: Apache-2.0
"""Servers under work: redis, memcached, PostgreSQL, and one of Python's standard library."""
import functools

from kinds import JEMALLOC, drawn, span

kind = functools.partial(drawn, number=6, server=True)
bounded = functools.partial(kind, label="plateau", cause="server")
leak = functools.partial(kind, label="leak", cause="server")

# --- redis and memcached -------------------------------------------------------------------------

redis = functools.partial(bounded, workload="serving/redis_types.py", allocator=JEMALLOC)
redis_leak = functools.partial(leak, workload="serving/redis_types.py", allocator=JEMALLOC)
STEP_MS = 6  # of a step of the driver, about
ENTRY_BYTES = 60  # of an entry beside its value


def kept(draw, high=200.0):
    """`limit` entries, reached at a drawn step."""
    limit = draw.end_step() * draw.count
    return {"limit": limit, "bytes": max(16, round(draw.grown_mb(5.0, high) * 2**20 / limit))}


def expiring(draw):
    limit = draw.span(draw.steps // 8, draw.steps // 2)
    return {"limit": limit * STEP_MS,
            "bytes": max(16, round(draw.grown_mb(5.0, 150.0) * 2**20 / limit / draw.count))}


def added(draw):
    part = draw.leaked_mb() * 2**20 / draw.steps / draw.count - ENTRY_BYTES
    return {"bytes": max(16, round(part))}


redis("redis_list", note="a list in redis, trimmed to a number of entries", family="redis-list",
      mode="list", count=span(20, 400), given=kept)
redis_leak("leak_redis_list", note="a list in redis that nobody trims", family="redis-list",
           mode="list_all", count=span(20, 400), given=added)
redis("redis_expiry", note="hashes in redis expire some time after they were made",
      family="redis-hash", mode="hash", count=span(20, 300), given=expiring)
redis_leak("leak_redis_hash", note="hashes in redis that never expire", family="redis-hash",
           mode="hash_all", count=span(20, 300), given=added)
redis("redis_sorted", note="a sorted set in redis with a number of members", family="redis-sorted",
      mode="sorted", count=span(20, 300), given=kept)
redis_leak("leak_redis_sorted", note="a sorted set in redis with ever new members",
           family="redis-sorted", mode="sorted_all", count=span(20, 300), given=added)
bounded("memcached_keys", workload="serving/memcached_keys.py", family="memcached-keys",
        note="memcached with a number of keys, all of which fit, set at random",
        keys=span(300, 3000), given=lambda draw: {
            "count": max(2, round(draw.keys * 8.0 / draw.end_step())),
            "bytes": round(draw.grown_mb(5.0, 200.0) * 2**20 / draw.keys)})

# --- PostgreSQL ----------------------------------------------------------------------------------

postgres = functools.partial(bounded, workload="serving/postgres_memory.py", steps=span(120, 250))
postgres_leak = functools.partial(leak, workload="serving/postgres_memory.py", steps=span(120, 250))

postgres("postgres_sessions", note="sessions of a pool with a number of them stay open",
         family="postgres-sessions", mode="sessions", limit=span(6, 30), number=5,
         given=lambda draw: {"every_steps": max(1, draw.end_step() // draw.limit)})
postgres_leak("leak_postgres_sessions", note="sessions are opened and never closed", number=5,
              family="postgres-sessions", mode="sessions_all", every_steps=span(3, 10))
postgres("postgres_sorts", note="sorts in memory, up to a largest size", cause="allocator",
         number=5, family="postgres-sorts", mode="sorts", rows=span(5000, 60000))
postgres("postgres_temporary", note="a temporary table is emptied at intervals; its buffers have a "
         "bound", family="postgres-temporary", mode="temporary", number=5, buffers_mb=span(8, 60),
         given=lambda draw: {"limit": draw.span(draw.steps // 8, draw.steps // 2), "rows": max(
             20, round(draw.buffers_mb * 5200 / draw.end_step()))})

# --- a web server --------------------------------------------------------------------------------

web = functools.partial(bounded, workload="serving/web.py", steps=span(120, 400))
web_leak = functools.partial(leak, workload="serving/web.py", steps=span(120, 400))
MEAN_SHARE = 0.32  # of the largest answer, at which sizes are cut


def sessions(draw):
    end = draw.end_step()
    part_kb = draw.grown_mb(5.0, 200.0) * 1024 / end / draw.requests / MEAN_SHARE
    return {"limit": end * draw.requests, "part_kb": round(part_kb, 3)}


web("web_sessions", note="a web server keeps the last sessions", family="web", mode="sessions",
    requests=span(1, 8), given=sessions)
web_leak("leak_web_sessions", note="a web server keeps the session of everyone who ever came",
         family="web", mode="sessions_all", requests=span(1, 8), given=lambda draw: {
             "part_kb": round(draw.leaked_mb() * 1024 / draw.steps / draw.requests
                              / MEAN_SHARE, 3)})
web("web_buffers", note="each place of a web server keeps the largest answer so far; answers have "
    "a largest size", family="web-buffers", mode="buffers", requests=span(1, 8), number=4,
    limit=span(5, 60), given=lambda draw: {
        "part_kb": round(draw.grown_mb(5.0, 150.0) * 1024 / draw.limit, 3)})
web("web_stateless", note="a web server that keeps nothing", family="web-stateless", number=4,
    mode="stateless", requests=span(1, 8), part_kb=span(10.0, 1500.0))
