// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a Java service holds. mode=ring: the last `limit` records; list: all. lru: a LinkedHashMap
 * with at most `limit` entries; map: a HashMap without limit. direct: `limit` direct buffers,
 * outside of the heap, used again in turn; direct_all: ever new ones. garbage: objects that die
 * young, below the largest heap. `count` items of `bytes` come at each step.
 */
final class Holders {
  private static final int OBJECT_BYTES = 64;  // of an entry or array beside its content
  private final Steps job;
  private final String mode;
  private final int limit, count, bytes;
  private final ArrayDeque<byte[]> records = new ArrayDeque<>();
  private final ArrayDeque<ByteBuffer> buffers = new ArrayDeque<>();
  private final Map<String, byte[]> map = new HashMap<>();
  private final Map<String, byte[]> lru = new LinkedHashMap<>(16, 0.75f, true);
  private long made = 0;

  private Holders(Steps job) {
    this.job = job;
    mode = job.text("mode", "ring");
    limit = (int) job.number("limit", 100);
    count = (int) job.number("count", 4);
    bytes = (int) job.number("bytes", 1000);
  }

  private int size() { return Math.max(1, (int) (bytes * job.uniform(0.5, 1.5))); }

  private void work(int step) {
    for (int i = 0; i < count; ++i, ++made) {
      switch (mode) {
        case "ring", "list" -> records.add(Steps.filled(size()));
        case "lru" -> lru.put("key" + made, Steps.filled(size()));
        case "map" -> map.put("key" + made, Steps.filled(size()));
        case "direct", "direct_all" -> direct();
        default -> garbage();
      }
      if (mode.equals("list") || mode.equals("map")) job.leak(bytes + OBJECT_BYTES);
      if (mode.equals("direct_all")) job.leak(bytes);
    }
    bound(step);
  }

  /** Fills a direct buffer: a new one, or the oldest of those there are. */
  private void direct() {
    boolean old = mode.equals("direct") && buffers.size() >= limit;
    ByteBuffer buffer = old ? buffers.poll() : ByteBuffer.allocateDirect(bytes);
    buffer.clear();
    buffer.put(Steps.filled(bytes));
    buffers.add(buffer);
  }

  private void garbage() {
    StringBuilder text = new StringBuilder();
    for (int n = 0; n < bytes / 20; ++n) text.append(n).append(job.random.nextInt());
    map.put("last", text.toString().getBytes());
  }

  private void bound(int step) {
    while (mode.equals("ring") && records.size() > limit) records.poll();
    while (mode.equals("lru") && lru.size() > limit) lru.remove(lru.keySet().iterator().next());
    boolean bounded = mode.equals("ring") || mode.equals("lru") || mode.equals("direct");
    if (bounded && made > limit) job.growthEnds(step);
  }

  public static void main(String[] arguments) throws Exception {
    Steps job = new Steps(arguments);
    job.run(new Holders(job)::work);
  }
}
