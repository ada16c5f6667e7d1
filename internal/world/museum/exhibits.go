package museum

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// The sets with which the hole in Maekawa's published rules shows: each process is in its
// own set, and any two sets intersect.
const holed = "1:1,2,3;2:2,3;3:3"

// exhibits lists the museum, in the order of its rooms.
func exhibits() []exhibit {
	return slices.Concat(unsafe(), stuck(), outOfOrder(), starved(), afterFaults())
}

// unsafe are those in which two processes are inside at once.
func unsafe() []exhibit {
	return []exhibit{
		{
			title:    "The bakery without choosing",
			believed: "Take a number one larger than all you see, and wait until nobody has a smaller one; equal numbers go by id. The flag *choosing* looks like a precaution.",
			broken:   &setting{algorithm: "bakery-naive", requests: 1, properties: "mutual-exclusion"},
			happens:  "Two processes read the same numbers. The one with the higher id writes its number first, sees that the other has none yet, and goes in; then the other writes the same number, and goes in by its lower id.",
			fix:      "Lamport's *choosing*: who is taking a number says so, and is waited for. Three processes are needed to see the failure on FIFO channels: with two it does not happen.",
			proofs:   []setting{{algorithm: "bakery", properties: "mutual-exclusion"}, {algorithm: "bakery", requests: 1}},
		},
		{
			title:    "Lamport's queue without FIFO channels",
			believed: "Enter when the own request heads the queue and something later has come from everybody: then no earlier request can still be under way. On a network that reorders messages that is not so.",
			broken:   &setting{algorithm: "lamport", nodes: 2, requests: 1, network: algorithm.Unordered, properties: "mutual-exclusion"},
			happens:  "A REPLY overtakes the REQUEST that was sent before it.",
			fix:      "FIFO channels, as Lamport demands. Or Ricart and Agrawala's algorithm, which needs no order: an answer is the permission itself.",
			proofs: []setting{
				{algorithm: "lamport", nodes: 2}, {algorithm: "lamport", requests: 1},
				{algorithm: "ricart-agrawala", requests: 1, network: algorithm.Unordered, properties: "mutual-exclusion,deadlock,starvation"},
			},
		},
	}
}

// stuck are those in which a process waits forever.
func stuck() []exhibit {
	return []exhibit{
		{
			title:    "Maekawa without resolution",
			believed: "Any two quorums meet, and a member of both votes for one only: so two cannot be inside, and that is all that is needed.",
			broken:   &setting{algorithm: "maekawa-naive", properties: "deadlock"},
			happens:  "Each has a vote that another one needs.",
			fix:      "FAILED, INQUIRE and RELINQUISH: a voter that hears of an older request asks its vote back.",
			proofs:   []setting{{algorithm: "maekawa"}},
		},
		{
			title:    "Maekawa as published",
			believed: "With FAILED, INQUIRE and RELINQUISH as in the paper of 1985 no deadlock is possible. With the usual grid of three processes that is true, and small examples hide the hole; with the grid of four it shows, and with the sets below three processes are enough.",
			broken:   &setting{algorithm: "maekawa-published", requests: 1, options: algorithm.Options{Sets: holed}, properties: "deadlock"},
			happens:  "A request that is queued as the oldest that waits gets no FAILED. If a still older one comes, nobody tells it, so it sees no reason to give another vote back, and the older one waits for that vote.",
			fix:      "One more FAILED: a voter that puts an older request before one it has not FAILED tells that one.",
			proofs:   []setting{{algorithm: "maekawa", options: algorithm.Options{Sets: holed}}},
		},
		{
			title:    "Raymond as printed",
			believed: "Raymond's rules, as they are printed in some lectures: who wants the privilege, or hears that a neighbour does, puts it into its queue and asks the holder, unless it has ASKED already; who gets the privilege, or leaves with others waiting, hands it to the head of its queue.",
			broken:   &setting{algorithm: "raymond-printed", requests: 1, properties: "deadlock"},
			happens:  "P1 hands the privilege to the head of its queue and does not ask for it again, although others wait behind it; nobody else knows of them. The print also forgets to reset ASKED when the privilege comes and goes on: then a node never asks again at all.",
			scenes:   []string{"raymond-printed-forgets"},
			fix:      "The paper's MAKE_REQUEST, after every event: whoever does not have the privilege, has a queue and has not asked asks, also right behind the privilege that it has just given away.",
			proofs: []setting{
				{algorithm: "raymond"},
				{algorithm: "raymond", nodes: 4, options: algorithm.Options{Topology: "star"}},
			},
		},
		{
			title:    "Voting by majority, without resolution",
			believed: "A majority is needed to enter, and there cannot be two: so one of those who ask gets it.",
			broken:   &setting{algorithm: "majority-naive", nodes: 6, requests: 1, requesters: "1,2", properties: "deadlock"},
			happens:  "The votes are split, and nobody gives one back.",
			scenes:   []string{"majority-naive-split"},
			fix:      "The same messages as in Maekawa's algorithm. (The split among three candidates is a scenario. The fix is proved for four, of whom two ask, and for three: six are too many for a complete check.)",
			proofs:   []setting{{algorithm: "majority", nodes: 4, requests: 1, requesters: "1,2"}, {algorithm: "majority", requests: 1}},
		},
	}
}

