#!/bin/sh
# Checks Python and Java before anything is installed, and says what to install if one is missing or too old.
# Usage: preflight.sh PYTHON

python=$1
problems=0

problem() {
    printf '%s\n  %s\n' "$1" "$2" >&2
    problems=1
}

python_remedy='Install it (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python), or choose another: make setup PYTHON=python3.11'
if ! command -v "$python" >/dev/null 2>&1; then
    problem "Python is missing: there is no $python. lineproof needs 3.10 or newer." "$python_remedy"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    problem "$python is too old ($("$python" --version 2>&1)). lineproof needs 3.10 or newer." "$python_remedy"
elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    problem "$python cannot create virtual environments." 'Install the venv module (Debian, Ubuntu: apt install python3-venv).'
fi

java_remedy='Install Java 17 or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), or set JAVA_HOME to one you have.'
if [ -n "$JAVA_HOME" ]; then java=$JAVA_HOME/bin/java; else java=java; fi
if ! command -v "$java" >/dev/null 2>&1; then
    problem "Java is missing: there is no $java. Spark needs 17 or newer." "$java_remedy"
else
    # Java 8 and older report 1.8.
    version=$("$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]\{1,\}\).*/\2/p' | head -n 1)
    if [ -z "$version" ]; then
        problem "$java is not a working Java." "$java_remedy"
    elif [ "$version" -lt 17 ]; then
        problem "$java is too old (Java $version). Spark needs 17 or newer." "$java_remedy"
    fi
fi

exit $problems
