// Package check explores every behaviour of a group of machines: the same code that the
// simulator runs, under every order of events.
//
//	report, err := check.Run(check.Config{Spec: mutex.RicartAgrawala(), Nodes: 3})
//
// A report has a verdict for each property. The verdicts are honest: holds means proved
// for this number of processes and any number of requests; holds-bounded says up to which
// bound; unfinished and not-checked say why; violated comes with a counterexample, as a
// scenario that the simulator replays. The counterexample is a shortest one, except for
// infinite runs, bypass, and dives in large groups. A violation that was seen but could
// not be demonstrated within the limits of time and memory is unfinished. Config.Found is
// called for each violation when it is found.
//
// # How it works
//
// Package lab/internal/explore visits every state of a model, and knows nothing of
// algorithms. Two different states with the same fingerprint would be taken for one; the
// report gives the probability of that. When a property is violated, a second search that
// remembers every parent finds the path to the violation.
//
// The group of machines is one model, package lab/internal/model: machines, messages in
// flight, timers, dead processes, and what an adversary may still do. The applications
// around it - of a lock, of an election, of transactions over several locks - are a
// value, a family.Family: there is one Run for all of them. The states of single machines
// and the contents of messages, here called blobs, are few. A global state therefore
// names them by number, and what a machine does with an input is determined once, by
// running it. Package lab/internal/ring has another model, for Dijkstra's ring as in the
// paper, where processes read each other's flags.
//
// Every counterexample is first run again without any renumbering, and then replayed by
// the simulator: another host, with another network, that shares the environment and
// checks the order of requests in its own way. A violation that is not confirmed is
// unfinished, never violated.
//
// # Why an unbounded number of requests can be finite
//
// Algorithms only compare logical times, copy them and count up by one, so all states
// that agree in the order and nearness of their times behave alike: they are renumbered
// to one. Counters that belong to one process are measured from what the token says about
// it; those of attempts of a transaction are ranked.
//
// That this changes nothing is tested for every single step of every machine, by taking
// it again with all times and counters shifted: by a handful of small and large numbers,
// and at the end by 1 to 64, all of them if there are few different steps, and otherwise
// some of them for each step. These are samples. An algorithm that looks at remainders of a
// division by up to 64 is caught if it has few steps, and probably if it has many. One that
// treats a single number unlike all others, say the time 500, is not. The verdict holds
// then applies to the algorithm without that exception. So holds rests on this assumption:
// the author does not obtain the numbers of times on purpose (algorithm.Time has no method
// for it) and does no more with counters than algorithm.Coder.Seq allows.
//
// Times that drift apart without bound (Spec.Spreads) are distinguished only as "next to"
// and "further". This can add behaviours but removes none, so holds is right, and a
// violation is reported only if a real run shows it. If the violation is an infinite run,
// the real run must be known to have no end: the times at two visits of a state differ
// only by a shift, or no gap between them has become narrower and no step has used a gap
// in which only one time fits. Otherwise the verdict is unfinished.
//
// # What an author claims
//
// Because of some claims of an author, the checker takes different states for one. Before
// it reports that a property holds, it tests these claims on every different step that it
// explored. If a claim fails, the verdicts are unfinished, and the note says in which step.
//
//   - algorithm.Coder.Anchors: how far a counter lags behind its anchor does not matter.
//     Each step is taken again with the counters that were seen to lag left further behind,
//     together and one by one.
//   - algorithm.Coder.Idempotent: a second copy of a message changes nothing. A receiver
//     must ignore it right after the first one, and after any step from then on. This is a
//     proof for the states explored, unless the message has logical times: then it is listed
//     as an assumption. The same is tested of repeated messages under Spec.Upset.
//   - For order-open, only a request advances a clock beyond all others. Each step is
//     tested, and a receiver's clock is compared with those of all others in random runs.
//
// # Machines and their bytes
//
// A machine is rebuilt from the bytes of its state before each step, so the checker does
// not see what it keeps elsewhere: behind a pointer, in a variable of a closure, or as a
// member of a Set that is not in the view. Before the checker reports that a property
// holds, it therefore makes random runs with machines that are kept alive, beside others
// that are rebuilt. If they differ, the check ends with an error. These runs are samples,
// too. They do not find what shows only after thousands of steps, randomness that rarely
// matters, or a machine that differs from an earlier one in a way that no step shows.
// Report.Assumes lists what is assumed.
//
// These tests count towards the time limit. If they are not finished when it ends, nothing
// is reported to hold, though all states were explored: the verdict is unfinished, and the
// note says how far they got.
//
// # Infinite runs
//
// Starvation is a question about infinite runs, so it is answered on the state graph: by
// the strongly connected components in which a process waits. Deliveries and exits are
// fair: what remains possible forever happens. Requests are not: no process must request
// again. On an ordered network a link that has messages delivers one eventually; on an
// unordered network every message arrives. A message remains the same one when its times
// are renumbered, so each step of the graph says what it renumbers. With a bound on
// requests most graphs have no cycle. A depth-first search shows that; then every run
// ends, and starvation is deadlock. An election agrees if no component in which a fair
// run can stay has a state without agreement.
//
// # Applications that talk
//
// For order-open, messages between applications take no time and are sent only right
// before the receiver makes a request. The tests compare this with applications that talk
// at any time.
//
// # Spent messages
//
// A message whose delivery changes nothing, in any state that its receiver can be in, is
// spent: a REQUEST that was granted long ago, for instance. With Config.Reduce, spent
// messages are removed at once. That is a partial order reduction: their delivery commutes
// with everything. Which messages are spent is not declared but tried: each one in every
// state in which its receiver is seen. If it changes something in one of them, the search
// starts over and keeps it.
//
// The reduction only proves that there is no violation. If it finds one, all messages are
// explored, and the counterexample is the shortest. Starvation, bypass and channels are
// always checked with all messages.
//
// # Several sections
//
// Processes may use several critical sections, each an instance of the algorithm among
// some of them. Sections share nothing but links, so what holds for one holds beside
// others. The command checks what is new: processes that hold one section while they wait
// for another. Mutual exclusion is that of each section, a process starves if it waits
// forever for any of them, and the note names the sections.
//
// Times and counters of different sections are not related, and are not renumbered there,
// so an algorithm that has any needs a bound on requests.
//
// # Processes that die, and time
//
// Elections, and locks that survive deaths, are checked with crashes, comebacks and
// timers that expire on time. A message to a dead process is lost as late as makes no
// difference, and time stands still while no timer runs. Timers of sites that would
// change nothing do not run. The tests compare each of these with the model that does
// without.
//
// For other locks, a timer may expire at any time once it is set, even before its time,
// and eventually does so, unless it is set again and again. So a violation may exist only
// where clocks are that bad.
//
// # Large groups
//
// Groups may have up to 64 processes, if few of them make requests: at most 30, and 16 if
// the order of requests is checked. If one property is requested and a breadth-first
// search would take long, random runs are tried: what they violate is violated, though
// there may be a shorter way to violate it.
//
// DESIGN.md explains why the checker is made this way.
package check
