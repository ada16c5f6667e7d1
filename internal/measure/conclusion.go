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

// conclusion is what the tables show, in words. Its numbers are those of the
// tables; a test holds the rest against them.
func conclusion(q quotes) string {
	nine := func(table, row, column string) string { return q.get(table, row, column, 2) } // of N = 3, 5, 9, 25
	many := func(table, row, column string) string { return q.get(table, row, column, 3) }
	died := func(row, column string) string { return q.get("A death: locality, 9 members", row, column, 0) }
	once := func(row string, i int) string {
		return q.get("A death: asked for at once, 9 members", row, string(Local), i)
	}
	out := func(row, column string, i int) string {
		return q.get("An outage: 5 members, 3 voters, a lease of 10s", row, column, i)
	}
	return fmt.Sprintf(`## What follows

**naimi-trehel is the default.** Most applications come back to the same locks, and then it sends the fewest frames whatever the number of members: %s for an entry with nine of them, and %s with 25; the next is raymond with %s and %s. It has no member that all others depend on: the busiest one has at most %s times its share. On one hot lock it hands over in %s T, which is the least there can be, for %s frames.

**Where another one is better:**

- *Locks that anybody may use next*: central takes %s T to enter where naimi-trehel takes %s, and from nine members on it sends fewer frames, %s against %s. But it sends %s with locality; and the home of a hot lock has %s times its share of the frames, and needs %s T to hand over.
- *One hot lock*: token-ring-lazy sends %s frames, whatever the number of members. But with random locks it is the slowest: %s T with nine members, %s T with 25.
- *The shortest wait with locality*: suzuki-kasami, ricart-agrawala-token and carvalho-roucairol take %s T instead of %s with nine members, for up to four times as many frames; the more members, the more frames.
- *A death*: with lamport and maekawa %s and %s %% of all locks stall, with naimi-trehel %s %%, as with the others: in those two, whoever leaves tells others, so that they can say that the dead was not inside. That costs %s and %s frames for every entry. And until the eviction, with lamport nearly nobody enters anything: %s %% of the locks; with maekawa %s %%, with naimi-trehel %s %%, with central %s %%, with suzuki-kasami %s %%.

**What a death costs.** With all algorithms but lamport, maekawa and central, those locks stall that the dead member was the last one inside of, in use or not: about one in N; and those whose home it was and that nobody else has used in this view. With central those stall whose home it was. Those that stall go on when the lease is over, %s ms after the death in the median; all others with the next view, within a few T. A shorter lease makes both come sooner. With token-ring-lazy, asking makes it worse: a token that is on its way around meets the dead, and %s %% of the locks that are asked for before the eviction stall.

**Joining and leaving** orderly makes nobody wait for a lease: with naimi-trehel every free lock is entered within %s T.

**Voters and the leader.** With five members and three voters, and a lease of 10 s: another lock is entered as if nothing had happened, whoever dies, unless it is being handed over while the view changes; then it may have to wait for the rest of the lease of the dead, about half of it. If a voter dies that does not lead, nothing else happens than if another member dies. If the leader dies, another one serves after %s ms in the median and %s at most; renewals go unconfirmed for %s ms at most, and nobody who is left loses a lock. A new leader cannot know when the others last renewed, so it counts their leases from when it began: what the holder was inside of is entered %s ms after its death in the median if the leader lives, %s if it died with it, %s at most. If the holder leaves orderly it is %s ms.
`,
		nine(local, "naimi-trehel", frames), many(local, "naimi-trehel", frames), nine(local, "raymond", frames), many(local, "raymond", frames),
		many(local, "naimi-trehel", busiest), nine(hot, "naimi-trehel", sync), nine(hot, "naimi-trehel", frames),

		nine(random, "central", client), nine(random, "naimi-trehel", client), nine(random, "central", frames), nine(random, "naimi-trehel", frames),
		nine(local, "central", frames), nine(hot, "central", busiest), nine(hot, "central", sync),
		nine(hot, "token-ring-lazy", frames), nine(random, "token-ring-lazy", client), many(random, "token-ring-lazy", client),
		nine(local, "suzuki-kasami", wait), nine(local, "naimi-trehel", wait),
		died("lamport", "all"), died("maekawa", "all"), died("naimi-trehel", "all"), nine(local, "lamport", frames), nine(local, "maekawa", frames),
		once("lamport", 0), once("maekawa", 0), once("naimi-trehel", 0), once("central", 0), once("suzuki-kasami", 0),

		died("naimi-trehel", "stall, ms"), once("token-ring-lazy", 2),
		q.get("A member joins or leaves: 9 members", "naimi-trehel", "joins, "+string(Local), 2),

		out("the leader dies", "a leader serves", 0), out("the leader dies", "a leader serves", 1), out("the leader dies", "renewal", 1),
		out("the holder dies", "its lock", 0), out("the leader dies, and the holder", "its lock", 0), out("the leader dies, and the holder", "its lock", 1), out("the holder leaves", "its lock", 1))
}
