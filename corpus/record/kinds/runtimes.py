# SPDX-License-Identifier: Apache-2.0
"""Other runtimes: Node, Java, Perl, Ruby, Lua, PHP; each bounded and as a leak.

What is measured is the process, with the collector's slack: a heap may grow for a while although
nothing leaks, and a leak may hide below the heap's present size. Bounded processes of Node and Java
have a limit to their heap, as in production.
"""
import functools

from kinds import GLIBC, JEMALLOC, MIMALLOC, ONE_ARENA, TCMALLOC, drawn, one_of, span

kind = functools.partial(drawn, number=4, model_mb=span(2, 150), count=span(2, 60))
bounded = functools.partial(kind, label="plateau", cause="runtime")
leak = functools.partial(kind, label="leak", cause="runtime")
LIGHT = one_of(GLIBC, GLIBC, GLIBC, ONE_ARENA, JEMALLOC, TCMALLOC, MIMALLOC)
HEAVY = one_of(GLIBC, GLIBC, ONE_ARENA, JEMALLOC)  # those that are used with these runtimes


def filled(draw, high=120.0):
    """`limit` items, reached at a drawn step."""
    limit = draw.end_step() * draw.count
    return {"limit": limit, "bytes": max(16, round(draw.grown_mb(5.0, high) * 2**20 / limit))}


def leaked(draw, high=200.0):
    return {"bytes": max(16, round(draw.leaked_mb(high=high) * 2**20 / draw.steps / draw.count))}


def garbage(draw):
    return {"bytes": round(draw.span(0.2, 4.0) * 2**20 / draw.count)}


# --- Node ----------------------------------------------------------------------------------------

HEAP_LIMITS = one_of("--max-old-space-size=200", "--max-old-space-size=300")
node = functools.partial(bounded, runtime="node", workload="runtimes/holders.js", allocator=HEAVY,
                         options=HEAP_LIMITS)
node_leak = functools.partial(leak, runtime="node", workload="runtimes/holders.js", allocator=HEAVY)

node("node_ring", note="a Node process keeps the last records", family="node-array", mode="ring",
     given=filled)
node_leak("leak_node_array", note="a Node process keeps all records in an array",
          family="node-array", mode="array", given=leaked)
node("node_map", note="a Map with a number of entries, the oldest dropped", family="node-map",
     mode="map", given=filled)
node_leak("leak_node_map", note="a Map whose keys never repeat", family="node-map", mode="map_all",
          given=leaked)
node("node_once", note="listeners are removed after a while", family="node-listeners", mode="once",
     given=filled)
node_leak("leak_node_listeners", note="listeners that capture a batch are never removed",
          family="node-listeners", mode="listeners", given=leaked)
node("node_buffers", note="the last Buffers, outside of the heap", family="node-buffers",
     mode="buffers", given=filled)
node_leak("leak_node_buffers", note="all Buffers are kept, outside of the heap",
          family="node-buffers", mode="buffers_all", given=leaked)
node("node_garbage", note="objects die young; the collector decides when", family="node-garbage",
     mode="garbage", count=span(2, 20), bytes=span(50, 1500))

# --- Java ----------------------------------------------------------------------------------------

LARGE_HEAPS = one_of("-Xmx700m -XX:+UseSerialGC", "-Xmx900m -XX:+UseG1GC", "-Xmx800m",
                     "-Xms64m -Xmx1g -XX:+UseParallelGC")
SMALL_HEAPS = one_of("-Xmx300m -XX:+UseSerialGC", "-Xmx350m -XX:+UseG1GC",
                     "-Xmx400m -XX:+UseParallelGC")
java = functools.partial(bounded, runtime="java", workload="runtimes/Holders.java", allocator=HEAVY,
                         options=SMALL_HEAPS, model_mb=span(2, 60))
java_leak = functools.partial(leak, runtime="java", workload="runtimes/Holders.java",
                              allocator=HEAVY, options=LARGE_HEAPS)

java("java_ring", note="a Java process keeps the last records", family="java-list", mode="ring",
     given=filled)
java_leak("leak_java_list", note="a Java process keeps all records in a list", family="java-list",
          mode="list", given=leaked)
