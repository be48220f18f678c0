-- SPDX-License-Identifier: Apache-2.0
-- What a Lua service holds. mode=ring: the last `limit` strings; table: all. weak: a cache with
-- weak values, emptied whenever the collector runs; registry: handlers that a registry keeps for
-- ever. `count` items of `bytes` come at each step.
package.path = arg[0]:match("^(.*)/") .. "/?.lua;" .. package.path
local Job = require("steps")

local job = Job.new({mode = "ring", limit = 100, count = 4, bytes = 1000})
local kept, weak, made = {}, setmetatable({}, {__mode = "v"}), 0
if job.mode == "weak" then collectgarbage("setpause", job.limit) end

local MODES = {
  ring = function(step)
    kept[made % job.limit] = string.rep("z", job:size()) .. made
    if made > job.limit then job:growth_ends(step) end
  end,
  table = function()
    kept[made] = string.rep("z", job:size()) .. made
    job:leak(job.bytes)
  end,
  weak = function(step)
    weak[made] = {body = string.rep("w", job:size()) .. made}
    if step > 60 then job:growth_ends(step) end
  end,
  registry = function()
    local body = string.rep("r", job:size()) .. made
    kept["handler" .. made] = function() return #body end
    job:leak(job.bytes)
  end,
}

job:run(function(step)
  for _ = 1, job.count do
    made = made + 1
    MODES[job.mode](step)
  end
end)
