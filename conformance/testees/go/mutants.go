// Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. The library does
// not know of them: they stand between it and the pipes. Without this file the testee is the same, less the bugs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"component/storm"
)

// mutant is a bug: what becomes of the messages that come in and go out, and what is done before anything else.
type mutant struct {
	in, out change
	first   func()
}

func init() {
	name := os.Getenv("MLCHECK_MUTANT")
	if name == "" {
		return
	}
	bug, known := mutants[name]
	if !known {
		fmt.Fprintln(os.Stderr, "no such mutant:", name)
		os.Exit(2)
	}
	if bug.first != nil {
		bug.first()
	}
	if bug.in != nil {
		storm.Stdin = &input{lines: bufio.NewReader(storm.Stdin), change: bug.in}
	}
	if bug.out != nil {
		storm.Stdout = &output{to: storm.Stdout, change: bug.out}
	}
}

func isTuple(m message) bool {
	return m["tuple"] != nil && m["command"] == nil && m["stream"] != "__heartbeat"
}

func isBeat(m message) bool { return m["stream"] == "__heartbeat" }

func plain(value any) bool {
	text, _ := json.Marshal(value)
	return strings.IndexFunc(string(text), func(r rune) bool { return r > 127 }) < 0
}

// afterAnError changes the fail that follows an error.
func afterAnError(change change) change {
	failed := false
	return func(m message) []any {
		now := failed && m["command"] == "fail"
		failed = m["command"] == "error"
		if now {
			return change(m)
		}
		return keep(m)
	}
}

// heldBack lets each message wait for the next one, as in a buffer that nobody flushes.
func heldBack() change {
	var kept []any
	return func(m message) []any {
		if m["pid"] != nil {
			return keep(m)
		}
		now := kept
		kept = keep(m)
		return now
	}
}

// emitsLast lets emits go out after the next message that is none.
func emitsLast() change {
	var kept []any
	return func(m message) []any {
		if m["command"] == "emit" {
			kept = append(kept, m)
			return nil
		}
		now := append(keep(m), kept...)
		kept = nil
		return now
	}
}

// mixed writes two messages at once, byte by byte in turns, as goroutines do without a lock.
func mixed() change {
	var first message
	return func(m message) []any {
		if m["command"] != "emit" && m["command"] != "ack" {
			return keep(m)
		}
		if first == nil {
			first = m
			return nil
		}
		one, _ := json.Marshal(first)
		other, _ := json.Marshal(m)
		first = nil
		half := len(one) / 2
		return []any{string(one[:half]) + string(other) + string(one[half:]) + "\nend\nend\n"}
	}
}

// directWaits takes nothing after a direct emit until task ids come.
func directWaits() mutant {
	waiting := 0
	var kept []any
	return mutant{
		out: func(m message) []any {
			if m["command"] == "emit" && m["task"] != nil {
				waiting++
			}
			return keep(m)
		},
		in: func(m message) []any {
			if waiting > 0 && m["ids"] == nil {
				kept = append(kept, m)
				return nil
			}
			if waiting > 0 {
				waiting--
				now := kept
				kept = nil
				return now
			}
			return keep(m)
		},
	}
}

// idsOfBefore gives the task ids of the emit before.
func idsOfBefore() change {
	before := message{"ids": json.RawMessage("[]")}
	return func(m message) []any {
		if m["ids"] == nil {
			return keep(m)
		}
		now := before
		before = m
		return keep(now)
	}
}

// idsDropOthers loses what comes while task ids are awaited.
func idsDropOthers() mutant {
	awaited := false
	return mutant{
		out: func(m message) []any {
			awaited = awaited || m["need_task_ids"] == true
			return keep(m)
		},
		in: func(m message) []any {
			if awaited && m["ids"] == nil {
				return nil
			}
			awaited = false
			return keep(m)
		},
	}
}

// onlyWhenIdle answers no heartbeat while tuples are open.
func onlyWhenIdle() mutant {
	open := 0
	return mutant{
		in: func(m message) []any {
			if isTuple(m) {
				open++
			}
			if isBeat(m) && open > 0 {
				return nil
			}
			return keep(m)
		},
		out: func(m message) []any {
			if m["command"] == "ack" || m["command"] == "fail" {
				open--
			}
			return keep(m)
		},
	}
}

// silentAfter gives no sync after these commands to a spout.
func silentAfter(commands ...string) mutant {
	silent := false
	return mutant{
		in: func(m message) []any {
			silent = false
			for _, command := range commands {
				silent = silent || m["command"] == command
			}
			return keep(m)
		},
		out: only("sync", func(m message) []any {
			if silent {
				return nil
			}
			return keep(m)
		}),
	}
}

