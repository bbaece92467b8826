# The testee of storm.rb, Storm's own library for Ruby: does what a tuple or conf tells it (see `mlcheck docs testees`).

require_relative 'lib/storm'
require_relative 'mutants'

# The plan in a tuple's first value, nil if there is none.
def plan_of(values)
  first = values[0]
  return unless first.is_a?(Array) && !first.empty?

  first if first.all? { |each| each.is_a?(Hash) && each.key?('do') }
end

# What bolts and spouts have in common.
module Testee
  LEVELS = { 'trace' => :logTrace, 'debug' => :logDebug, 'info' => :logInfo, 'warn' => :logWarn, 'error' => :logError }

  def begin_with(conf, context)
    @conf, @context = conf, context
    @task_ids = []
  end

  def follow(actions)
    actions.each { |action| act(action) }
  end

  # Do what is the same in a bolt and in a spout.
  def act(action)
    case action['do']
    when 'log' then send(LEVELS[action.fetch('level', 'info')], action['message'])
    when 'error' then reportError(action['message'])
    when 'raise' then raise action['message']
    when 'sleep' then sleep(action['seconds'])
    when 'exit' then exit(action['code'])
    when 'print' then puts(action['text'])
    when 'stderr' then $stderr.write('.' * action['bytes'])
    when 'emit' then emit_as(action)
    when 'tell' then emit([action['what'], seen(action['what'])], stream: 'told')
    else raise "no such action: #{action['do']}"
    end
  end

  # Emit what the action says, with what only a bolt or only a spout says.
  def emit_as(action, **more)
    more[:stream] = action['stream'] if action.key?('stream')
    more[:direct_task] = action['task'] if action.key?('task')
    ids = emit(action['values'], more)
    @task_ids = ids if ids
  end

  # What the user's code sees.
  def seen(what)
    { 'conf' => @conf, 'context' => @context, 'task_ids' => @task_ids }[what]
  end
end

# Settles as it is told.
class TesteeBolt < Storm::Bolt
  include Testee

  def prepare(conf, context)
    begin_with(conf, context)
    @held = {}
  end

  def process(tuple)
    return ack(tuple) if tuple.stream == '__tick'

    @held['input'] = tuple
    follow(plan_of(tuple.values) || [{ 'do' => 'emit', 'values' => tuple.values }, { 'do' => 'ack' }])
  end

  def act(action)
    case action['do']
    when 'echo' then emit_as({ 'values' => @held['input'].values.drop(1) })
    when 'ack' then ack(@held[action.fetch('tuple', 'input')])
    when 'fail' then fail(@held[action.fetch('tuple', 'input')])
    when 'hold' then @held[action['as']] = @held['input']
    else super
    end
  end

  def emit_as(action)
    super(action, anchors: @held.values_at(*action.fetch('anchors', ['input'])))
  end

  def seen(what)
    return super unless what == 'tuple'

    tuple = @held['input']
    { 'id' => tuple.id, 'component' => tuple.component, 'stream' => tuple.stream, 'task' => tuple.task,
      'values' => tuple.values }
  end
end

# Does for each command what conf says.
class TesteeSpout < Storm::Spout
  include Testee

  def open(conf, context)
    begin_with(conf, context)
    @plan = conf['mlcheck.testee']
    @count = 0
    @calls = []
    @again = []
    follow(@plan.fetch('initialize', [])) if @plan
  end

  def nextTuple
    called('next')
    return if @plan

    @count += 1 if @again.empty?
    id = @again.pop || @count.to_s
    emit(["word #{id}"], id: id)
  end

  def ack(id)
    called('ack', id)
  end

  def fail(id)
    called('fail', id)
    @again.push(id) if @plan.nil? && id.is_a?(String) && id.match?(/\A\d+\z/)
  end

  def activate
    called('activate')
  end

  def deactivate
    called('deactivate')
  end

  # Remember a call, and do what conf says about it.
  def called(command, *id)
    @calls.push([command, *id])
    return unless @plan

    actions = @plan.fetch(command, [])
    if command == 'next'
      actions = actions.fetch(@count, [])
      @count += 1
    end
    follow(actions)
  end

  def act(action)
    super
    @calls = [] if action['do'] == 'tell' && action['what'] == 'calls'
  end

  def emit_as(action)
    super(action, **(action.key?('id') ? { id: action['id'] } : {}))
  end

  def seen(what)
    what == 'calls' ? @calls : super
  end
end

Mutants.plant(ENV.fetch('MLCHECK_MUTANT', ''))
{ 'bolt' => TesteeBolt, 'spout' => TesteeSpout }.fetch(ARGV.shift).new.run
