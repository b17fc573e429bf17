"""A client of python-socketio. Reads its options as JSON, and prints what it receives as lines of JSON, until it is stopped."""

import json
import sys
import threading

import socketio

options = json.loads(sys.argv[1])
client = socketio.Client(reconnection=False, request_timeout=60)


turn = threading.Lock()


def say(**line):
    # Each handler runs in its own thread.
    with turn:
        print(json.dumps(line), flush=True)


@client.on("*")
def heard(name, told):
    say(name=name, told=told)


@client.on("connect_error")
def refused(reason):
    say(refused=reason)


@client.on("disconnect")
def ended(reason):
    say(ended=reason)


try:
    client.connect(
        options["url"],
        socketio_path="/ws/socket.io",
        transports=options["transports"],
        auth=options["auth"],
        wait_timeout=60,
    )
except socketio.exceptions.ConnectionError:
    sys.exit(1)
say(joined=client.call("user-join", {"auth": {"token": options["auth"]["token"]}}), transport=client.transport())
for line in sys.stdin:
    name, sent = json.loads(line)
    client.emit(name, sent)
client.disconnect()
