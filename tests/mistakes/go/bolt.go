// A bolt that is right. Each mistake is a change of it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type object = map[string]any

var in = bufio.NewReader(os.Stdin)
var out = bufio.NewWriter(os.Stdout)
var count = 0

func readLine() string {
	line, err := in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	return line
}

func read() any {
	var text strings.Builder
	for {
		line := readLine()
		if line == "end\n" {
			break
		}
		text.WriteString(line)
	}
	var message any
	if err := json.Unmarshal([]byte(text.String()), &message); err != nil {
		panic(err)
	}
	return message
}

func send(message object) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(out, "%s\nend\n", text)
	out.Flush()
}

func process(id string, values []any) {
	word := values[0]
	send(object{"command": "emit", "anchors": []string{id}, "tuple": []any{word}, "need_task_ids": false})
	send(object{"command": "ack", "id": id})
}

func initialize(conf object) {
}

func main() {
	setup := read().(object)
	pid := os.Getpid()
	os.WriteFile(filepath.Join(setup["pidDir"].(string), fmt.Sprint(pid)), nil, 0o600)
	send(object{"pid": pid})
	initialize(setup["conf"].(object))
	for {
		message, isObject := read().(object)
		if !isObject {
			continue
		}
		if message["stream"] == "__heartbeat" {
			send(object{"command": "sync"})
			continue
		}
		count++
		process(message["id"].(string), message["tuple"].([]any))
	}
}
