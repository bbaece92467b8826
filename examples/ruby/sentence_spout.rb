#!/usr/bin/env ruby
# frozen_string_literal: true

# A spout that emits sentences, and again those that failed: the whole multilang protocol, with no library.
#
# Storm starts this program and talks to it over stdin and stdout. A message is JSON, a newline, and a line "end".

require 'fileutils'
require 'json'

SENTENCES = [
  'the cow jumped over the moon',
  'an apple a day keeps the doctor away',
  'four score and seven years ago',
  'snow white and the seven dwarfs',
  'i am at two with nature'
].freeze

# The protocol is UTF-8 bytes, whatever LANG says.
STDIN.set_encoding('UTF-8', nil)
STDOUT.set_encoding('UTF-8', nil)

# Stdout belongs to the protocol: one stray puts would break it. From here on, puts, print and p write to stderr.
$stdout = $stderr

# What is still to be emitted, and what was emitted and is not yet acked: ids and their sentences.
WAITING = SENTENCES.each_with_index.map { |sentence, index| [(index + 1).to_s, sentence] }
PENDING = {}

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

# Emit one sentence. Because it has an id, Storm will tell us its fate: ack or fail.
def next_tuple
  return sleep(0.01) if WAITING.empty? # nothing to emit: do not let Storm ask again at full speed

  id, sentence = WAITING.shift
  PENDING[id] = sentence
  # need_task_ids false: we do not want to be told which tasks get the sentence.
  send_message(command: 'emit', id: id, tuple: [sentence], need_task_ids: false)
end

# Put the sentence back: it was lost, or it took too long.
def put_back(id)
  WAITING << [id, PENDING.delete(id)] if PENDING.key?(id)
end

handshake
loop do
  message = read_message
  next if message.is_a?(Array) # task ids, the answer to an emit: we have no use for them

  case message['command']
  when 'next' then next_tuple
  when 'ack' then PENDING.delete(message['id']) # every tuple made from the sentence was processed
  when 'fail' then put_back(message['id'])
  end
  # Each command is answered by exactly one sync, also those that need no work: activate and deactivate.
  send_message(command: 'sync')
end
