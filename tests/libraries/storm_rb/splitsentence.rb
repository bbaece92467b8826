require './storm'

class SplitSentenceBolt < Storm::Bolt
  def process(tup)
    tup.values[0].split(' ').each { |word| emit([word], anchor: tup) }
    ack(tup)
  end
end

SplitSentenceBolt.new.run
