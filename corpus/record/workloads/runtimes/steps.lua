-- SPDX-License-Identifier: Apache-2.0
-- What the Lua workloads share; the words are those of steps.py.
local Job = {}
Job.__index = Job

function Job.new(defaults)
  local job = {steps = 200, epoch_steps = 0, batch = 1, seed = 1, model_mb = 40, noise_mb = 4,
               pace_ms = 12, leaked = 0, ended = "never", model = {}, prefetched = {}}
  for key, value in pairs(defaults) do job[key] = value end
  for _, pair in ipairs(arg) do
    local key, value = pair:match("^([^=]+)=(.*)$")
    assert(job[key] ~= nil, "unknown parameter " .. key)
    job[key] = tonumber(value) or value
  end
  math.randomseed(job.seed)
  for i = 1, job.model_mb do job.model[i] = string.rep("Z", 1048576) end
  return setmetatable(job, Job)
end

function Job:uniform(low, high) return low + (high - low) * math.random() end
function Job:size() return math.max(1, math.floor(self.bytes * self:uniform(0.5, 1.5))) end
function Job:leak(size) self.leaked = self.leaked + size end
function Job:growth_ends(step) if self.ended == "never" then self.ended = step end end

-- Calls work(step) for each step. Lua cannot sleep: the recorder's answer paces it.
function Job:run(work)
  io.stdout:setvbuf("line")
  for step = 1, self.steps do
    local size = self:uniform(0.05, 0.5) * self.noise_mb * 1048576
    self.prefetched[step % 4] = string.rep("n", math.floor(size))
    for i = 1, math.random(100, 1000) do local _ = {loss = i * 0.5, tokens = {i, i}} end
    work(step)
    print("STEP " .. step)
    if not io.read("l") then os.exit(1) end
  end
  print(string.format("DONE leaked=%d ended=%s", self.leaked, self.ended))
end

return Job
