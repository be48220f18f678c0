# SPDX-License-Identifier: Apache-2.0
# What a Ruby service holds. mode=ring: the last `limit` records; array: all. hash: a hash with at
# most `limit` keys; symbols: strings made symbols that a method table keeps for ever. `count` items
# of `bytes` come at each step.
require "steps"

job = Job.new(mode: "ring", limit: 100, count: 4, bytes: 1000)
records, table, made = [], {}, 0
job.run do |step|
  job[:count].times do
    made += 1
    case job[:mode]
    when "ring", "array"
      records << {step: step, body: "z" * job.size}
      job.leak(job[:bytes]) if job[:mode] == "array"
      if job[:mode] == "ring" && records.size > job[:limit]
        records.shift
        job.growth_ends(step)
      end
    when "hash"
      table["key#{made}"] = "v" * job.size
      if table.size > job[:limit]
        table.shift
        job.growth_ends(step)
      end
    else
      name = "step_#{made}_".ljust(job.size, "s")
      job.define_singleton_method(name) { made }  # pins the symbol and its block
      job.leak(job[:bytes])
    end
  end
end
