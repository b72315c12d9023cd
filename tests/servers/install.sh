#!/usr/bin/env bash
# What the tests need on a bare Debian machine: two brokers, a browser, Maven, and a JDK of 21 or later.
# Their jars are fetched by Maven at the first test run and kept in ~/.cache/ibidem-servers.
set -euo pipefail
packages=()
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || packages+=(rabbitmq-server)
command -v redis-server > /dev/null || packages+=(redis-server)
command -v mvn > /dev/null || packages+=(maven)
command -v chromium > /dev/null || packages+=(chromium)
if [ ${#packages[@]} -gt 0 ]; then
    as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi
