# A bolt that is right. Each mistake is a change of it.
receive() {
    text=
    while IFS= read -r line; do
        [ "$line" = end ] && return 0
        text=$text$line
    done
    return 1
}
say() { printf '%s\nend\n' "$1"; }

receive || exit 0
folder=$(printf '%s' "$text" | sed 's/.*"pidDir": *"\([^"]*\)".*/\1/; s,\\/,/,g')
: > "$folder/$$"
say "{\"pid\": $$}"
while receive; do
    case $text in
    *__heartbeat*) say '{"command": "sync"}' ;;
    \[*) ;;
    *)
        id=$(printf '%s' "$text" | sed 's/.*"id": *"\([^"]*\)".*/\1/')
        say "{\"command\": \"emit\", \"anchors\": [\"$id\"], \"tuple\": [\"word\"], \"need_task_ids\": false}"
        say "{\"command\": \"ack\", \"id\": \"$id\"}"
        ;;
    esac
done
