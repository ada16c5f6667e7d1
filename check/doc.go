// Package check explores every behaviour of a group of machines: the same
// code that the simulator runs, under every order of events.
//
//	report, err := check.Run(check.Config{Spec: mutex.RicartAgrawala(), Nodes: 3})
//
// A report has a verdict for each property. It is honest: holds means proved
// for this number of processes and any number of requests; holds-bounded says
// up to which bound; unfinished and not-checked say why; violated comes with a
// counterexample, as a scenario that the simulator replays. It is a shortest one,
// but for runs without end, bypass, and dives in large groups. What
// was seen but could not be shown in the time and memory there is, is
// unfinished. Config.Found is told of a violation when it is found.
//
// # How it works
//
// Package explore visits every state of a model, and knows nothing of
// algorithms. Two different states that share a fingerprint would be taken for
// one; the report says how probable that is. When something is broken, a second
// search that remembers every parent finds the way there.
//
// The group of machines is one model, package group: machines, messages under
// way, timers, who is dead, and what an adversary may still do. What the
// applications around it are - of a lock, of an election, of transactions over
// several locks - is a value, a family.Family: there is one Run for all of them.
// The states of single machines and the contents of messages, here called
// blobs, are few, so a global state names them by number, and what a machine
// does with an input is found out once, by running it. Package ring has another
// model.
//
// Every counterexample is first run again without anything renumbered, and then
// replayed by the simulator: another host, with another network, that has the
// environment in common and watches the order of requests in its own way. What
// is not confirmed is unfinished, never violated.
//
// # Why an unbounded number of requests can be finite
//
// Algorithms only compare logical times, copy them and count up by one, so all
// states that agree in the order and nearness of their times behave alike:
// they are renumbered to one. Counters that belong to one process are measured
// from what the token says of it; those of attempts of a transaction are ranked.
// That this changes nothing is tested for every single step of every machine, by
// taking it again with all times and counters moved in a handful of ways, by
// little and by much; an algorithm that does more with them fails this in nearly
// every case, and is told so. These are samples: what treats one number unlike all
// others, the time 50 say, which is neither among those that states are renumbered
// to nor among those they are moved to, is not found out, and holds is then said of
// the algorithm without that. So holds stands on this: the author does not get at
// the numbers of times on purpose (algorithm.Time has no method for it) and does no more
// with counters than algorithm.Coder.Seq allows. Times that drift apart without bound
// (Spec.Spreads) are kept apart only as "next to" and "further": this can add
// behaviours but takes none away, so holds is right, and a violation is only
// reported if a real run shows it.
//
// # Infinite runs
//
// Starvation is a question about infinite runs, so it is asked of the state
// graph: the strongly connected parts in which a process waits. Deliveries and
// exits are fair: what remains possible for ever happens. Requests are not:
// nobody must ask again. With a bound on requests most graphs have no cycle. One
// search in depth shows that; then every run ends, and to starve is to be in a
// deadlock. An election agrees if in no part in which a fair run can stay there
// is a state without agreement.
//
// # Applications that talk
//
// For order-open, messages between applications take no time and are only sent
// right before the receiver asks: the one reduction there is among locks. The
// tests compare it with applications that talk at any time.
//
// # Processes that die, and time
//
// Elections, and locks that survive deaths, are checked with crashes, comebacks
// and timers that run out in time. What is sent to the dead is lost as late as
// makes no difference, and time stands still while no timer runs. Of the timers
// of sites, those do not run that would change nothing. The tests compare each of
// these with the model that does without.
//
// Of other locks, a timer may run out at any time once it is set, before its time too,
// and does so in the end, unless it is set again and again. So what is broken may be so
// only where clocks are as bad as that.
//
// # Large groups
//
// Up to 64 processes, if few of them ask: at most 30, and 16 if the order of
// requests is watched. If one property is asked for and a search in breadth would
// take long, runs at random are tried: what they break is broken, though there
// may be a shorter way to break it.
//
// Why it is made like this, and not otherwise, is in DESIGN.md.
package check
