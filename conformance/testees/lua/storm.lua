-- A library for spouts and bolts of Apache Storm in Lua 5.4, without
-- dependencies. Written from the multilang protocol of mlcheck alone; the ids
-- in brackets are its sentences.
--
--   local storm = require "storm"
--   local bolt = storm.bolt {
--     initialize = function(self, conf, context) end,            -- may be left out
--     process = function(self, tuple) self:ack(tuple) end,
--     tick = function(self, tuple) self:ack(tuple) end,          -- without it, ticks go to process
--   }
--   bolt:run()
--
-- storm.basic_bolt anchors and acks by itself, storm.batch_bolt collects, and
-- storm.spout has next_tuple, ack, fail, activate and deactivate.
--
-- JSON null is storm.null. A table is an array if its keys are 1 to n, an object
-- if all are strings; an empty one is an array, storm.object {} is an empty object.

local storm = {}

----------------------------------------------------------------------------
-- JSON

local null = setmetatable({}, {
  __tostring = function() return "null" end,
  __newindex = function() error("storm.null can't be changed", 2) end,
})
local array_mt, object_mt = { __name = "storm.array" }, { __name = "storm.object" }
local literal_mt = { __name = "storm.literal", __tostring = function(n) return n.text end }

storm.null = null
function storm.array(t) return setmetatable(t or {}, array_mt) end
function storm.object(t) return setmetatable(t or {}, object_mt) end
function storm.is_array(v) return getmetatable(v) == array_mt end
function storm.is_object(v) return getmetatable(v) == object_mt end

local MAX_DEPTH = 400 -- [json.depth]
local find, sub, byte, char, format = string.find, string.sub, string.byte, string.char, string.format

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f",
                  ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
local function escape(c) return escapes[c] or format("\\u%04x", byte(c)) end
local function escape_surrogate(bytes) return format("\\u%04x", utf8.codepoint(bytes, 1, 1, true)) end

-- Half of a surrogate pair has no UTF-8. It is kept as utf8.char makes it.
local function valid_utf8(s)
  if utf8.len(s) then return true end
  return utf8.len((s:gsub("\xED[\xA0-\xBF][\x80-\xBF]", "?"))) ~= nil
end

local function quote(s)
  if not valid_utf8(s) then
    error("a string is not UTF-8 and can't be written as JSON: " .. format("%q", sub(s, 1, 40)), 0)
  end
  if find(s, '[%c"\\]') then s = s:gsub('[%c"\\]', escape) end -- U+007F too [json.delete]
  if find(s, "\xED[\xA0-\xBF]") then s = s:gsub("\xED[\xA0-\xBF][\x80-\xBF]", escape_surrogate) end
  return '"' .. s .. '"'
end

local function number(n)
  if math.type(n) == "integer" then return format("%d", n) end
  if n ~= n or n == math.huge or n == -math.huge then
    error(tostring(n) .. " can't be written as JSON", 0)
  end
  local text
  for digits = 15, 17 do -- the shortest that reads back: [json.fractions.long]
    text = format("%." .. digits .. "g", n):gsub(",", ".")
    if tonumber(text) == n then break end
  end
  if not find(text, "[.e]") then text = text .. ".0" end
  return text
end

local encode_value

