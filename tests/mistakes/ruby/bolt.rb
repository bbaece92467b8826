# A bolt that is right. Each mistake is a change of it.
require "json"

def read
  text = $stdin.gets("\nend\n")
  exit if text.nil?
  JSON.parse(text.delete_suffix("end\n"))
end

def say(message)
  $stdout.write(message.to_json + "\nend\n")
  $stdout.flush
end

def process(tup)
  word = tup["tuple"][0]
  say({command: :emit, anchors: [tup["id"]], tuple: [word], need_task_ids: false})
  say({command: :ack, id: tup["id"]})
end

def prepare(conf)
end

setup = read
File.write("#{setup["pidDir"]}/#{Process.pid}", "")
say({pid: Process.pid})
prepare(setup["conf"])
$count = 0
loop do
  message = read
  next if message.is_a?(Array)
  if message["stream"] == "__heartbeat"
    say({command: :sync})
    next
  end
  $count += 1
  process(message)
end