var mutants = map[string]mutant{
	"ack-twice":         {out: only("ack", twice)},
	"ack-id-number":     {out: field("ack", "id", asNumber)},
	"fail-as-ack":       {out: field("fail", "command", to("ack"))},
	"anchors-missing":   {out: field("emit", "anchors", to([]any{}))},
	"anchors-nested":    {out: field("emit", "anchors", func(old any) any { return []any{old} })},
	"anchors-undefined": {out: field("emit", "anchors", to([]any{nil}))},
	"tuple-object":      {out: field("emit", "tuple", func(old any) any { return message{"values": old} })},
	"task-string":       {out: field("emit", "task", func(old any) any { return fmt.Sprint(old) })},
	"log-map":           {out: field("log", "msg", func(old any) any { return message{"text": old} })},
	"message-id-number": {out: field("emit", "id", asNumber)},
	"integer-float": {out: values(func(old any) any {
		if number, good := old.(json.Number); good {
			float, _ := number.Float64()
			return float
		}
		return old
	})},
	"emit-unencodable": {out: only("emit", func(m message) []any {
		if !plain(m) {
			return nil
		}
		return keep(m)
	})},
	"text-bmp": {out: values(func(old any) any {
		if s, good := old.(string); good {
			return strings.Map(func(r rune) rune { return r & 0xFFFF }, s)
		}
		return old
	})},
	"held-back":   {out: heldBack()},
	"emits-last":  {out: emitsLast()},
	"mixed":       {out: mixed()},
	"end-glued":   {out: only("ack", func(m message) []any { return []any{fmt.Sprintf(`{"command":"ack","id":"%v"}end`, m["id"])} })},
	"sync-twice":  {out: only("sync", twice)},
	"prints":      {out: func(m message) []any { return []any{fmt.Sprintln("sent", m["command"]), m} }},
	"late-pid":    {out: latePid},
	"pid-string":  {out: pidString},
	"raise-acked": {out: afterAnError(field("fail", "command", to("ack")))},
	"fails-other": {out: afterAnError(field("fail", "id", to("-1")))},
	"conf-wrong-key": {in: func(m message) []any {
		if m["conf"] != nil {
			m["conf"] = m["config"]
		}
		return keep(m)
	}},
	"no-pid-file": noPidFile(),
	"beats-ignored": {in: func(m message) []any {
		if isBeat(m) {
			return nil
		}
		return keep(m)
	}},
	"beats-acked": {in: func(m message) []any {
		if isBeat(m) {
			m["stream"] = "__tick"
		}
		return keep(m)
	}},
	"beats-when-idle": onlyWhenIdle(),
	"direct-waits":    directWaits(),
	"ids-of-before":   {in: idsOfBefore()},
	"ids-drop-others": idsDropOthers(),
	"silent-ack":      silentAfter("ack", "fail"),
	"silent-activate": silentAfter("activate", "deactivate"),
	"swapped": {in: func(m message) []any {
		if other := map[any]any{"ack": "fail", "fail": "ack"}[m["command"]]; other != nil {
			m["command"] = other
		}
		return keep(m)
	}},
	"latin-1": {in: func(m message) []any {
		text, _ := json.Marshal(m)
		var wrong []rune
		for _, each := range text {
			wrong = append(wrong, rune(each))
		}
		if m["ids"] != nil {
			return keep(m)
		}
		return []any{string(wrong) + "\nend\n"}
	}},
	"outlives":  {first: func() { storm.Stdin = endless{storm.Stdin} }},
	"long-line": {first: func() { storm.Stdin = scanned(storm.Stdin) }},
	"stderr-unread": {first: func() {
		_, os.Stderr, _ = os.Pipe()
	}},
	"stderr-flood": {out: only("sync", func(m message) []any {
		fmt.Fprint(os.Stderr, strings.Repeat(".", 100000))
		return keep(m)
	})},
}

// noPidFile takes the file away before anybody looks for it.
func noPidFile() mutant {
	folder := ""
	return mutant{
		in: func(m message) []any {
			folder += text(m["pidDir"])
			return keep(m)
		},
		out: func(m message) []any {
			if m["pid"] != nil {
				os.Remove(fmt.Sprint(folder, "/", m["pid"]))
			}
			return keep(m)
		},
	}
}

func latePid(m message) []any {
	if m["pid"] == nil {
		return keep(m)
	}
	return []any{message{"command": "log", "msg": "starting"}, m}
}

func pidString(m message) []any {
	if m["pid"] != nil {
		m["pid"] = fmt.Sprint(m["pid"])
	}
	return keep(m)
}
