# SPDX-License-Identifier: Apache-2.0
# What the Ruby workloads share; the words are those of steps.py.
class Job
  attr_reader :random

  def initialize(**defaults)
    @values = {steps: 200, epoch_steps: 0, batch: 1, seed: 1, model_mb: 40, noise_mb: 4.0,
               pace_ms: 12.0}.merge(defaults)
    ARGV.each do |pair|
      key, value = pair.split("=", 2)
      old = @values.fetch(key.to_sym)
      @values[key.to_sym] = old.is_a?(String) ? value : (old.is_a?(Float) ? value.to_f : value.to_i)
    end
    @random = Random.new(self[:seed])
    @model = Array.new(self[:model_mb]) { fill(1 << 20) }
    @prefetched = []
    @leaked, @ended = 0, "never"
  end

  def [](key) = @values.fetch(key)
  def fill(size) = "\x5a".b * size.to_i
  def size = [1, (self[:bytes] * @random.rand(0.5..1.5)).to_i].max
  def leak(size) = @leaked += size
  def growth_ends(step) = @ended = @ended == "never" ? step : @ended

  # Yields each step.
  def run
    $stdout.sync = true
    1.upto(self[:steps]) do |step|
      @prefetched << fill(@random.rand(0.05..0.5) * self[:noise_mb] * 1048576)
      @prefetched.shift if @prefetched.size > 4
      Array.new(@random.rand(100..2000)) { |i| {loss: i * 0.5, tokens: [i, i]} }
      yield step
      sleep(self[:pace_ms] / 1000)
      puts "STEP #{step}"
      exit 1 unless $stdin.gets
    end
    puts "DONE leaked=#{@leaked} ended=#{@ended}"
  end
end
