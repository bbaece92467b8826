// Package storm speaks Apache Storm's multilang protocol, for bolts and spouts that Storm starts as subprocesses:
// JSON in UTF-8, a newline, and a line "end", on stdin and stdout. Numbers come as json.Number, with all their digits.
// What the user's code prints goes to stderr. Nothing is locked: use it in the goroutine that Storm's calls come in.
package storm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

var Stdin, Stdout = io.Reader(os.Stdin), io.Writer(os.Stdout) // the pipes to Storm; a test may put others here

// Tuple is what a bolt is given. A tick has the component "__system" and the stream "__tick".
type Tuple struct {
	ID, Component, Stream string
	Task                  int
	Values                []any
}

// Emit is what to send on. Only Values must be given, and Command is left alone.
type Emit struct {
	Command string   `json:"command"`
	Values  []any    `json:"tuple"`
	Stream  string   `json:"stream,omitempty"`
	Task    int      `json:"task,omitempty"`    // the one task that gets it, on a direct stream
	Anchors []string `json:"anchors,omitempty"` // bolts: ids of tuples; if this is lost, Storm replays those
	ID      any      `json:"id,omitempty"`      // spouts: what Ack or Fail is to be called with, if one is wanted
	TaskIDs bool     `json:"need_task_ids"`     // wait for the ids of the tasks that get it
}

// Bolt acks or fails each tuple exactly once, now or later. After an error or a panic the tuple is failed.
type Bolt interface {
	Initialize(out *Collector, conf, context map[string]any) error
	Process(tuple Tuple) error
}

// Spout answers Storm's calls. Each may emit; NextTuple returns soon, and sleeps a little if there is nothing.
type Spout interface {
	Initialize(out *Collector, conf, context map[string]any) error
	NextTuple() error
	Ack(id any) error
	Fail(id any) error
	Activate() error
	Deactivate() error
}

// Collector is the way to Storm.
type Collector struct {
	in    *bufio.Reader
	other func(message)   // takes what comes while task ids are awaited
	open  map[string]bool // tuples that are neither acked nor failed
	input []string        // the tuple that a basic bolt works on
}

// message is any message of Storm: the handshake, a tuple, a command to a spout, or a list of task ids.
type message struct {
	Conf, Context                 map[string]any
	PidDir, Command, Comp, Stream string
	ID                            any
	Task                          int
	Tuple                         []any
	taskIDs                       []int
}

// RunBolt works until Storm closes the pipe. A basic bolt's emits are anchored to its input, which is acked at the end.
func RunBolt(bolt Bolt, basic bool) {
	c, waiting := start(bolt.Initialize), []message{}
	c.other = func(m message) { waiting = append(waiting, m) }
	for {
		if len(waiting) == 0 {
			waiting = append(waiting, c.next())
		}
		m := waiting[0]
		waiting = waiting[1:]
		tuple := Tuple{fmt.Sprint(m.ID), m.Comp, m.Stream, m.Task, m.Tuple}
		c.open[tuple.ID] = true
		if basic {
			c.input = []string{tuple.ID}
		}
		good := c.attempt(func() error { return bolt.Process(tuple) })
		if good && basic {
			c.Ack(tuple.ID)
		} else if !good && c.open[tuple.ID] {
			c.Fail(tuple.ID)
		}
	}
}

// RunSpout works until Storm closes the pipe.
func RunSpout(spout Spout) {
	c := start(spout.Initialize)
	c.other = func(m message) { // without ackers, Storm calls Ack from within an emit
		calls := map[string]func() error{
			"next":     spout.NextTuple,
			"ack":      func() error { return spout.Ack(m.ID) },
			"fail":     func() error { return spout.Fail(m.ID) },
			"activate": spout.Activate, "deactivate": spout.Deactivate,
		}
		c.attempt(calls[m.Command])
		c.send(map[string]any{"command": "sync"}) // exactly one, whatever happened: Storm waits for it
	}
	for {
		c.other(c.next())
	}
}

// Emit sends a tuple on, and returns the tasks that get it if TaskIDs asks for them; a direct emit has none.
func (c *Collector) Emit(e Emit) []int {
	e.Values, e.Anchors = append([]any{}, e.Values...), append(e.Anchors, c.input...)
	e.Command, e.TaskIDs = "emit", e.TaskIDs && e.Task == 0
	c.send(e)
	for m := (message{}); e.TaskIDs; c.other(m) {
		if m = c.next(); m.taskIDs != nil {
			return m.taskIDs
		}
	}
	return nil
}

// Ack says that the work on a tuple is done; Fail has Storm replay it. A second time panics: Storm's worker would die.
func (c *Collector) Ack(id string)  { c.settle("ack", id) }
func (c *Collector) Fail(id string) { c.settle("fail", id) }
func (c *Collector) settle(command, id string) {
	if !c.open[id] {
		panic(fmt.Sprintf("cannot %s tuple %s: it is settled already", command, id))
	}
	delete(c.open, id)
	c.send(map[string]any{"command": command, "id": id})
}

// Log writes to the worker's log, at level 0 to 4: trace, debug, info, warn, error. ReportError shows in Storm's UI.
func (c *Collector) Log(level int, text string) {
	c.send(map[string]any{"command": "log", "msg": text, "level": level})
}
func (c *Collector) ReportError(text string) { c.send(map[string]any{"command": "error", "msg": text}) }

// start takes stdin and stdout, and does the handshake.
func start(initialize func(out *Collector, conf, context map[string]any) error) *Collector {
	c := &Collector{in: bufio.NewReader(Stdin), open: map[string]bool{}}
	os.Stdout = os.Stderr // stdout belongs to the protocol: a stray fmt.Println would break it
	hello, pid := c.next(), os.Getpid()
	must(os.WriteFile(fmt.Sprintf("%s/%d", hello.PidDir, pid), nil, 0o644))
	c.send(map[string]any{"pid": pid})
	must(initialize(c, hello.Conf, hello.Context))
	return c
}

// attempt runs the user's code. What goes wrong in there is reported, and false returned.
func (c *Collector) attempt(call func() error) (good bool) {
	defer func() {
		if what := recover(); what != nil {
			c.ReportError(fmt.Sprintf("%v\n%s", what, debug.Stack()))
		}
	}()
	must(call())
	return true
}

// next reads a message and answers heartbeats: they are no tuples, and must not be acked.
func (c *Collector) next() (m message) {
	var text, line []byte
	for string(bytes.TrimSpace(line)) != "end" {
		text = append(text, line...)
		var err error
		if line, err = c.in.ReadBytes('\n'); err != nil {
			os.Exit(0) // Storm has closed the pipe: the worker is gone
		}
	}
	into := any(&m) // a list holds task ids
	if text[0] == '[' {
		into = &m.taskIDs
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	must(decoder.Decode(into))
	if m.Stream == "__heartbeat" && m.Task == -1 {
		c.send(map[string]any{"command": "sync"})
		return c.next()
	}
	return m
}

// send writes a message at once and whole. If Storm no longer reads, the process ends.
func (c *Collector) send(m any) {
	text, err := json.Marshal(m)
	must(err)
	Stdout.Write(append(text, "\nend\n"...))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
