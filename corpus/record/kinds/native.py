# SPDX-License-Identifier: Apache-2.0
"""Programs in C++: containers, pools, threads and libc; each bounded and as a leak."""
import functools

from kinds import GLIBC, ONE_ARENA, drawn, one_of, span

native = functools.partial(drawn, number=5, runtime="cc")
bounded = functools.partial(native, label="plateau", cause="native-bounded")
leak = functools.partial(native, label="leak", cause="native-live")


def leaked(draw, key="bytes", least=16, high=200.0, **more):
    """A leak of a drawn size over the run, `count` parts at each step."""
    part = draw.leaked_mb(high=high) * 2**20 / draw.steps / draw.count
    return {key: max(least, round(part))} | more


def filled(draw, per_step=False, least=16, high=400.0):
    """Growth of a drawn size that ends at a drawn step; `limit` counts the parts, or the steps."""
    end = draw.end_step()
    part = draw.grown_mb(high=high) * 2**20 / end / draw.count
    return {"limit": end if per_step else end * draw.count, "bytes": max(least, round(part))}


def seen_all(draw, draws_per_part=6.0):
    """Growth that ends when each of the parts was drawn at random once."""
    parts = draw.span(40, 200)
    return {"limit": parts, "count": max(1, round(parts * draws_per_part / draw.end_step())),
            "bytes": round(draw.grown_mb() * 2**20 / parts)}


# --- containers ----------------------------------------------------------------------------------

held = functools.partial(bounded, workload="native/containers.cc")
held_leak = functools.partial(leak, workload="native/containers.cc")

held("vector_filled", note="a vector that doubles its room is filled up to a number of items",
     family="vector", mode=0, count=span(10, 1000), given=filled)
held_leak("leak_vector", note="items are pushed to a vector that doubles its room, without end",
          family="vector", mode=1, count=span(10, 1000), given=leaked)
held("tree_bounded", note="a sorted map deletes an old entry for each new one beyond a number",
     family="tree", mode=2, count=span(20, 1000), given=functools.partial(filled, high=150.0))
held_leak("leak_tombstones", note="deletes only mark the entries of a sorted map", family="tree",
          mode=3, count=span(20, 1000), given=leaked)
held("trie_finite", note="a trie over a finite list of words", family="trie", mode=4,
     count=span(20, 300), given=filled)
held_leak("leak_trie", note="a trie over words that never end", family="trie", mode=5,
          count=span(20, 300), given=leaked)
held("pairs_cut", note="pairs of shared pointers are cut open after some steps",
     family="shared-pointers", mode=6, count=span(5, 300),
     given=functools.partial(filled, per_step=True))
held_leak("leak_shared_pointers", note="pairs of shared pointers refer to each other for ever",
          family="shared-pointers", mode=7, count=span(5, 300), given=leaked)

# --- pools ---------------------------------------------------------------------------------------

pool = functools.partial(bounded, cause="allocator", workload="native/pools.cc")
pool_leak = functools.partial(leak, workload="native/pools.cc")


def pool_of(draw, mb):
    limit = draw.span(200, 5000)
    return {"limit": limit, "bytes": max(64, round(mb * 2**20 / limit))}


def pool_leaks(draw):
    """The demand wanders over a few MB; one block of some is never given back."""
    count = draw.span(1, 12)
    part = round(draw.leaked_mb() * 2**20 / draw.steps / count)
    return {"count": count, "bytes": part,
            "limit": max(10, round(draw.span(1.0, 20.0) * 2**20 / part))}


def store(draw):
    return {"bytes": max(64, round(draw.grown_mb(5.0, 150.0) * 2**20 / draw.count / 12))}


def store_leaks(draw):
    """One table of some is sealed every eight steps and stays."""
    part = draw.leaked_mb() * 2**20 * 8 / draw.steps / draw.count
    return {"bytes": max(64, round(part))}


pool("pool_doubling", note="slabs that double serve a demand with a bound", family="pool", mode=0,
     given=lambda draw: pool_of(draw, draw.grown_mb()) | {"rise": draw.end_step()})
pool_leak("leak_pool", note="one of some blocks is never given back to its pool", family="pool",
          mode=1, rise=span(5, 60), given=pool_leaks)
pool("arena_record", note="an arena keeps the room of its largest step; steps have a largest size",
     family="arena", mode=2, tail=span(2.5, 8.0),
     given=lambda draw: pool_of(draw, draw.grown_mb()))
