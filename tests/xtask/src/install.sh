#!/bin/sh
# Installs Formwork @VERSION@: sh install.sh [-prefix DIR] [-from DIR|URL]
#
# Without -prefix it goes to ~/.local, without -from the files beside this script are installed. Only
# an archive that agrees with SHA256SUMS is unpacked.
set -eu

version=@VERSION@
prefix=${HOME:+$HOME/.local}
prefix=${prefix:-/usr/local}
from=$(dirname "$0")

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    -prefix | --prefix) [ $# -gt 1 ] || fail "$1 needs a directory"; prefix=$2; shift 2 ;;
    -from | --from) [ $# -gt 1 ] || fail "$1 needs a directory or an https URL"; from=$2; shift 2 ;;
    -h | -help | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $1; options are -prefix DIR and -from DIR|URL" ;;
  esac
done

[ "$(uname -s)" = Linux ] || fail "releases are made for Linux only; build from source: cargo install --locked --path cli"
case $(uname -m) in
  x86_64) platform=linux_amd64 ;;
  aarch64) platform=linux_arm64 ;;
  *) fail "no release for $(uname -m); build from source: cargo install --locked --path cli" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
archive=formwork_${version}_$platform.tar.gz

fetch() {
  case $from in
    https://*)
      if command -v curl >/dev/null; then
        curl --proto '=https' --proto-redir '=https' -fsSL -o "$work/$1" "$from/$1" || fail "cannot download $from/$1"
      elif command -v wget >/dev/null; then
        # wget would follow a redirect to http.
        wget -q --max-redirect=0 -O "$work/$1" "$from/$1" || fail "cannot download $from/$1 with wget, which may follow no redirect here; install curl"
      else
        fail "neither curl nor wget is installed"
      fi ;;
    http://* | ftp://*) fail "$from is not encrypted; only https and directories are allowed" ;;
    *) cp "$from/$1" "$work/$1" || fail "$from has no file $1" ;;
  esac
}

fetch SHA256SUMS
fetch "$archive"
grep " $archive\$" "$work/SHA256SUMS" >"$work/sum" || fail "SHA256SUMS does not name $archive"
if command -v sha256sum >/dev/null; then
  (cd "$work" && sha256sum -c sum >/dev/null 2>&1) || fail "$archive does not agree with SHA256SUMS"
else
  (cd "$work" && shasum -a 256 -c sum >/dev/null 2>&1) || fail "$archive does not agree with SHA256SUMS"
fi
mkdir -p "$prefix"
tar -xzf "$work/$archive" -C "$prefix" --strip-components=1 --no-same-owner
installed=$("$prefix/bin/formwork" version) || fail "$prefix/bin/formwork does not run on this system; build from source: cargo install --locked --path cli"
echo "Installed $(echo "$installed" | head -n 1) to $prefix/bin/formwork"
case :${PATH:-}: in
  *":$prefix/bin:"*) ;;
  *) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
