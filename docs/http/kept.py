"""Shares a lock, and runs transactions that retry after a deadlock, with Python's standard
library.

STILE_URL is the HTTP address of a node.
"""

import threading

from locks import Node, Problem


def transact(node, session, work):
    """Calls work with a transaction and commits it; and again, as long as it must abort."""
    deadlocks = 0
    ids = {"session": session, **node.call("Locks/Begin", session=session)}
    while True:
        try:
            work(ids)
            node.call("Locks/Commit", **ids)
            return deadlocks
        except Problem as p:
            if p.code != "aborted":
                node.call("Locks/Abort", **ids)
                raise
            deadlocks += 1
            ids["transaction"] = node.call("Locks/Retry", **ids)["transaction"]


def transfer(names, both, found):
    """Acquires two locks in a transaction. A program that works for longer also calls
    KeepAlive, which reports if the transaction must abort."""
    node = Node()
    session = node.call("Locks/OpenSession")["session"]

    def work(ids):
        node.call("Locks/Acquire", name=names[0], **ids)
        if both:
            both.pop().wait()  # at the first try, so that there is a deadlock
        node.call("Locks/Acquire", name=names[1], **ids)

    found.append(transact(node, session, work))
    node.call("Locks/CloseSession", session=session)
    node.close()


def sharing(node):
    for label in "ann", "bob":
        session = node.call("Locks/OpenSession", label=label)["session"]
        held = node.call("Locks/Acquire", session=session, name="kept/catalogue", shared=True)["held"]
        print(label, "holds it in mode", held["mode"], "with token", held["token"])
    lock = node.call("Cluster/ListLocks", prefix="kept/catalogue")["locks"][0]
    print("listed:", ", ".join(h["label"] for h in [lock["holder"], *lock["others"]]))


sharing(Node())
found = []
start = threading.Barrier(2)
threads = [threading.Thread(target=transfer, args=(names, [start], found))
           for names in (["kept/account/1", "kept/account/2"], ["kept/account/2", "kept/account/1"])]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(found), "transactions committed,", sum(found), "deadlock on the way")
