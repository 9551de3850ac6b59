# Sourced: puts Node 22 or newer and the packages of scripts/clients into $cache, and `node` on the PATH.
# Where neither Node nor npm is there, says so loudly and ends the script that asked with success.

cache="${XDG_CACHE_HOME:-$HOME/.cache}/docent/clients"
mkdir -p "$cache"

skip() {
    printf '\n########## SKIPPED: %s ##########\n\n' "$1" >&2
    exit 0
}

node_major() { node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0; }

if [ "$(node_major)" -lt 22 ]; then
    command -v npm >/dev/null || skip "Node 22 or newer is not installed, and no npm to fetch it with; clients were not tried"
    [ -x "$cache/node24/node_modules/node/bin/node" ] ||
        npm install --silent --no-audit --no-fund --prefix "$cache/node24" node@24 >/dev/null ||
        skip "Node 24 could not be fetched; clients were not tried"
    PATH="$cache/node24/node_modules/node/bin:$PATH"
    [ "$(node_major)" -ge 22 ] || skip "Node 24 was fetched and does not run; clients were not tried"
fi

if ! cmp -s "$repository/scripts/clients/package.json" "$cache/package.json" || [ ! -d "$cache/node_modules" ]; then
    rm -rf "$cache/node_modules" "$cache/package.json"
    cp "$repository/scripts/clients/package.json" "$cache/package.json"
    npm install --silent --no-audit --no-fund --no-package-lock --prefix "$cache" >/dev/null || {
        rm -f "$cache/package.json"
        skip "the client packages could not be fetched; clients were not tried"
    }
fi
