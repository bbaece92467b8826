-- Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. The library keeps
-- its functions to itself, so they stand between it and its pipes: the messages of either side are changed.
local M = {}

local out, err, input = io.stdout, io.stderr, io.stdin
local storm -- the library, which is loaded after this

-- Text as it is, in the place of a message.
local function raw(text) out:write(text) out:flush() end

-- Changes the messages that are sent: the code is given one, and returns those that go out.
local function sent(change)
  local pipe = {}
  function pipe.setvbuf() end
  function pipe.flush() return out:flush() end
  function pipe:write(text, tail)
    storm = storm or require "storm"
    for _, message in ipairs { change(storm.decode(text)) } do
      out:write(type(message) == "string" and message or storm.encode(message), tail)
    end
    return self
  end
  io.stdout = pipe
end

-- Changes what is read: the code is given a message, and returns the one that is read; without one, the next is.
local function received(change)
  local pipe, lines = {}, {}
  function pipe:read()
    while #lines == 0 do
      local text = ""
      repeat
        local line = input:read "L"
        if not line then return nil end
        text = text .. line
      until line == "end\n"
      storm = storm or require "storm"
      local message = change(storm.decode(text:sub(1, -5)))
      if message then lines = { storm.encode(message) .. "\n", "end\n" } end
    end
    return table.remove(lines, 1)
  end
  io.stdin = pipe
end

-- Changes the messages with this command, or member.
local function only(command, change)
  sent(function(message)
    if message.command == command or message[command] ~= nil then return change(message) end
    return message
  end)
end

-- Changes one member, where there is one.
local function field(command, key, change)
  only(command, function(message)
    if message[key] ~= nil then message[key] = change(message[key]) end
    return message
  end)
end

-- Changes each value of an emit.
local function values_by(change)
  field("emit", "tuple", function(values)
    for i, value in ipairs(values) do values[i] = change(value) end
    return values
  end)
end

-- The fail that follows an error.
local function after_an_error(change)
  local failed = false
  sent(function(message)
    if failed and message.command == "fail" then change(message) end
    failed = message.command == "error"
    return message
  end)
end

local function twice(message) return message, message end
local function nothing() end

local kept, waiting = {}, false
local bugs = {
  ["ack-twice"] = function() only("ack", twice) end,
  ["ack-id-number"] = function() field("ack", "id", tonumber) end,
  ["fail-as-ack"] = function() field("fail", "command", function() return "ack" end) end,
  ["anchors-missing"] = function() field("emit", "anchors", function() return storm.array() end) end,
  ["anchors-nested"] = function() field("emit", "anchors", function(ids) return storm.array { ids } end) end,
  ["anchors-object"] = function()
    field("emit", "anchors", function(ids) return #ids == 0 and storm.object {} or ids end)
  end,
  ["tuple-object"] = function() field("emit", "tuple", function(values) return storm.object { values = values } end) end,
  ["task-string"] = function() field("emit", "task", tostring) end,
  ["log-map"] = function() field("log", "msg", function(text) return storm.object { text = text } end) end,
  ["number-string"] = function()
    values_by(function(value) return type(value) == "number" and tostring(value) or value end)
  end,
  ["integer-float"] = function()
    values_by(function(value) return math.type(value) == "integer" and value + 0.0 or value end)
  end,
  ["six-digits"] = function()
    values_by(function(value)
      return math.type(value) == "float" and tonumber(string.format("%g", value)) or value
    end)
  end,
  ["null-lost"] = function()
    field("emit", "tuple", function(values)
      local left = storm.array()
      for _, value in ipairs(values) do
        if value ~= storm.null then left[#left + 1] = value end
      end
      return left
    end)
  end,
  ["string-number"] = function() field("emit", "id", function(id) return tonumber(id) or id end) end,
  ["boolean-integer"] = function()
    values_by(function(value)
      if type(value) == "boolean" then return value and 1 or 0 end
      return value
    end)
  end,
  ["latin-1-out"] = function()
    values_by(function(value)
      if type(value) ~= "string" then return value end
      return (value:gsub("[\x80-\xFF]", function(byte) return utf8.char(byte:byte()) end))
    end)
  end,
  ["emit-unencodable"] = function()
    only("emit", function(message)
      if not storm.encode(message):find "[\x80-\xFF]" then return message end
    end)
  end,
  ["held-back"] = function()
    sent(function(message)
      if message.pid then return message end
      kept[#kept + 1] = message
      if #kept > 1 then return table.remove(kept, 1) end
    end)
  end,
  ["emits-last"] = function()
    sent(function(message)
      if message.command == "emit" then
        kept[#kept + 1] = message
        return
      end
      local late = kept
      kept = {}
      return message, table.unpack(late)
    end)
  end,
  ["sync-twice"] = function() only("sync", twice) end,
  ["prints"] = function()
    sent(function(message)
      raw "sending\n"
      return message
    end)
  end,
  ["late-pid"] = function()
    only("pid", function(message) return storm.object { command = "log", msg = "starting" }, message end)
  end,
  ["pid-string"] = function() field("pid", "pid", tostring) end,
  ["raise-acked"] = function() after_an_error(function(message) message.command = "ack" end) end,
  ["fails-other"] = function() after_an_error(function(message) message.id = "-1" end) end,
  ["conf-wrong-key"] = function()
    received(function(message)
      if message.conf then message.conf = message.config or storm.object {} end
      return message
    end)
  end,
  ["no-pid-file"] = function()
    received(function(message)
      message.pidDir = nil
      return message
    end)
  end,
  ["beats-ignored"] = function() only("sync", nothing) end,
  ["ids-drop-others"] = function()
    only("emit", function(message)
      waiting = message.task == nil and message.need_task_ids ~= false
      return message
    end)
    received(function(message)
      if storm.is_array(message) then waiting = false end
      if not waiting or message.stream == "__heartbeat" then return message end
    end)
  end,
  ["ids-of-before"] = function()
    received(function(message)
      if not storm.is_array(message) then return message end
      local before = kept
      kept = message
      return storm.array(before)
    end)
  end,
  ["silent-ack"] = function()
    received(function(message)
      waiting = message.command == "ack" or message.command == "fail"
      return message
    end)
    only("sync", function(message) if not waiting then return message end end)
  end,
  ["outlives"] = function()
    local leave = os.exit
    function os.exit(code)
      if code == 0 then os.execute "sleep 60 </dev/null >/dev/null 2>&1" end
      leave(code)
    end
  end,
  ["stderr-flood"] = function()
    only("sync", function(message)
      err:write(("."):rep(100000))
      return message
    end)
  end,
}

function M.plant(name) (bugs[name] or error("no such mutant: " .. name))() end

return M