// outOfOrder are those that grant requests in an order other than that in which they
// happened.
func outOfOrder() []exhibit {
	return []exhibit{
		{
			title:    "Ricart and Agrawala, 1981: the answers carry no clock",
			believed: "Requests are granted in the order of their stamps, and so in the order of happened-before. In the paper only REQUESTs move the clocks.",
			broken:   &setting{algorithm: "ricart-agrawala-1981", properties: "order"},
			happens:  "P1 learns of P2's request through P3's OK, without taking over its time, and asks again with a stamp that is not later.",
			fix:      "Every message carries the clock. Then order holds also if applications talk to each other and send the clock along.",
			proofs:   []setting{{algorithm: "ricart-agrawala"}},
		},
		{
			title:    "Carvalho and Roucairol against order",
			believed: "It is Ricart-Agrawala with fewer messages, so it is as fair.",
			broken:   &setting{algorithm: "carvalho-roucairol", properties: "order"},
			happens:  "Who still has all permissions enters without asking anybody, and does not hear of requests that happened before.",
			fix:      "None is needed for what it promises: it is safe and nobody starves. Who needs order takes Ricart-Agrawala, and its messages.",
			proofs:   []setting{{algorithm: "carvalho-roucairol"}, {algorithm: "ricart-agrawala", properties: "order,order-open"}},
		},
		{
			title:    "Raymond's tree against order",
			believed: "Each node serves its queue first come first served, so all are served in order.",
			broken:   &setting{algorithm: "raymond", options: algorithm.Options{Topology: "line"}, properties: "order"},
			happens:  "The queues are local: a request that happened later can be nearer to the token.",
			fix:      "None is needed for what it promises: nobody starves.",
			proofs:   []setting{{algorithm: "raymond", options: algorithm.Options{Topology: "line"}}},
		},
		{
			title:    "The coordinator against order, when applications talk",
			believed: "One queue, first come first served: what could be fairer? As long as processes hear of each other only through the coordinator, order does hold.",
			broken:   &setting{algorithm: "central", properties: "order-open"},
			happens:  "A process tells another one that it has asked; that one asks too, and its REQUEST is faster.",
			fix:      "None: the coordinator cannot know of a request that has not arrived. Order among those who talk takes an algorithm in which everybody is asked.",
			proofs:   []setting{{algorithm: "central", properties: "order"}, {algorithm: "ricart-agrawala", properties: "order-open"}},
		},
		{
			title:    "Raymond, greedy",
			believed: "When the privilege comes by, a node may as well enter first itself if it wants to: it saves messages. It is said to starve the others.",
			scenes:   []string{"raymond-greedy-star", "raymond-fair-star"},
			happens:  "It is unfair, but nobody starves: in a star of four, and in a line of three, the checker finds no fair run in which somebody waits for ever, since the node serves its queue after its own entry. The difference is how often it overtakes: below, P1 enters twice while P4 waits; with the queue in order, never. (The number of entries of others that a waiting process can see has no bound in either: a REQUEST that another node is to pass on may be slow.)",
			fix:      "The queue in order, as in the paper.",
			proofs: []setting{
				{algorithm: "raymond-greedy", nodes: 4, options: algorithm.Options{Topology: "star"}, properties: "starvation"},
				{algorithm: "raymond-greedy", options: algorithm.Options{Topology: "line"}, properties: "starvation"},
				{algorithm: "raymond", nodes: 4, options: algorithm.Options{Topology: "star"}, properties: "starvation"},
			},
		},
	}
}

