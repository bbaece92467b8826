#!/usr/bin/env lua5.4
-- A spout that emits sentences, and again those that failed.
package.path = (arg[0]:match("^.*/") or "./") .. "?.lua;" .. package.path
local storm = require "storm"

local sentences = {
  "the cow jumped over the moon",
  "an apple a day keeps the doctor away",
  "snow white and the seven dwarfs",
}

local spout = storm.spout {
  initialize = function(self)
    self.waiting_ids, self.pending = {}, {}
    for i, sentence in ipairs(sentences) do
      self.waiting_ids[i] = tostring(i)
      self.pending[tostring(i)] = sentence
    end
  end,
  -- Emits one sentence. Because it has an id, Storm tells its fate: ack or fail. The library rests where nothing is emitted.
  next_tuple = function(self)
    local id = table.remove(self.waiting_ids, 1)
    if id then self:emit({ self.pending[id] }, { id = id }) end
  end,
  ack = function(self, id) self.pending[id] = nil end,
  fail = function(self, id)
    if self.pending[id] then table.insert(self.waiting_ids, id) end
  end,
}
spout:run()
