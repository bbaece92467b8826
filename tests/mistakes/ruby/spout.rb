# A spout that is right. Each mistake is a change of it.
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

setup = read
File.write("#{setup["pidDir"]}/#{Process.pid}", "")
say({pid: Process.pid})
count = 0
loop do
  message = read
  next if message.is_a?(Array)
  if message["command"] == "next"
    count += 1
    say({command: :emit, id: "m#{count}", tuple: ["word"], need_task_ids: false})
  end
  say({command: :sync})
end
