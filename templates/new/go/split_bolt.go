// A bolt that splits sentences into words.
package main

import (
	"encoding/json"
	"strings"

	"component/storm"
)

type splitBolt struct {
	*storm.Collector
}

// Initialize keeps the way to Storm.
func (b *splitBolt) Initialize(out *storm.Collector, conf, context map[string]any) error {
	b.Collector = out
	return nil
}

// Process emits each word of the first value. As the bolt is basic, they are anchored, and the sentence is acked.
func (b *splitBolt) Process(tuple storm.Tuple) error {
	if len(tuple.Values) == 0 {
		return nil
	}
	sentence, good := tuple.Values[0].(string)
	if !good {
		text, err := json.Marshal(tuple.Values[0])
		if err != nil {
			return err
		}
		sentence = string(text)
	}
	for _, word := range strings.Fields(sentence) {
		b.Emit(storm.Emit{Values: []any{word}})
	}
	return nil
}

func main() {
	storm.RunBolt(&splitBolt{}, true)
}