// starved are methods against deadlock in which a transaction is aborted forever.
func starved() []exhibit {
	return []exhibit{
		{
			title:    "Plain priorities: the lower-ranked requester is removed",
			believed: "Give each process a priority. Who asks for what one of lower rank has may wait; who asks for what one of higher rank has is removed, and tries again. Then nobody ever waits for a higher one, so there is no ring of waiting, and everybody gets through when the others have.",
			broken:   &setting{algorithm: "priority-requester", sites: 2, properties: "starvation"},
			happens:  "There is no deadlock, but the last one is removed as often as it asks, if it always finds the lock with somebody of higher rank. Preempting the holder instead (`priority`) starves it as well: [priority-requester-starves](../../scenarios/priority-requester-starves.stile), [priority-starves](../../scenarios/priority-starves.stile).",
			fix:      "Age instead of rank: wait-die, in which everybody is the oldest one day. The same schedule: [wait-die-once](../../scenarios/wait-die-once.stile).",
			proofs:   []setting{{algorithm: "wait-die", sites: 2}, {algorithm: "wait-die", sites: 2, nodes: 3}},
		},
		{
			title:    "Wait-die with a new stamp after every abort",
			believed: "A transaction that is tried again is a new one, and gets the stamp of its new begin.",
			broken:   &setting{algorithm: "wait-die-restamped", sites: 2, properties: "starvation"},
			happens:  "Who has died is the youngest again, and dies again: [wait-die-restamped-starves](../../scenarios/wait-die-restamped-starves.stile).",
			fix:      "The stamp of the first attempt is kept until the transaction commits: [wait-die-once](../../scenarios/wait-die-once.stile).",
			proofs:   []setting{{algorithm: "wait-die", sites: 2}},
		},
		{
			title:    "Wound-wait with a new stamp after every abort",
			believed: "The same.",
			broken:   &setting{algorithm: "wound-wait-restamped", sites: 2, properties: "starvation"},
			happens:  "Who has been wounded is younger than the next transaction of the other, though it has been there for longer, and is wounded again: [wound-wait-restamped-starves](../../scenarios/wound-wait-restamped-starves.stile).",
			fix:      "The stamp is kept: [wound-wait-keeps](../../scenarios/wound-wait-keeps.stile).",
			proofs:   []setting{{algorithm: "wound-wait", sites: 2}},
		},
	}
}

// afterFaults are those that fail when a process loses its state. Crashes are not in the
// checker's vocabulary: these are scenarios.
func afterFaults() []exhibit {
	return []exhibit{
		{
			title:    "Ricart-Agrawala with a process that restarts with a lower clock",
			believed: "A process that crashes and comes back simply takes part again: it has no token to lose.",
			scenes:   []string{"ricart-agrawala-restart"},
			happens:  "It forgets its clock, and that it has said OK. Its new request has a lower stamp than that of a process which has its OK already, so both are let in.",
			fix:      "A process that has restarted is a new one: it takes a seat in a new view, in which all begin anew from who is inside. That every such start is legitimate is the property *start*.",
			proofs:   []setting{{algorithm: "ricart-agrawala", properties: "start"}},
		},
		{
			title:    "Two tokens after careless regeneration",
			believed: "If the process that had the token at first comes back, it had better bring the token along: it might be lost.",
			scenes:   []string{"token-ring-restart"},
			happens:  "The token was not lost: another process had it. Now there are two, and two are inside.",
			fix:      "Nobody makes a token alone. A token is made when a view begins, by its holder, and messages of the old view are void. That there is never more than one, from every start of a view, is checked.",
			proofs:   []setting{{algorithm: "token-ring", properties: "token,start"}},
		},
		{
			title:    "A token for whoever has waited for long",
			believed: "A token can get lost while everybody lives. Then all wait for ever, so whoever has waited for too long makes a new one.",
			broken:   &setting{algorithm: "token-ring+hasty", nodes: 2, requests: 1, properties: "mutual-exclusion"},
			happens:  "The token was not lost: another process was inside for long. Now there are two, and two are inside.",
			scenes:   []string{"token-ring+hasty-two-tokens"},
			fix:      "Whoever has waited for long asks the leader, and that one asks all whether anybody is inside. If nobody is, everybody stops, and a new view is born with exactly one token; that of the old view is void, also if it was only late.",
			proofs: []setting{
				{algorithm: "token-ring+ring-election", requests: 1, losses: 1, options: algorithm.Options{Patience: 8}, properties: "mutual-exclusion,starvation"},
				{algorithm: "suzuki-kasami+bully", requests: 1, losses: 1, options: algorithm.Options{Patience: 8}, properties: "mutual-exclusion,starvation"},
			},
		},
	}
}
