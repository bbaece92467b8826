package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

type message = map[string]any

// change says what becomes of a message: messages in its place, or text as it is.
type change = func(message) []any

// input hands Storm's messages on, changed.
type input struct {
	lines  *bufio.Reader
	change change
	ready  bytes.Buffer
}

func (i *input) Read(into []byte) (int, error) {
	for i.ready.Len() == 0 {
		text, err := i.lines.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if string(text) != "end\n" {
			write(&i.ready, i.change(decoded(text)))
		}
	}
	return i.ready.Read(into)
}

// output hands the library's messages on, changed. The library writes each at once.
type output struct {
	to     io.Writer
	change change
}

func (o *output) Write(text []byte) (int, error) {
	var whole bytes.Buffer
	write(&whole, o.change(decoded(text)))
	o.to.Write(whole.Bytes())
	return len(text), nil
}

// decoded is a message; that of task ids has them in the field "ids".
func decoded(text []byte) message {
	var m message
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&m) != nil {
		m = message{"ids": json.RawMessage(bytes.TrimSpace(text))}
	}
	return m
}

func write(into *bytes.Buffer, messages []any) {
	for _, each := range messages {
		switch each := each.(type) {
		case string:
			into.WriteString(each)
		case message:
			var whole any = each
			if each["ids"] != nil {
				whole = each["ids"]
			}
			text, _ := json.Marshal(whole)
			into.Write(append(text, "\nend\n"...))
		}
	}
}

// endless is a stdin whose end is not seen.
type endless struct{ io.Reader }

func (e endless) Read(into []byte) (int, error) {
	read, err := e.Reader.Read(into)
	for start := time.Now(); err != nil && time.Since(start) < time.Minute; { // not for ever: nobody may be there to end it
		time.Sleep(time.Millisecond)
	}
	return read, err
}

// scanned takes lines up to 64 KiB only, as bufio.Scanner does.
func scanned(from io.Reader) io.Reader {
	source, into := io.Pipe()
	go func() {
		for lines := bufio.NewScanner(from); lines.Scan(); {
			fmt.Fprintln(into, lines.Text())
		}
		into.Close()
	}()
	return source
}

func keep(m message) []any { return []any{m} }

func twice(m message) []any { return []any{m, m} }

// only changes the messages with one command.
func only(command string, change change) change {
	return func(m message) []any {
		if m["command"] != command {
			return keep(m)
		}
		return change(m)
	}
}

// field changes one field of the messages with one command.
func field(command, key string, change func(any) any) change {
	return only(command, func(m message) []any {
		if old, there := m[key]; there {
			m[key] = change(old)
		}
		return keep(m)
	})
}

func to(value any) func(any) any { return func(any) any { return value } }

// asNumber is a string without its quotes.
func asNumber(old any) any { return json.RawMessage(text(old)) }

// values changes each value of an emit.
func values(change func(any) any) change {
	return field("emit", "tuple", func(old any) any {
		var changed []any
		for _, value := range list(old) {
			changed = append(changed, change(value))
		}
		return changed
	})
}
