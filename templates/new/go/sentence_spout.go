// A spout that emits sentences, and again those that failed.
package main

import (
	"fmt"
	"time"

	"component/storm"
)

var sentences = []string{
	"the cow jumped over the moon",
	"an apple a day keeps the doctor away",
	"snow white and the seven dwarfs",
}

type sentenceSpout struct {
	*storm.Collector
	waiting []string          // ids of sentences that are to be emitted
	pending map[string]string // sentences that are not yet acked, by id
}

// Initialize keeps the way to Storm.
func (s *sentenceSpout) Initialize(out *storm.Collector, conf, context map[string]any) error {
	s.Collector, s.pending = out, map[string]string{}
	for number, sentence := range sentences {
		id := fmt.Sprint(number + 1)
		s.waiting = append(s.waiting, id)
		s.pending[id] = sentence
	}
	return nil
}

// NextTuple emits one sentence. Because it has an id, Storm tells its fate: Ack or Fail.
func (s *sentenceSpout) NextTuple() error {
	if len(s.waiting) == 0 {
		time.Sleep(10 * time.Millisecond) // do not let Storm ask again at full speed
		return nil
	}
	id := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.Emit(storm.Emit{Values: []any{s.pending[id]}, ID: id})
	return nil
}

// Ack forgets a sentence.
func (s *sentenceSpout) Ack(id any) error {
	delete(s.pending, fmt.Sprint(id))
	return nil
}

// Fail has it emitted again.
func (s *sentenceSpout) Fail(id any) error {
	if name := fmt.Sprint(id); s.pending[name] != "" {
		s.waiting = append(s.waiting, name)
	}
	return nil
}

// Activate is called before the first NextTuple.
func (s *sentenceSpout) Activate() error { return nil }

// Deactivate is called when the topology pauses.
func (s *sentenceSpout) Deactivate() error { return nil }

func main() {
	storm.RunSpout(&sentenceSpout{})
}
