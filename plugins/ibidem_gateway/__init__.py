"""The HTTP gateway: dedupe for every search client, and a page for people."""

COMMANDS = {
    "serve": ("Serve searches over HTTP in the engine's own format, and a page for browsers.", "ibidem_gateway.command")
}
