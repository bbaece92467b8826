#!/usr/bin/env lua5.4
-- A bolt that splits sentences into words. As it is basic, the words are anchored, and the sentence is acked.
package.path = (arg[0]:match("^.*/") or "./") .. "?.lua;" .. package.path
local storm = require "storm"

local bolt = storm.basic_bolt {
  process = function(self, tuple)
    local sentence = tuple.values[1]
    for word in tostring(sentence):gmatch "%S+" do self:emit { word } end
  end,
}
bolt:run()
