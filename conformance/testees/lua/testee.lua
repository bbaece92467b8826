-- The testee of storm.lua: it does what a tuple (a bolt) or the conf (a spout)
-- tells it. The contract is mlcheck docs testees.
--
--   lua5.4 testee.lua bolt|basic|spout

package.path = (arg[0]:match("^.*/") or "./") .. "?.lua;" .. package.path
local mutant = os.getenv "MLCHECK_MUTANT"
if mutant then require "mutants".plant(mutant) end -- it stands between the library and the pipes
local storm = require "storm"

local function is_plan(value)
  if not storm.is_array(value) or #value == 0 then return false end
  for _, action in ipairs(value) do
    if not storm.is_object(action) or action["do"] == nil then return false end
  end
  return true
end

local actions = {}

-- given: input (a tuple), or id of a spout's emit
function actions.emit(self, action, input)
  local options = { stream = action.stream, task = action.task, id = action.id, need_task_ids = action.ids }
  if self.kind == "bolt" then
    options.anchors = {}
    for i, name in ipairs(action.anchors or { "input" }) do
      options.anchors[i] = name == "input" and input or self.held[name]
    end
  end
  self.task_ids = self:emit(action.values, options) or self.task_ids
end

function actions.echo(self, _, input)
  self:emit(table.move(input.values, 2, #input.values, 1, {}), { anchors = self.kind == "bolt" and input or nil })
end

local function named(self, action, input)
  local name = action.tuple or "input"
  return name == "input" and input or self.held[name]
end
function actions.ack(self, action, input) self:ack(named(self, action, input)) end
function actions.fail(self, action, input) self:fail(named(self, action, input)) end
function actions.hold(self, action, input) self.held[action.as] = input end

function actions.log(self, action) self:log(action.message, action.level or "info") end
function actions.error(self, action) self:error(action.message) end
function actions.raise(_, action) error(action.message) end
function actions.unencodable(self) self:emit({ 0 / 0 }) end
function actions.exit(_, action) os.exit(action.code) end
function actions.sleep(_, action) storm.sleep(action.seconds) end
function actions.print(_, action) print(action.text) end
function actions.stderr(_, action) io.stderr:write(("e"):rep(action.bytes)) end

function actions.tell(self, action, input)
  local answer
  if action.what == "tuple" then
    answer = storm.object { id = input.id, component = input.component, stream = input.stream,
                            task = input.task, values = input.values }
  elseif action.what == "conf" then answer = self.conf
  elseif action.what == "context" then answer = self.context
  elseif action.what == "task_ids" then answer = self.task_ids
  elseif action.what == "calls" then answer, self.calls = self.calls, storm.array()
  end
  self:emit({ action.what, answer }, { stream = "told", anchors = self.kind == "bolt" and {} or nil })
end

local function carry_out(self, plan, input)
  for _, action in ipairs(plan) do actions[action["do"]](self, action, input) end
end

local function begin(self) self.task_ids, self.held, self.calls = storm.array(), {}, storm.array() end

local function collected(self, tuple)
  if is_plan(tuple.values[1]) then carry_out(self, tuple.values[1], tuple) else self:emit(tuple.values) end
end

local parts = {}

function parts.bolt()
  return storm.bolt {
    kind = "bolt", initialize = begin,
    process = function(self, tuple)
      if is_plan(tuple.values[1]) then carry_out(self, tuple.values[1], tuple)
      else
        self:emit(tuple.values, { anchors = tuple })
        self:ack(tuple)
      end
    end,
    tick = function(self, tuple) self:ack(tuple) end,
  }
end

function parts.basic() return storm.basic_bolt { kind = "basic", initialize = begin, process = collected } end

function parts.spout()
  local function called(name)
    return function(self, id)
      table.insert(self.calls, storm.array { name, id })
      if self.plan and self.plan[name] then carry_out(self, self.plan[name]) end
    end
  end
  local spout = { kind = "spout", activate = called "activate", deactivate = called "deactivate" }
  for _, name in ipairs { "ack", "fail" } do
    local told = called(name)
    spout[name] = function(self, id)
      told(self, id)
      if name == "fail" and not self.plan then table.insert(self.again, id) end
    end
  end
  function spout.initialize(self, conf)
    begin(self)
    self.nth, self.again, self.plan = 0, {}, conf["mlcheck.testee"]
    if self.plan and self.plan.initialize then carry_out(self, self.plan.initialize) end
  end
  function spout.next_tuple(self)
    table.insert(self.calls, storm.array { "next" })
    local id = not self.plan and table.remove(self.again, 1)
    if not id then
      self.nth = self.nth + 1
      if self.plan then
        carry_out(self, self.plan.next and self.plan.next[self.nth] or {})
        return
      end
      id = tostring(self.nth)
    end
    self:emit({ "word " .. id }, { id = id })
  end
  return storm.spout(spout)
end

parts[arg[1]]():run()
