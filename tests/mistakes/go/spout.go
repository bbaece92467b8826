// A spout that is right. Each mistake is a change of it.
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

func read() any {
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			os.Exit(0)
		}
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
	fmt.Printf("%s\nend\n", text)
}

func main() {
	setup := read().(object)
	pid := os.Getpid()
	os.WriteFile(filepath.Join(setup["pidDir"].(string), fmt.Sprint(pid)), nil, 0o600)
	send(object{"pid": pid})
	count := 0
	for {
		message, isObject := read().(object)
		if !isObject {
			continue
		}
		if message["command"] == "next" {
			count++
			send(object{"command": "emit", "id": fmt.Sprintf("m%d", count), "tuple": []string{"word"}, "need_task_ids": false})
		}
		send(object{"command": "sync"})
	}
}
