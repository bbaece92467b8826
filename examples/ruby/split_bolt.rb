#!/usr/bin/env ruby
# frozen_string_literal: true

# A bolt that splits sentences into words: the whole multilang protocol, with no library.
#
# Storm starts this program and talks to it over stdin and stdout. A message is JSON, a newline, and a line "end".

require 'fileutils'
require 'json'

# The protocol is UTF-8 bytes, whatever LANG says.
STDIN.set_encoding('UTF-8', nil)
STDOUT.set_encoding('UTF-8', nil)

# Stdout belongs to the protocol: one stray puts would break it. From here on, puts, print and p write to stderr.
$stdout = $stderr

# Storm's next message. When Storm closes the pipe, the worker is gone: exit.
def read_message
  lines = []
  loop do
    line = STDIN.gets
    exit if line.nil? || !line.end_with?("\n")
    return JSON.parse(lines.join, max_nesting: false) if line.chomp == 'end'

    lines << line
  end
end

# Send one message. Without flush it would wait in a buffer, and Storm would wait for it.
def send_message(message)
  STDOUT.write(JSON.generate(message), "\nend\n")
  STDOUT.flush
rescue Errno::EPIPE
  exit # Storm no longer reads
end

# Answer Storm's first message with our process id, and leave an empty file of that name in its directory.
def handshake
  hello = read_message # it also has "conf", the configuration, and "context", our place in the topology
  FileUtils.touch(File.join(hello['pidDir'], Process.pid.to_s))
  send_message(pid: Process.pid)
end

# Emit each word of the first value, anchored to the tuple it comes from; then ack that tuple, exactly once.
def process(message)
  value = message['tuple'].fetch(0, '')
  sentence = value.is_a?(String) ? value : JSON.generate(value, max_nesting: 0)
  sentence.split.each do |word|
    # The anchor ties the word to its sentence: if the word gets lost, Storm replays the sentence.
    # need_task_ids false: we do not want to be told which tasks get the word.
    send_message(command: 'emit', anchors: [message['id']], tuple: [word], need_task_ids: false)
  end
  send_message(command: 'ack', id: message['id'])
end

handshake
loop do
  message = read_message
  next if message.is_a?(Array) # task ids, the answer to an emit: we have no use for them

  if message['stream'] == '__heartbeat' && message['task'] == -1
    send_message(command: 'sync') # Storm asks whether we live. This is no tuple: it must not be acked
  else
    process(message)
  end
end
