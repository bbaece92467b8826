require './storm'

SENTENCES = ['the cow jumped over the moon', 'an apple a day keeps the doctor away', 'four score and seven years ago']

class SentenceSpout < Storm::Spout
  def open(_conf, _context)
    @waiting = SENTENCES.each_with_index.map { |sentence, number| [number.to_s, sentence] }
    @pending = {}
  end

  def nextTuple
    return sleep(0.005) if @waiting.empty?

    id, sentence = @waiting.shift
    @pending[id] = sentence
    emit([sentence], id: id)
  end

  def ack(id)
    @pending.delete(id)
  end

  def fail(id)
    @waiting.push([id, @pending.delete(id)]) if @pending.key?(id)
  end
end

SentenceSpout.new.run
