"""Acquires, keeps, loses and releases a lock with Python's standard library.

STILE_URL is the HTTP address of a node.
"""

import http.client
import json
import os
import struct
import time
import urllib.parse

URL = urllib.parse.urlsplit(os.environ.get("STILE_URL", "http://127.0.0.1:7421"))


class Problem(Exception):
    """An error of the node: its code, such as failed_precondition, and its reason."""

    def __init__(self, code, reason, message):
        super().__init__(f"{code} ({reason}): {message}")
        self.code, self.reason = code, reason


def seconds(duration):
    return float(duration.removesuffix("s"))


class Node:
    """A connection to a node. It is for one thread at a time."""

    def __init__(self):
        self.connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=90)

    def call(self, method, **fields):
        body = json.dumps(fields)
        self.connection.request("POST", "/stile.v1." + method, body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        fields = json.loads(answer.read())
        if answer.status != 200:
            raise Problem(fields["code"], answer.headers["Stile-Reason"], fields.get("message", ""))
        return fields

    def stream(self, method, **fields):
        """Yields the messages of a stream: each has a flag, a length and a JSON object."""
        body = json.dumps(fields).encode()
        self.connection.request("POST", "/stile.v1." + method, struct.pack(">BI", 0, len(body)) + body,
                                {"Content-Type": "application/connect+json"})
        answer = self.connection.getresponse()
        while True:
            flag, length = struct.unpack(">BI", answer.read(5))
            message = json.loads(answer.read(length))
            if flag & 2:  # the end, with or without an error
                if "error" in message:
                    reason = message.get("metadata", {}).get("Stile-Reason", [""])[0]
                    raise Problem(message["error"]["code"], reason, message["error"].get("message", ""))
                return
            yield message

    def close(self):
        self.connection.close()


def unary(node):
    """Keeps a session alive, and counts exactly."""
    session = node.call("Locks/OpenSession", label="nightly job")["session"]
    before = time.monotonic()  # before the request is sent
    held = node.call("Locks/Acquire", session=session, name="jobs/nightly", wait="30s")["held"]
    deadline = before + seconds(held["validFor"])
    print("held with token", held["token"])
    for i in range(3):  # every third of the session's length
        if i == 2:  # what an operator may do at any time
            node.call("Cluster/ForceRelease", name="jobs/nightly")
        before = time.monotonic()
        answer = node.call("Locks/KeepAlive", session=session)
        if "lost" in answer:
            print("lost:", answer["lost"][0]["reason"])
            break  # stop the work
        deadline = before + seconds(answer["validFor"])
        print("kept alive:", deadline > time.monotonic())
    try:  # the token says which hold is released, if the call is delayed on its way
        node.call("Locks/Release", session=session, name="jobs/nightly", token=held["token"])
    except Problem as p:
        print("release says:", p.code, p.reason)
    held = node.call("Locks/Acquire", session=session, name="jobs/nightly")["held"]
    print("held again with token", held["token"])
    released = node.call("Locks/Release", session=session, name="jobs/nightly", token=held["token"])
    print("released token", released["token"])
    node.call("Locks/CloseSession", session=session)


def streaming(node, operator):
    """Holds a lock while a stream lives. Silence longer than validFor is a loss, too."""
    for event in node.stream("Locks/Hold", name="jobs/nightly", label="nightly job"):
        if "waiting" in event:
            print("waiting at place", event["waiting"].get("position", 0))
        elif "held" in event:
            node.connection.sock.settimeout(seconds(event["held"]["validFor"]))
            print("the stream holds token", event["held"]["token"])
        elif "renewed" in event:
            node.connection.sock.settimeout(seconds(event["renewed"]["validFor"]))
            print("the stream is renewed")
            operator.call("Cluster/ForceRelease", name="jobs/nightly")
        elif "lost" in event:
            print("the stream lost it:", event["lost"]["reason"])
    node.close()


if __name__ == "__main__":
    unary(Node())
    streaming(Node(), Node())
