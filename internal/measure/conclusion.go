package measure

import "fmt"

// The tables that are quoted.
const (
	local  = "Entries: " + string(Local)
	hot    = "Entries: " + string(Hot)
	random = "Entries: " + string(Random)

	frames  = "frames per entry"
	sync    = "synchronisation delay"
	client  = "client delay"
	wait    = "wait"
	busiest = "busiest member"
)

// conclusion returns what the tables show, in words. It quotes the numbers of the tables,
// and a test checks the rest against them.
func conclusion(q quotes) string {
	nine := func(table, row, column string) string { return q.get(table, row, column, 2) } // for N = 3, 5, 9, 25
	many := func(table, row, column string) string { return q.get(table, row, column, 3) }
	crash := func(row, column string) string { return q.get("A crash: locality, 9 members", row, column, 0) }
	once := func(row string, i int) string {
		return q.get("A crash: requested at once, 9 members", row, string(Local), i)
	}
	orderly := func(what string) string {
		return q.get("A member joins or leaves: 9 members", "naimi-trehel", what+", "+string(Local), 2)
	}
	out := func(row, column string, i int) string {
		return q.get("An outage: 5 members, 3 voters, a lease of 10s", row, column, i)
	}
	return fmt.Sprintf(`## What follows

**naimi-trehel is the default.** Most applications use the same locks again and again. Then it sends the fewest frames for any number of members: %s per entry with nine members, and %s with 25. The next is raymond with %s and %s. No member is much busier than the others: the busiest one has at most %s times its share. On one hot lock it hands over in %s T, which is the minimum, for %s frames.

**Where another algorithm is better:**

- *Locks that any member may use next*: central takes %s T to enter where naimi-trehel takes %s. From nine members on it also sends fewer frames, %s against %s. But it sends %s with locality, the home of a hot lock has %s times its share of the frames, and it needs %s T to hand over.
- *One hot lock*: token-ring-lazy sends %s frames for any number of members. But with random locks it is the slowest: %s T with nine members, %s T with 25.
- *The shortest wait with locality*: suzuki-kasami, ricart-agrawala-token and carvalho-roucairol take %s T instead of %s with nine members, for up to four times as many frames. The number of frames grows with the number of members.
- *A crash*: with lamport and maekawa %s and %s %% of all locks stall, and with naimi-trehel %s %%, as with the others. In those two, a process that leaves a critical section tells others, which can then rule out that the crashed member was inside. That costs %s and %s frames per entry. Until the eviction, lamport lets almost no process enter: %s %% of the locks, against %s %% with maekawa, %s %% with naimi-trehel, %s %% with central and %s %% with suzuki-kasami.

**What a crash costs.** With all algorithms except lamport, maekawa and central, two kinds of locks stall: those that the crashed member held last, whether in use or not, about one in N; and those whose home it was and that no other member has used in this view. With central, those stall whose home it was. Locks that stall can be entered when the lease expires, %s ms after the crash in the median; all others with the next view, within a few T. A shorter lease shortens both. With token-ring-lazy, requests make it worse: a token that travels around the ring meets the crashed member, and %s %% of the locks that are requested before the eviction stall.

**A join or a leave** makes no request wait for a lease. After a leave, every free lock is entered within %s T with naimi-trehel. After a join it may take %s T: a packet that reaches the new member before the view does is dropped, and its link sends it again after 200 ms.

**Voters and the leader.** This is with five members, three voters and a lease of 10 s. Whichever member crashes, the locks of other members are not affected, unless one is being handed over while the view changes. Such a lock may have to wait until the crashed member's lease expires: about half a lease, or longer if the leader crashed. The crash of a voter that is not the leader costs as much as that of any other member. If the leader crashes, a new one takes over after %s ms in the median and %s at most. Renewals are not confirmed for up to %s ms, and no other member loses a lock. A new leader cannot know when the members last renewed, so it counts their leases from its election. A lock whose holder crashed can be acquired after %s ms in the median if the leader survives, and %s if the leader crashed too, %s at most. If the holder leaves instead, it takes %s ms.
`,
		nine(local, "naimi-trehel", frames), many(local, "naimi-trehel", frames), nine(local, "raymond", frames), many(local, "raymond", frames),
		many(local, "naimi-trehel", busiest), nine(hot, "naimi-trehel", sync), nine(hot, "naimi-trehel", frames),

		nine(random, "central", client), nine(random, "naimi-trehel", client), nine(random, "central", frames), nine(random, "naimi-trehel", frames),
		nine(local, "central", frames), nine(hot, "central", busiest), nine(hot, "central", sync),
		nine(hot, "token-ring-lazy", frames), nine(random, "token-ring-lazy", client), many(random, "token-ring-lazy", client),
		nine(local, "suzuki-kasami", wait), nine(local, "naimi-trehel", wait),
		crash("lamport", "all"), crash("maekawa", "all"), crash("naimi-trehel", "all"), nine(local, "lamport", frames), nine(local, "maekawa", frames),
		once("lamport", 0), once("maekawa", 0), once("naimi-trehel", 0), once("central", 0), once("suzuki-kasami", 0),

		crash("naimi-trehel", "stall, ms"), once("token-ring-lazy", 2),
		orderly("leaves"), orderly("joins"),

		out("the leader crashes", "new leader", 0), out("the leader crashes", "new leader", 1), out("the leader crashes", "renewal", 1),
		out("the holder crashes", "its lock", 0), out("the leader and the holder crash", "its lock", 0), out("the leader and the holder crash", "its lock", 1), out("the holder leaves", "its lock", 1))
}
