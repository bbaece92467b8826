# A spout that is right. Each mistake is a change of it.
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
count=0
while receive; do
    case $text in
    \[*) continue ;;
    *'"next"'*)
        count=$((count + 1))
        say "{\"command\": \"emit\", \"id\": \"m$count\", \"tuple\": [\"word\"], \"need_task_ids\": false}"
        ;;
    esac
    say '{"command": "sync"}'
done
