// The testee of storm.go: does what a tuple or conf tells it (see `mlcheck docs testees`).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"component/storm"
)

type action = map[string]any

var levels = map[any]int{"trace": 0, "debug": 1, nil: 2, "info": 2, "warn": 3, "error": 4}

// planOf is the plan in a tuple's first value, nil if there is none.
func planOf(values []any) []any {
	if len(values) == 0 {
		return nil
	}
	plan, _ := values[0].([]any)
	for _, each := range plan {
		if fields, good := each.(action); !good || fields["do"] == nil {
			return nil
		}
	}
	return plan
}

// number is a number of JSON, 0 if there is none.
func number(value any) float64 {
	if text, good := value.(json.Number); good {
		float, _ := text.Float64()
		return float
	}
	return 0
}

func text(value any) string {
	found, _ := value.(string)
	return found
}

func list(value any) []any {
	found, _ := value.([]any)
	return found
}

// testee is what bolts and spouts have in common.
type testee struct {
	*storm.Collector
	conf, context action
	taskIDs       []int
}

func (t *testee) Initialize(out *storm.Collector, conf, context action) error {
	t.Collector, t.conf, t.context, t.taskIDs = out, conf, context, []int{}
	return nil
}

// do does what is the same in a bolt and in a spout.
func (t *testee) do(a action) error {
	switch a["do"] {
	case "log":
		t.Log(levels[a["level"]], text(a["message"]))
	case "error":
		t.ReportError(text(a["message"]))
	case "raise":
		panic(a["message"])
	case "sleep":
		time.Sleep(time.Duration(number(a["seconds"]) * float64(time.Second)))
	case "exit":
		os.Exit(int(number(a["code"])))
	case "print":
		fmt.Println(a["text"])
	case "stderr":
		fmt.Fprint(os.Stderr, strings.Repeat(".", int(number(a["bytes"]))))
	default:
		return fmt.Errorf("no such action: %v", a["do"])
	}
	return nil
}

func (t *testee) emit(a action, anchors []string) {
	ids := t.Emit(storm.Emit{
		Values:  list(a["values"]),
		Stream:  text(a["stream"]),
		Task:    int(number(a["task"])),
		Anchors: anchors,
		ID:      a["id"],
		TaskIDs: a["ids"] == true,
	})
	if ids != nil {
		t.taskIDs = ids
	}
}

func (t *testee) tell(what any, more action) {
	answers := action{"conf": t.conf, "context": t.context, "task_ids": t.taskIDs}
	for key, value := range more {
		answers[key] = value
	}
	t.Emit(storm.Emit{Stream: "told", Values: []any{what, answers[text(what)]}})
}

// bolt settles as it is told; a basic one leaves that to the library.
type bolt struct {
	testee
	basic bool
	held  map[string]string
}

func (b *bolt) Process(tuple storm.Tuple) error {
	if b.held == nil {
		b.held = map[string]string{}
	}
	b.held["input"] = tuple.ID
	plan := planOf(tuple.Values)
	if tuple.Stream == "__tick" {
		plan = []any{action{"do": "ack"}}
	} else if plan == nil {
		plan = []any{action{"do": "emit", "values": tuple.Values}, action{"do": "ack"}}
	}
	for _, each := range plan {
		if err := b.act(each.(action), tuple); err != nil {
			return err
		}
	}
	return nil
}

func (b *bolt) act(a action, tuple storm.Tuple) error {
	name := "input"
	if a["tuple"] != nil {
		name = text(a["tuple"])
	}
	switch a["do"] {
	case "emit":
		b.emit(a, b.anchors(a["anchors"]))
	case "echo":
		b.emit(action{"values": tuple.Values[1:]}, b.anchors(nil))
	case "ack":
		if !b.basic {
			b.Ack(b.held[name])
		}
	case "fail":
		b.Fail(b.held[name])
	case "hold":
		b.held[text(a["as"])] = tuple.ID
	case "tell":
		b.tell(a["what"], action{"tuple": action{
			"id": tuple.ID, "component": tuple.Component, "stream": tuple.Stream, "task": tuple.Task, "values": tuple.Values,
		}})
	default:
		return b.do(a)
	}
	return nil
}

func (b *bolt) anchors(names any) []string {
	if b.basic {
		return nil
	}
	if names == nil {
		names = []any{"input"}
	}
	var ids []string
	for _, name := range list(names) {
		ids = append(ids, b.held[text(name)])
	}
	return ids
}

// spout does for each command what conf says.
type spout struct {
	testee
	plan  action
	count int
	calls []any
	again []any
}

func (s *spout) Initialize(out *storm.Collector, conf, context action) error {
	s.testee.Initialize(out, conf, context)
	s.plan, _ = conf["mlcheck.testee"].(action)
	return s.follow(list(s.plan["initialize"]))
}

func (s *spout) follow(actions []any) error {
	for _, each := range actions {
		switch a := each.(action); a["do"] {
		case "emit":
			s.emit(a, nil)
		case "tell":
			s.tell(a["what"], action{"calls": s.calls})
			if a["what"] == "calls" {
				s.calls = nil
			}
		default:
			if err := s.do(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// called remembers a call, and does what conf says about it.
func (s *spout) called(command string, id ...any) error {
	s.calls = append(s.calls, append([]any{command}, id...))
	actions := list(s.plan[command])
	if command == "next" && s.plan != nil {
		var now []any
		if s.count < len(actions) {
			now = list(actions[s.count])
		}
		s.count++
		actions = now
	}
	return s.follow(actions)
}

func (s *spout) NextTuple() error {
	if s.plan == nil {
		var id any
		if len(s.again) > 0 {
			id, s.again = s.again[0], s.again[1:]
		} else {
			s.count++
			id = fmt.Sprint(s.count)
		}
		s.Emit(storm.Emit{Values: []any{fmt.Sprint("word ", id)}, ID: id})
	}
	return s.called("next")
}

func (s *spout) Ack(id any) error { return s.called("ack", id) }

func (s *spout) Fail(id any) error {
	if s.plan == nil && text(id) != "" {
		s.again = append(s.again, id)
	}
	return s.called("fail", id)
}

func (s *spout) Activate() error { return s.called("activate") }

func (s *spout) Deactivate() error { return s.called("deactivate") }

func main() {
	switch os.Args[1] {
	case "bolt":
		storm.RunBolt(&bolt{}, false)
	case "basic":
		storm.RunBolt(&bolt{basic: true}, true)
	case "spout":
		storm.RunSpout(&spout{})
	}
}