java("java_lru", note="a LinkedHashMap with a number of entries", family="java-map", mode="lru",
     given=filled)
java_leak("leak_java_map", note="a HashMap whose keys never repeat", family="java-map", mode="map",
          given=leaked)
java("java_direct", note="direct buffers outside of the heap, a number of them, used in turn",
     family="java-direct", mode="direct", count=span(1, 10), given=filled)
java_leak("leak_java_direct", note="ever new direct buffers outside of the heap",
          family="java-direct", mode="direct_all", count=span(1, 10), given=leaked)
java("java_garbage", note="objects die young, below the largest heap", family="java-garbage",
     mode="garbage", given=garbage)

# --- Perl, Ruby, Lua, PHP ------------------------------------------------------------------------

perl = functools.partial(bounded, runtime="perl", workload="runtimes/holders.pl", allocator=LIGHT)
perl_leak = functools.partial(leak, runtime="perl", workload="runtimes/holders.pl", allocator=LIGHT)
ruby = functools.partial(bounded, runtime="ruby", workload="runtimes/holders.rb", allocator=LIGHT)
ruby_leak = functools.partial(leak, runtime="ruby", workload="runtimes/holders.rb", allocator=LIGHT)
lua = functools.partial(bounded, runtime="lua", workload="runtimes/holders.lua", allocator=LIGHT)
lua_leak = functools.partial(leak, runtime="lua", workload="runtimes/holders.lua", allocator=LIGHT)
# PHP binds its modules to their own malloc, and a preloaded one makes it crash.
OF_PHP = one_of(GLIBC, GLIBC, ONE_ARENA)
php = functools.partial(bounded, runtime="php", workload="runtimes/holders.php", allocator=OF_PHP)
php_leak = functools.partial(leak, runtime="php", workload="runtimes/holders.php", allocator=OF_PHP)

perl("perl_weak", note="the last pairs, of which one side refers weakly", family="perl-cycles",
     mode="weak", given=filled)
perl_leak("leak_perl_cycles", note="pairs that refer to each other; Perl only counts references",
          family="perl-cycles", mode="cycles", given=leaked)
perl("perl_hash", note="a hash with a number of keys", family="perl-hash", mode="hash",
     given=filled)
perl_leak("leak_perl_hash", note="a hash whose keys never repeat", family="perl-hash",
          mode="hash_all", given=leaked)
ruby("ruby_ring", note="a Ruby process keeps the last records", family="ruby-array", mode="ring",
     given=filled)
ruby_leak("leak_ruby_array", note="a Ruby process keeps all records", family="ruby-array",
          mode="array", given=leaked)
ruby("ruby_hash", note="a hash with a number of keys, the oldest dropped", family="ruby-hash",
     mode="hash", given=filled)
ruby_leak("leak_ruby_methods", note="methods are defined under ever new names",
          family="ruby-symbols", mode="symbols", given=leaked)
lua("lua_ring", note="a Lua process keeps the last strings", family="lua-table", mode="ring",
    given=filled)
lua_leak("leak_lua_table", note="a Lua process keeps all strings", family="lua-table", mode="table",
         given=leaked)
lua("lua_weak", note="a cache with weak values, emptied whenever the collector runs",
    family="lua-registry", mode="weak", limit=one_of(150, 200, 300, 400), given=garbage)
lua_leak("leak_lua_registry", note="a registry keeps handlers with what they capture",
         family="lua-registry", mode="registry", given=leaked)
php("php_cache", note="an array with a number of entries", family="php-cache", mode="cache",
    given=filled)
php_leak("leak_php_cache", note="an array whose keys never repeat", family="php-cache",
         mode="cache_all", given=leaked)
php("php_collected", note="objects in cycles, found by the collector after ten thousand",
    family="php-cycles", mode="collected", count=span(20, 150),
    given=lambda draw: {"bytes": round(draw.span(5.0, 120.0) * 2**20 / 10000)})
php_leak("leak_php_cycles", note="objects in cycles while the collector is off",
         family="php-cycles", mode="cycles", given=leaked)
