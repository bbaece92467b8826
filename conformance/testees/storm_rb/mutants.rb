# Bugs for the testee of storm.rb, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml.

module Mutants
  # Seconds that a mutant lives at most where it should have ended.
  LINGER = 120

  # --- what becomes of a message on its way out: none, one or several

  def self.on(command, &change)
    ->(message) { message['command'].to_s == command ? change.call(message) : [message] }
  end

  # Another value in a field, where it has that field.
  def self.field(command, name, &change)
    on(command) { |message| [message.key?(name) ? { **message, name => change.call(message[name]) } : message] }
  end

  def self.values(&change)
    field('emit', 'tuple') { |old| old.map(&change) }
  end

  MESSAGES = {
    'ack-twice' => on('ack') { |message| [message, message] },
    'ack-missing' => on('ack') { [] },
    'ack-id-number' => field('ack', 'id', &:to_i),
    'fail-as-ack' => field('fail', 'command') { 'ack' },
    'anchors-missing' => field('emit', 'anchors') { [] },
    'anchors-nested' => field('emit', 'anchors') { |old| [old] },
    'anchors-undefined' => field('emit', 'anchors') { |old| old.map { nil } },
    'anchors-last' => field('emit', 'anchors') { |old| old.last(1) },
    'tuple-object' => field('emit', 'tuple') { |old| old.each_with_index.to_h { |value, n| [n.to_s, value] } },
    'stream-missing' => on('emit') { |message| [message.reject { |key, _| key == 'stream' }] },
    'task-string' => field('emit', 'task', &:to_s),
    'ids-string' => on('emit') { |message| [{ **message, 'need_task_ids' => 'true' }] },
    'nil-missing' => field('emit', 'tuple', &:compact),
    'integer-string' => values { |value| value.is_a?(Integer) ? value.to_s : value },
    'float-rational' => values { |value| value.is_a?(Float) ? value.to_r.to_s : value },
    'symbols-inspected' => values { |value| value.is_a?(Hash) ? value.inspect : value },
    'text-bmp' => values { |value| value.is_a?(String) ? value.gsub(/[^\u0000-\uFFFF]/, '?') : value },
    'unencodable-dropped' => on('emit') { |message| message['tuple'].to_s.ascii_only? ? [message] : [] },
    'log-map' => field('log', 'msg') { |old| { 'text' => old } },
    'log-level-text' => field('log', 'level') { |old| %w[trace debug info warn error][old] },
    'error-as-log' => field('error', 'command') { 'log' },
    'id-number' => field('emit', 'id') { |old| old.to_s.match?(/\A\d+\z/) ? old.to_i : old },
    'sync-twice' => on('sync') { |message| [message, message] },
    'pid-string' => ->(message) { [message.key?('pid') ? { 'pid' => message['pid'].to_s } : message] },
    'pid-of-parent' => ->(message) { [message.key?('pid') ? { 'pid' => Process.ppid } : message] },
    'spout-acks' => on('sync') { |message| [{ 'command' => 'ack', 'id' => '1' }, message] }
  }.freeze

  # --- bugs that are no change of one message

  # Replace a method; the block is given the old one, bound.
  def self.wrap(owner, name, &body)
    old = owner.instance_method(name)
    owner.define_method(name) { |*args| instance_exec(old.bind(self), *args, &body) }
  end

  def self.wire(name, &body)
    wrap(Storm::Protocol, name, &body)
  end

  def self.change_messages(change)
    wire(:send_msg_to_parent) do |send, message|
      change.call(message.transform_keys(&:to_s)).each { |each| send.call(each) }
    end
  end

  # The messages after the pid are written in another way.
  def self.write_as(&form)
    wire(:send_msg_to_parent) do |send, message|
      next send.call(message) if message.key?('pid')

      STDOUT.write(form.call(message))
      STDOUT.flush
    end
  end

  # Stdin is read otherwise: the block makes a line of a line.
  def self.read_as(&change)
    line = STDIN.method(:readline)
    STDIN.define_singleton_method(:readline) { change.call(line.call) }
  end

  # No sync after these commands.
  def self.silent_after(*names)
    last = ''
    wire(:read_command) { |read| read.call.tap { |message| last = message['command'] } }
    wire(:sync) { |sync| sync.call unless names.include?(last) }
  end

  # An exception in process goes to the block, with the bolt and the tuples so far.
  def self.rescued(&handle)
    seen = []
    wrap(TesteeBolt, :process) do |process, tuple|
      seen.push(tuple)
      process.call(tuple)
    rescue RuntimeError
      handle.call(self, seen)
    end
  end

  def self.held_back
    kept = []
    wire(:send_msg_to_parent) do |send, message|
      kept.push(message)
      send.call(kept.shift) while kept.size > 1 || kept.first&.key?('pid')
    end
  end

  def self.pid_file_otherwise
    Storm::Protocol.define_method(:send_pid) do |folder|
      send_msg_to_parent({ 'pid' => Process.pid })
      yield(folder)
    end
  end

  def self.ids_of_before
    before = []
    wire(:read_task_ids) { |read| before.push(read.call)[-2] || [] }
  end

  def self.ids_drop_others
    Storm::Protocol.define_method(:read_task_ids) do
      message = read_message
      message = read_message until message.is_a?(Array)
      message
    end
  end

  def self.stderr_unread
    @unread, full = IO.pipe
    STDERR.reopen(full)
  end

  def self.loops_at_eof
    wire(:read_message) do |read|
      read.call
    rescue EOFError
      sleep(0.2)
      retry
    end
  end

  OTHERS = {
    'held-back' => -> { held_back },
    'no-pid-file' => -> { pid_file_otherwise { nil } },
    'pid-file-elsewhere' => -> { pid_file_otherwise { |folder| File.open("#{folder}/pid", 'w').close } },
    'late-pid' => -> { wire(:send_pid) { |pid, folder| [logInfo('starting'), pid.call(folder)] } },
    'inspected' => -> { write_as { |message| "#{message.inspect}\nend\n" } },
    'no-newline' => -> { write_as { |message| "#{message.to_json}end\n" } },
    'conf-wrong-key' => -> { wire(:handshake) { |first| first.call.then { |_, context| [{}, context] } } },
    'context-missing' => -> { wire(:handshake) { |first| first.call.then { |conf, _| [conf, {}] } } },
    'latin-1' => -> { STDIN.set_encoding('ISO-8859-1:UTF-8') },
    'c-locale' => lambda {
      read_as { |line| line.encode('UTF-8', 'US-ASCII', invalid: :replace) } if Encoding.default_external == Encoding::US_ASCII
    },
    'stripped' => -> { read_as { |line| line.gsub(/\\[nrt]/, ' ') } },
    'beats-acked' => -> { Storm::Tuple.define_method(:is_heartbeat) { false } },
    'beats-ignored' => -> { Storm::Protocol.define_method(:sync) { nil } },
    'ticks-as-beats' => -> { Storm::Tuple.define_method(:is_heartbeat) { task == -1 } },
    'seen-id-number' => -> { Storm::Tuple.define_method(:id) { @id.to_i } },
    'direct-waits' => -> { wire(:emit) { |emit, *args| emit.call(*args) || read_task_ids } },
    'ids-of-before' => -> { ids_of_before },
    'ids-drop-others' => -> { ids_drop_others },
    'ids-unread' => -> { Storm::Protocol.define_method(:read_task_ids) { [] } },
    'prints' => -> { wire(:read_command) { |read| read.call.tap { |message| puts "got #{message['id']}" } } },
    'stderr-unread' => -> { stderr_unread },
    'loops-at-eof' => -> { loops_at_eof },
    'thread-outlives' => -> { at_exit { Thread.new { sleep(LINGER) }.join } },
    'outlives-sigterm' => -> { trap('TERM', 'IGNORE') },
    'raise-acked' => -> { rescued { |bolt, seen| bolt.ack(seen.last) } },
    'raise-fails-other' => -> { rescued { |bolt, seen| bolt.fail(seen.first) } },
        'silent-ack' => -> { silent_after('ack', 'fail') },
    'silent-activate' => -> { silent_after('activate', 'deactivate') }
  }.freeze

  # Plant the bug of this name, none for ''. Ends the process if there is none of that name.
  def self.plant(name)
    if MESSAGES.key?(name)
      change_messages(MESSAGES[name])
    elsif OTHERS.key?(name)
      OTHERS[name].call
    elsif !name.empty?
      abort("no such mutant: #{name}")
    end
  end
end