local function encode_array(t, n, out, depth)
  out[#out + 1] = "["
  for i = 1, n do
    if i > 1 then out[#out + 1] = "," end
    encode_value(t[i], out, depth)
  end
  out[#out + 1] = "]"
end

local function encode_table(t, out, depth)
  if depth > MAX_DEPTH then error("nested deeper than " .. MAX_DEPTH, 0) end
  local mt = getmetatable(t)
  local count, strings = 0, 0
  for k in next, t do
    count = count + 1
    if type(k) == "string" then strings = strings + 1 end
  end
  if mt == object_mt or (strings > 0 and mt ~= array_mt) then
    if strings < count then error("an object has a key that is no string", 0) end
    out[#out + 1] = "{"
    local first = true
    for k, v in next, t do
      if not first then out[#out + 1] = "," end
      first = false
      out[#out + 1] = quote(k)
      out[#out + 1] = ":"
      encode_value(v, out, depth)
    end
    out[#out + 1] = "}"
  else
    for i = 1, count do
      if rawget(t, i) == nil then
        error("an array has a hole or a key that is no index; null is storm.null", 0)
      end
    end
    encode_array(t, count, out, depth)
  end
end

function encode_value(v, out, depth)
  local kind = type(v)
  if v == null then out[#out + 1] = "null"
  elseif kind == "string" then out[#out + 1] = quote(v)
  elseif kind == "number" then out[#out + 1] = number(v)
  elseif kind == "boolean" then out[#out + 1] = tostring(v)
  elseif getmetatable(v) == literal_mt then
    error("the integer " .. v.text .. " does not fit 64 bits", 0) -- [json.integers]
  elseif kind == "table" then encode_table(v, out, depth + 1)
  else error("a " .. kind .. " can't be written as JSON", 0) end
end

function storm.encode(v)
  local out = {}
  encode_value(v, out, 0)
  return table.concat(out)
end

local unescapes = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function bad(pos, what) error(format("%s at byte %d", what, pos), 0) end

local function skip(s, pos) return find(s, "[^ \t\r\n]", pos) or #s + 1 end

local function hex4(s, pos)
  local digits = s:match("^%x%x%x%x", pos)
  return digits and tonumber(digits, 16) or bad(pos, "no four hexadecimal digits")
end

local function decode_string(s, pos) -- pos is behind the opening quote
  local parts, n = {}, 0
  while true do
    local stop = find(s, '["\\]', pos)
    if not stop then bad(pos, "a string without its end") end
    n = n + 1
    parts[n] = sub(s, pos, stop - 1)
    if byte(s, stop) == 34 then
      return n == 1 and parts[1] or table.concat(parts), stop + 1
    end
    local c = sub(s, stop + 1, stop + 1)
    n = n + 1
    if c == "u" then
      local code = hex4(s, stop + 2)
      pos = stop + 6
      if code >= 0xD800 and code < 0xDC00 and sub(s, pos, pos + 1) == "\\u" then
        local low = hex4(s, pos + 2)
        if low >= 0xDC00 and low < 0xE000 then
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
          pos = pos + 6
        end
      end
      parts[n] = utf8.char(code)
    else
      parts[n] = unescapes[c] or bad(stop, "an escape that JSON does not have")
      pos = stop + 2
    end
  end
end

local words = { t = { "true", true }, f = { "false", false }, n = { "null", null } }

local function decode_number(s, pos)
  local int, stop = s:match("^(-?%d+)()", pos)
  if not int or find(int, "^-?0%d") then bad(pos, "no JSON value") end
  local frac, after = s:match("^(%.%d+)()", stop)
  local exp, behind = s:match("^([eE][+-]?%d+)()", after or stop)
  local n = tonumber(int .. (frac or "") .. (exp or ""))
  if not frac and not exp and math.type(n) == "float" then
    n = setmetatable({ text = int }, literal_mt) -- an integer beyond 64 bits keeps its digits
  end
  return n, behind or after or stop
end

local decode_value

local function decode_array(s, pos)
  local t, n = setmetatable({}, array_mt), 0
  pos = skip(s, pos)
  if byte(s, pos) == 93 then return t, pos + 1 end
  while true do
    n = n + 1
    t[n], pos = decode_value(s, pos)
    pos = skip(s, pos)
    local c = byte(s, pos)
    if c == 93 then return t, pos + 1 end
    if c ~= 44 then bad(pos, "no comma and no ]") end
    pos = pos + 1
  end
end

local function decode_object(s, pos)
  local t = setmetatable({}, object_mt)
  pos = skip(s, pos)
  if byte(s, pos) == 125 then return t, pos + 1 end
  while true do
    pos = skip(s, pos)
    if byte(s, pos) ~= 34 then bad(pos, "no key in quotes") end
    local key
    key, pos = decode_string(s, pos + 1)
    pos = skip(s, pos)
    if byte(s, pos) ~= 58 then bad(pos, "no colon") end
    t[key], pos = decode_value(s, pos + 1)
    pos = skip(s, pos)
    local c = byte(s, pos)
    if c == 125 then return t, pos + 1 end
    if c ~= 44 then bad(pos, "no comma and no }") end
    pos = pos + 1
  end
end

function decode_value(s, pos)
  pos = skip(s, pos)
  local c = sub(s, pos, pos)
  if c == '"' then return decode_string(s, pos + 1) end
  if c == "[" then return decode_array(s, pos + 1) end
  if c == "{" then return decode_object(s, pos + 1) end
  local word = words[c]
  if word then
    if sub(s, pos, pos + #word[1] - 1) ~= word[1] then bad(pos, "no JSON value") end
    return word[2], pos + #word[1]
  end
  return decode_number(s, pos)
end

function storm.decode(s)
  local v, pos = decode_value(s, 1)
  if skip(s, pos) <= #s then bad(pos, "text behind the JSON") end
  return v
end

----------------------------------------------------------------------------
-- Messages

-- What user code prints goes to stderr, and it can't read the messages away
-- [wire.stdout.messages], [library.print].
local stdin, stdout, stderr = io.stdin, io.stdout, io.stderr
stdout:setvbuf("full")
io.output(stderr)
io.stdout = stderr
function print(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  stderr:write(table.concat(t, "\t"), "\n")
end
local nothing = io.open("/dev/null", "r")
if nothing then
  io.input(nothing)
  io.stdin = nothing
end

local name = "?" -- of the component, for stderr [process.stderr.name]
local function complain(text) stderr:write(name, ": ", text, "\n") end

local function leave(code) os.exit(code) end

-- One write and a flush for each message: user code may be busy for long after
-- an emit, and a log is a sign of life only if it is seen [wire.flush].
local function send_text(text)
  if not (stdout:write(text, "\nend\n") and stdout:flush()) then leave(1) end -- [process.end.worker]
end
local function send(message) send_text(storm.encode(message)) end

-- A message, or the end of the process [process.end.stdin].
local function read_text()
  local lines
  while true do
    local line = stdin:read("L")
    if not line then leave(0) end
    if line == "end\n" or line == "end" then return lines and table.concat(lines) or "" end
    lines = lines or {}
    lines[#lines + 1] = line
  end
end

local function read_message()
  while true do
    local text = read_text()
    local ok, message = pcall(storm.decode, text)
    if ok and type(message) == "table" then return message end
    local why = "a message of Storm can't be read: " .. (ok and "it is no object" or message)
    complain(why)
    send { command = "error", msg = why }
  end
end

local function own_pid()
  local f = assert(io.open("/proc/self/stat"))
  local pid = math.tointeger(f:read("n"))
  f:close()
  return pid
end

local function handshake()
  local ok, setup = pcall(storm.decode, read_text())
  if not ok or not storm.is_object(setup) then
    complain("the handshake can't be read: " .. tostring(setup))
    leave(1)
  end
  local pid = own_pid()
  local file, why
  if type(setup.pidDir) == "string" then
    file, why = io.open(setup.pidDir .. "/" .. pid, "w")
    if file then file:close() end
  end
  send { pid = pid } -- [handshake.pid.first]
  if why then complain("no pid file: " .. why) end
  local context = setup.context
  if storm.is_object(context) then
    local tasks = context["task->component"]
    name = context.componentid or (storm.is_object(tasks) and tasks[tostring(context.taskid)]) or name
  end
  return setup.conf, context
end

local levels = { trace = 0, debug = 1, info = 2, warn = 3, error = 4 }

-- Logs and errors are the last that should raise: bytes that are no UTF-8 become U+FFFD.
local function printable(text)
  text = tostring(text)
  if valid_utf8(text) then return text end
  local out, pos = {}, 1
  while true do
    local _, wrong = utf8.len(text, pos)
    if not wrong then break end
    out[#out + 1] = sub(text, pos, wrong - 1)
    out[#out + 1] = "\u{FFFD}"
    pos = wrong + 1
  end
  out[#out + 1] = sub(text, pos)
  return table.concat(out)
end

-- level is a name or 0 to 4; without one Storm takes it for info.
function storm.log(text, level)
  if type(level) == "string" then level = levels[level:lower()] or error("no level " .. level, 2) end
  send { command = "log", msg = printable(text), level = level }
end
for level, value in pairs(levels) do
  if level ~= "error" then storm[level] = function(text) storm.log(text, value) end end
end

-- Shows an error in the UI. It fails nothing and stops nothing.
function storm.error(text) send { command = "error", msg = printable(text) } end

-- The metric has to be registered by Java code.
function storm.metric(metric, params)
  if type(metric) ~= "string" or metric == "" then error("a metric needs a name", 2) end
  send { command = "metrics", name = metric, params = params == nil and null or params }
end

-- Lua has no sleep.
function storm.sleep(seconds)
  os.execute(format("exec sleep %.3f </dev/null >/dev/null 2>&1", seconds))
end

local function traced(e) return debug.traceback(printable(e), 2) end

----------------------------------------------------------------------------
-- What spouts and bolts share

local Component = {}
Component.log = function(_, ...) return storm.log(...) end
Component.error = function(_, ...) return storm.error(...) end
Component.metric = function(_, ...) return storm.metric(...) end

local function start(self)
  self.conf, self.context = handshake()
  if self.initialize then
    local ok, why = xpcall(self.initialize, traced, self, self.conf, self.context)
    if not ok then
      complain(why)
      storm.error(why)
      leave(1)
    end
  end
end

local function emit_message(values, options)
  if type(values) ~= "table" or values == null then error("the values of a tuple are an array", 3) end
  local message = { command = "emit", tuple = storm.array(table.move(values, 1, #values, 1, {})) }
  if options.stream ~= nil then
    if type(options.stream) ~= "string" then error("a stream is a string", 3) end
    message.stream = options.stream
  end
  if options.task ~= nil then
    local task = math.tointeger(options.task)
    if not task or task < -2147483648 or task > 2147483647 then error("a task is an integer of 32 bits", 3) end
    message.task = task
  end
  -- None come for a direct emit [task-ids.direct].
  if not options.need_task_ids or message.task then message.need_task_ids = false end
  for k in next, values do
    if math.type(k) ~= "integer" or k < 1 or k > #values then
      error("the values of a tuple have a hole; null is storm.null", 3)
    end
  end
  return message
end

----------------------------------------------------------------------------
-- Bolts

local Tuple = {}
Tuple.__index = Tuple

-- The value of a field, by the names in the context (since Storm 0.10.0).
function Tuple:get(field)
  local of = self.context["source->stream->fields"]
  local fields = of and of[self.component] and of[self.component][self.stream]
  for i, known in ipairs(fields or {}) do
    if known == field then return self.values[i] end
  end
  error("no field " .. tostring(field) .. " from " .. tostring(self.component), 2)
end

function Tuple:is_tick() return self.component == "__system" and self.stream == "__tick" end

local Bolt = setmetatable({}, { __index = Component })
Bolt.__index = Bolt

local function is_heartbeat(message) return message.stream == "__heartbeat" end -- [heartbeats.known]

local function answer_heartbeat() send_text('{"command":"sync"}') end

local function tuple_of(self, message)
  return setmetatable({ id = message.id, component = message.comp, stream = message.stream, task = message.task,
                        values = message.tuple, context = self.context }, Tuple)
end

-- Task ids come behind whatever Storm has written before them [task-ids.late].
local function wait_for_task_ids(self)
  while true do
    local message = read_message()
    if storm.is_array(message) then return message end
    if is_heartbeat(message) then answer_heartbeat()
    else table.insert(self.waiting, message) end -- [task-ids.waiting]
  end
end

-- options: anchors (tuples), stream, task, need_task_ids. Returns the task ids if they were asked for.
function Bolt:emit(values, options)
  options = options or {}
  local message = emit_message(values, options)
  local anchors = options.anchors
  if anchors == nil then anchors = self.anchors_by_itself
  elseif getmetatable(anchors) == Tuple then anchors = { anchors } end
  if anchors then
    local ids = storm.array()
    for i, tuple in ipairs(anchors) do
      if not self.open[tuple.id] then error("an anchor is settled already: " .. tostring(tuple.id), 2) end
      ids[i] = tuple.id
    end
    message.anchors = ids
  end
  local ok, text = pcall(storm.encode, message) -- before a byte is written [library.unencodable]
  if not ok then error(text, 2) end
  send_text(text)
  if options.need_task_ids then
    if message.task then return nil end
    return wait_for_task_ids(self)
  end
end

local function settle(self, command, tuple)
  if not self.open[tuple.id] then error("the tuple " .. tostring(tuple.id) .. " is settled already", 3) end
  self.open[tuple.id] = nil -- [bolt.ack.once]
  send { command = command, id = tuple.id }
end
function Bolt:ack(tuple) settle(self, "ack", tuple) end
function Bolt:fail(tuple) settle(self, "fail", tuple) end

local function next_message(self)
  if self.first <= #self.waiting then
    local message = self.waiting[self.first]
    self.waiting[self.first] = false
    self.first = self.first + 1
    if self.first > #self.waiting then self.waiting, self.first = {}, 1 end
    return message
  end
  return read_message()
end

-- What raised is reported and failed, nothing else is [library.raise].
local function guarded(self, tuples, code, ...)
  local ok, why = xpcall(code, traced, self, ...)
  if not ok then
    complain(why)
    storm.error(why)
    for _, tuple in ipairs(tuples) do
      if self.open[tuple.id] then self:fail(tuple) end
    end
  end
  return ok
end

function Bolt:handle(tuple)
  local code = tuple:is_tick() and self.tick or self.process
  guarded(self, { tuple }, code, tuple)
end

function Bolt:run()
  self.open, self.waiting, self.first = {}, {}, 1
  start(self)
  while true do
    local message = next_message(self)
    if storm.is_array(message) then -- task ids that nobody waits for [task-ids.read]
    elseif is_heartbeat(message) then
      answer_heartbeat()
      if self.on_heartbeat then self:on_heartbeat() end
    elseif storm.is_array(message.tuple) and type(message.id) == "string" then
      self.open[message.id] = true
      self:handle(tuple_of(self, message))
    else
      complain("a message that is no tuple was ignored")
    end
  end
end

-- user code is a table of functions; it may hold other members as well.
local function component(class)
  return function(user)
    for _, wanted in ipairs(class.wanted) do
      if type(user[wanted]) ~= "function" then error("a function " .. wanted .. " is missing", 2) end
    end
    return setmetatable(user, class)
  end
end

Bolt.wanted = { "process" }
storm.bolt = component(Bolt)

-- A bolt that anchors to its input and acks it when process returns [library.basic].
-- A tick without a function tick is acked, and that is all.
local Basic = setmetatable({ wanted = { "process" } }, { __index = Bolt })
Basic.__index = Basic

function Basic:handle(tuple)
  self.anchors_by_itself = { tuple }
  local code = self.process
  if tuple:is_tick() then code = self.tick or function() end end
  if guarded(self, { tuple }, code, tuple) and self.open[tuple.id] then self:ack(tuple) end
  self.anchors_by_itself = nil
end
storm.basic_bolt = component(Basic)

-- A bolt that collects tuples: process is called for each of them, with the whole
-- batch behind it, when batch_size are there, at a tick, or at a heartbeat
-- batch_seconds after the first. Emits are anchored to the tuple, which is acked
-- when the batch is done; what raised is failed [library.batch].
local Batch = setmetatable({ wanted = { "process" }, batch_size = 100, batch_seconds = 1 }, { __index = Bolt })
Batch.__index = Batch

local function flush(self)
  local batch = self.batch or {}
  self.batch, self.since = nil, nil
  local done = {}
  for _, tuple in ipairs(batch) do
    self.anchors_by_itself = { tuple }
    if guarded(self, { tuple }, self.process, tuple, batch) then done[#done + 1] = tuple end
  end
  self.anchors_by_itself = nil
  for _, tuple in ipairs(done) do
    if self.open[tuple.id] then self:ack(tuple) end
  end
end

function Batch:handle(tuple)
  if tuple:is_tick() then
    flush(self)
    if (not self.tick or guarded(self, { tuple }, self.tick, tuple)) and self.open[tuple.id] then self:ack(tuple) end
    return
  end
  self.batch = self.batch or {}
  self.since = self.since or os.time()
  table.insert(self.batch, tuple)
  if #self.batch >= self.batch_size then flush(self) end
end

function Batch:on_heartbeat()
  if self.batch and os.time() - self.since >= self.batch_seconds then flush(self) end
end
storm.batch_bolt = component(Batch)

----------------------------------------------------------------------------
-- Spouts

local Spout = setmetatable({ wanted = { "next_tuple" }, idle_seconds = 0.01 }, { __index = Component })
Spout.__index = Spout

local calls = { next = "next_tuple", ack = "ack", fail = "fail", activate = "activate", deactivate = "deactivate" }

-- options: id, stream, task, need_task_ids. A tuple without an id is not tracked.
function Spout:emit(values, options)
  options = options or {}
  local message = emit_message(values, options)
  message.id = options.id
  if options.need_task_ids and not self.asked then
    error("task ids come only while a command is answered", 2)
  end
  local ok, text = pcall(storm.encode, message)
  if not ok then error(text, 2) end
  send_text(text)
  self.emitted = true
  if options.need_task_ids then
    if message.task then return nil end
    while true do
      local got = read_message()
      if storm.is_array(got) then return got end
      -- Without ackers the ack comes before the task ids, and Storm waits for its
      -- sync [task-ids.ackers-zero]. User code hears of it when this call is over.
      send_text('{"command":"sync"}')
      table.insert(self.later, got)
    end
  end
end

local function call(self, message)
  local code = self[calls[message.command]]
  if not code then return end
  local settles = message.command == "ack" or message.command == "fail" -- others have an id without meaning
  local ok, why
  if settles then ok, why = xpcall(code, traced, self, message.id)
  else ok, why = xpcall(code, traced, self) end
  if not ok then -- [library.raise.spout]
    complain(why)
    storm.error(why)
  end
end

function Spout:run()
  self.later = {}
  start(self)
  while true do
    local message = read_message()
    if not storm.is_array(message) then
      self.asked, self.emitted = true, false
      call(self, message)
      while #self.later > 0 do call(self, table.remove(self.later, 1)) end
      if message.command == "next" and not self.emitted then storm.sleep(self.idle_seconds) end -- [spout.idle]
      self.asked = false
      send_text('{"command":"sync"}') -- to an unknown command, too
    end
  end
end
storm.spout = component(Spout)

return storm