pool_leak("leak_arena", note="what a step marks as kept is never reset", family="arena", mode=3,
          tail=span(4.0, 8.0), count=1, given=lambda draw: leaked(draw, limit=draw.span(5, 60)))
pool("store_compacted", note="full tables are merged down three levels, which have a bound each",
     family="store", mode=4, limit=one_of(1, 2, 2, 3), count=span(5, 100), given=store)
pool_leak("leak_store", note="merged tables stay referenced", family="store", mode=5,
          limit=one_of(1, 2), count=span(5, 100), given=store_leaks)
pool("free_lists", note="buffers of a number of sizes wait for their next use", family="free-list",
     mode=6, given=lambda draw: seen_all(draw, 8.0))
pool_leak("leak_free_list", note="sizes never repeat, so that no buffer on the list ever fits",
          family="free-list", mode=7, count=span(1, 50), given=leaked)
pool("mappings_bounded", note="the last anonymous mappings stay mapped", family="mappings", mode=8,
     count=span(1, 8), given=functools.partial(filled, least=4096))
pool_leak("leak_anonymous", note="anonymous mappings are never unmapped", family="mappings", mode=9,
          count=span(1, 8), given=functools.partial(leaked, least=4096))

# --- threads and libc ----------------------------------------------------------------------------

libc = functools.partial(bounded, workload="native/threads_and_libc.cc")
libc_leak = functools.partial(leak, workload="native/threads_and_libc.cc")
OF_GLIBC = one_of(GLIBC, GLIBC, ONE_ARENA)


def piles(draw, shortest=12, longest=3):
    period = draw.span(draw.steps // shortest, draw.steps // longest)
    part = draw.grown_mb(5.0, 150.0) * 2**20 / period / draw.count
    return {"limit": period, "bytes": max(16, round(part))}


def fragments(draw):
    """The bytes alive are those of about half of `limit` steps."""
    limit = draw.span(5, 60)
    part = draw.span(5.0, 60.0) * 2**20 / draw.count / limit * 2
    return {"limit": limit, "bytes": max(32, round(part))}


def survivors(draw):
    """One block of sixteen survives."""
    values = fragments(draw)
    part = draw.leaked_mb(high=60.0) * 2**20 / draw.steps / draw.count * 16
    return values | {"rest": max(16, round(part))}


libc("thread_caches", note="a cache per thread, made when the thread first gets work, at random",
     cause="threads", family="thread-caches", mode=0, given=seen_all)
libc_leak("leak_thread_caches", note="a table keeps the cache of each thread that ended",
          cause="threads", family="thread-caches", mode=1, count=span(1, 4), given=leaked)
libc("environment_set", note="a number of values of the environment, set in turn",
     family="environment", mode=2, count=span(2, 60), allocator=OF_GLIBC, given=filled)
libc_leak("leak_environment", note="glibc keeps each value that setenv was ever given",
          family="environment", mode=3, count=span(2, 60), allocator=OF_GLIBC, given=leaked)
libc("patterns_kept", note="the last compiled patterns", family="regcomp", mode=4, count=1,
     allocator=OF_GLIBC, bytes=span(200, 1500), given=lambda draw: {"limit": draw.end_step()})
libc_leak("leak_regcomp", note="regfree is never called", family="regcomp", mode=5, count=1,
          allocator=OF_GLIBC, bytes=span(200, 1500))
libc("streams_open", note="the last streams stay open, each with its buffer", family="streams",
     mode=6, count=span(1, 6), given=functools.partial(filled, least=512, high=150.0))
libc_leak("leak_streams", note="fclose is never called", family="streams", mode=7,
          count=span(1, 6), given=functools.partial(leaked, least=512))
libc("piles_trimmed", note="blocks pile up over some steps, are freed together and trimmed",
     cause="sawtooth", family="trim", mode=8, count=span(2, 100), given=piles)
libc_leak("leak_trimmed", note="of blocks that are freed together and trimmed a few are forgotten",
          family="trim", mode=9, count=span(2, 100), given=lambda draw: piles(draw, 30, 7)
          | {"rest": round(draw.leaked_mb() * 2**20 / draw.steps)})
libc("fragments", note="blocks of changing sizes; the bytes alive have a bound", cause="allocator",
     family="fragments", folder="fit", mode=10, count=span(50, 600), given=fragments)
libc_leak("leak_fragments", note="small blocks survive among freed ones and pin their pages",
          family="fragments", folder="fit", mode=11, count=span(50, 600), given=survivors)
