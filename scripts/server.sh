# Sourced: starts the docent of $docent over HTTP for this repository, with the flags given to `start_server`, and leaves its
# address in $url and a folder for this run in $work. Both end with the script.

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

start_server() {
    "$docent" serve --root "$repository" --http 127.0.0.1:0 "$@" 2>"$work/log" &
    server=$!
    until url=$(grep -o 'http://[^ ]*/mcp' "$work/log"); do
        kill -0 "$server" || { cat "$work/log" >&2; exit 1; }
    done
}
