#!/bin/sh
# Installs docent @VERSION@ from its release, without root: the binary, manual pages and completions below a prefix.
#
#     sh install.sh [--prefix DIR] [--from DIRECTORY-OR-URL] [--remove]
#
# The prefix is ~/.local unless given. The archive is installed only if its SHA-256 is the one in SHA256SUMS of the
# release. --from takes both from elsewhere: a mirror, or a directory for a machine without network.
set -eu

version=@VERSION@
from=@DOWNLOAD@
prefix=$HOME/.local
remove=false
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) prefix=${2:?--prefix needs a directory}; shift ;;
        --from) from=${2:?--from needs a directory or an address}; shift ;;
        --remove) remove=true ;;
        *) echo "usage: install.sh [--prefix DIR] [--from DIRECTORY-OR-URL] [--remove]" >&2; exit 2 ;;
    esac
    shift
done
fail() { echo "install.sh: $*" >&2; exit 1; }

bash_completion=$prefix/share/bash-completion/completions/docent
fish_completion=$prefix/share/fish/vendor_completions.d/docent.fish
zsh_completion=$prefix/share/zsh/site-functions/_docent

if $remove; then
    rm -f "$prefix/bin/docent" "$bash_completion" "$fish_completion" "$zsh_completion"
    rm -f "$prefix/share/man/man1/docent.1" "$prefix/share/man/man1/docent-"*.1
    echo "Removed docent from $prefix. Its index and settings are in ~/.cache/docent, ~/.config/docent and ~/.local/state/docent."
    exit
fi

machine=$(uname -m)
case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no archive for $machine; build it: cargo install --git @ADDRESS@ docent" ;;
esac
case $(uname -s) in
    Darwin) target=$machine-apple-darwin ;;
    Linux)
        # musl's own message names it. The musl binary runs everywhere, and indexes more slowly.
        case $(ldd --version 2>&1 || true) in
            *musl*) target=$machine-unknown-linux-musl ;;
            *) target=$machine-unknown-linux-gnu ;;
        esac
        ;;
    *) fail "there is no archive for $(uname -s) that this script installs" ;;
esac
name=docent-$version-$target

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get() {
    case $from in
        http://* | https://*)
            if command -v curl >/dev/null; then curl --proto '=https,http' -fsSL -o "$work/$1" "$from/$1"
            elif command -v wget >/dev/null; then wget -q -O "$work/$1" "$from/$1"
            else fail "neither curl nor wget is installed"
            fi
            ;;
        *) cp "$from/$1" "$work/$1" ;;
    esac || fail "$from/$1 cannot be had"
}
get SHA256SUMS
get "$name.tar.gz"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS does not name $name.tar.gz"
if command -v sha256sum >/dev/null; then actual=$(sha256sum "$work/$name.tar.gz")
elif command -v shasum >/dev/null; then actual=$(shasum -a 256 "$work/$name.tar.gz")
else fail "neither sha256sum nor shasum is installed, so the archive cannot be verified"
fi
[ "${actual%% *}" = "$expected" ] || fail "$name.tar.gz does not have the SHA-256 of SHA256SUMS; nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work"
"$work/$name/docent" --version >/dev/null || fail "the binary does not run here; a system with an older glibc needs another archive"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "${bash_completion%/*}" "${fish_completion%/*}" "${zsh_completion%/*}"
# A running docent keeps its file, because the new one is another file.
cp "$work/$name/docent" "$prefix/bin/.docent.new"
chmod 755 "$prefix/bin/.docent.new"
mv -f "$prefix/bin/.docent.new" "$prefix/bin/docent"
cp "$work/$name/man/"*.1 "$prefix/share/man/man1/"
cp "$work/$name/completions/docent.bash" "$bash_completion"
cp "$work/$name/completions/docent.fish" "$fish_completion"
cp "$work/$name/completions/_docent" "$zsh_completion"
echo "Installed $("$prefix/bin/docent" --version | head -n 1) in $prefix/bin."
case :$PATH: in
    *":$prefix/bin:"*) echo "Next: docent setup" ;;
    *) echo "Add $prefix/bin to your PATH. Next: $prefix/bin/docent setup" ;;
esac
