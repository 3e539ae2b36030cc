#!/bin/sh
# Installs a command from Debian's packages, if it is missing.
# Usage: system_package.sh COMMAND PACKAGE...

command=$1
shift
command -v "$command" >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
    printf '%s\n  %s\n' "$command is missing." "Install it (Debian, Ubuntu: sudo apt install $*), then run this again." >&2
    exit 1
fi
echo "Installing $command ..."
# On a new machine there is no list of packages yet.
apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
