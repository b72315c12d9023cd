#!/usr/bin/env bash
# What the tests need beside Python, on Debian: two brokers, a browser, Maven, a JDK of 21 or later, Compose, a C compiler.
# Where it may not be installed that is said, and the tests that need it are not run.
# The servers' jars are fetched by Maven at the first test run and kept in ~/.cache/ibidem-servers.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=()
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || packages+=(rabbitmq-server)
command -v redis-server > /dev/null || packages+=(redis-server)
command -v mvn > /dev/null || packages+=(maven)
command -v chromium > /dev/null || packages+=(chromium)
command -v docker-compose > /dev/null || packages+=(docker-compose)
PYTHONPATH=. python3 -m servers.jdk > /dev/null 2>&1 || packages+=(openjdk-21-jre-headless)
command -v cc > /dev/null || packages+=(gcc libc6-dev) # the loops of signing
[ ${#packages[@]} -gt 0 ] || exit 0

without() {
    echo "not installed ($1): $2; the tests that need it are not run" >&2
}
as_root=()
if ! command -v apt-get > /dev/null; then
    without "no apt-get" "${packages[*]}"
    exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2> /dev/null; then
        without "needs root" "${packages[*]}"
        exit 0
    fi
    as_root=(sudo -n)
fi
"${as_root[@]}" apt-get update -qq || true
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
install "${packages[@]}" || for package in "${packages[@]}"; do # one by one, where a release lacks one of them
    install "$package" || without "apt-get could not" "$package"
done
