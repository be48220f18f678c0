// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntConsumer;

/** What the Java workloads share; the words are those of steps.py. */
final class Steps {
  private final Map<String, String> values = new HashMap<>();
  private final List<byte[]> model = new ArrayList<>();
  private final ArrayDeque<byte[]> prefetched = new ArrayDeque<>();
  private final BufferedReader answers = new BufferedReader(new InputStreamReader(System.in));
  private long leaked = 0;
  private int ended = -1;
  final Random random;

  Steps(String[] arguments) {
    for (String pair : arguments) {
      int equals = pair.indexOf('=');
      values.put(pair.substring(0, equals), pair.substring(equals + 1));
    }
    random = new Random((long) number("seed", 1));
    for (int i = 0; i < number("model_mb", 40); ++i) model.add(filled(1 << 20));
  }

  String text(String key, String otherwise) { return values.getOrDefault(key, otherwise); }

  double number(String key, double otherwise) {
    return values.containsKey(key) ? Double.parseDouble(values.get(key)) : otherwise;
  }

  double uniform(double low, double high) { return low + (high - low) * random.nextDouble(); }

  void leak(long bytes) { leaked += bytes; }

  void growthEnds(int step) { if (ended < 0) ended = step; }

  static byte[] filled(int size) {
    byte[] buffer = new byte[size];
    java.util.Arrays.fill(buffer, (byte) 0x5a);
    return buffer;
  }

  /** Makes the temporary objects of one step. */
  private void train() {
    prefetched.add(filled((int) (uniform(0.05, 0.5) * number("noise_mb", 4) * (1 << 20))));
    if (prefetched.size() > 4) prefetched.poll();
    List<double[]> scratch = new ArrayList<>();
    for (int i = 0; i < uniform(100, 2000); ++i) scratch.add(new double[] {i, i * 0.5});
  }

  void run(IntConsumer work) throws IOException, InterruptedException {
    int steps = (int) number("steps", 200);
    for (int step = 1; step <= steps; ++step) {
      train();
      work.accept(step);
      Thread.sleep((long) number("pace_ms", 12));
      System.out.println("STEP " + step);
      System.out.flush();
      if (answers.readLine() == null) return;
    }
    System.out.println("DONE leaked=" + leaked + " ended=" + (ended < 0 ? "never" : ended));
    System.out.flush();
  }
}
