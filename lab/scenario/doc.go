// Package scenario describes the input of a run: the group, how long things take, what
// the network may do, which processes request when, which faults happen, and the expected
// outcome.
//
// A [Scenario] is a value; [Parse] reads it from a .stile file and [Format] writes it as
// one. The simulator runs it (sim.Replay), and the checker writes its counterexamples as
// scenarios. A scenario with sites is about transactions over several locks.
//
// A .stile file that declares resources holds a [Graph] instead: it is not run but reduced
// (sim.Reduce). [IsGraph] tells the two apart, and [ParseGraph] reads a graph.
//
// # The language
//
// There is one statement per line. A # at the beginning or after a blank starts a
// comment. Processes are numbered from 1; P3 and 3 are the same, but a process that acts
// is written P3. Times are in units of one usual message latency and have up to six
// decimals. Lines of the head may come in any order.
//
//	title Raymond (a): 5, then 2, then 4 ask while 1 is inside
//	algorithm raymond             # its name in the catalog
//	topology 1-2,1-3,3-4,3-5      # options of the algorithm: topology, sets, inform, k, coordinator
//	experiment                    # sets that break the rules are intended
//	patience 10                   # of a lock such as central+bully: how long a process waits before it doubts; default: forever
//	processes 5
//	holder 1 busy                 # 1 has the token, if there is one, and starts inside; default: holder 1
//	network fifo                  # or unordered, duplicating, lossy
//	latency 1                     # a number, exp:MEAN or uniform:LO,HI; default 1
//	latency 1 -> 3 2.5            # of one link
//	hold 5                        # how long a process stays; hold manual: until a line makes it leave; default 1
//	until 20                      # the run ends then at the latest
//	seed 7                        # for random choices; default 1
//	schedule timed                # or steps
//	deposit P1 500                # what P1 adds to a shared account: it reads the balance on entry and writes it on exit
//	set P1 clock 41               # a field of the state at the start, as the lab shows it
//	begin P1 inside               # the run begins in the middle of a longer one: what a process is doing; also waits, idle
//	begin P2 waits 02010541       # with its state, in bytes; otherwise its initial one
//	begin 1 -> 2 REQUEST 0005     # a message in flight, in bytes
//	section seats among 1,2,4     # one of several critical sections; see Sections
//
// # Actions
//
// In a timed schedule, the default, every action begins with its time, and latencies
// decide when messages arrive. At any one time the lines come first, in the order of the
// file, and then what is due.
//
//	at 0 P5 asks                  # wants to enter
//	at 0 P5 asks for 3            # and will stay for 3
//	at 4 P1 leaves
//	at 4 P1 leaves now            # before its stay ends; its other stays end as usual
//	at 2 deliver 1 -> 3 REQUEST   # arrives now
//	at 2 deliver 1 -> 3 REQUEST 2nd overtaking  # before the first, although the network is fifo
//	at 2 drop 1 -> 3 REQUEST      # is lost; without REQUEST: any kind
//	at 2 drop 1 -> 3 REQUEST 2nd  # not the first but the second in flight
//	at 2 duplicate 1 -> 3         # arrives twice
//	at 2 delay 1 -> 3 OK by 2.5   # takes longer; on a fifo link those behind it wait
//	at 2 reorder 1 -> 3           # is overtaken by the one behind it
//	at 5 crash P2                 # or P2 crashes: stops, and messages to it are lost
//	at 6 restart P2               # in its initial state, but not inside, and knowing nothing
//	at 5 pause P2                 # or P2 pauses: messages to it wait
//	at 6 resume P2
//	at 6 partition 1,2 | 3-5      # messages between parts wait; processes not named form one more part
//	at 9 heal
//	at 9 P1 suspects P3           # is notified that P3 is dead
//	at 9 P1 trusts P3             # is notified that P3 is back
//	at 9 P1 timer 2 expires       # before its time
//	at 9 P1 tells P3              # their applications talk, at once; the clock goes along
//	at 0 P1 starts                # if any line says so; otherwise all start at 0, after the lines of 0
//
// An action on a message applies to the first one in flight on that link (of that kind)
// or, if there is none, to the next one sent.
//
// A process leaves when its stay ends: the one given when it asked, or else the hold of
// the scenario. If a later line makes it leave, it waits for that.
//
// In steps (schedule steps) the lines have no times: each is one action, done in order,
// and nothing happens by itself. Messages arrive only by deliver lines, on a fifo network
// in the order of each link; deliver all empties the network in order of sending. There
// is no delay. A counterexample of the checker is such a file.
//
// An action that is impossible - a process that asks while it waits, or leaves while it
// is not inside, a message that is not in flight - is an error.
//
// # Expectations
//
//	expect entries 5 4 2          # all entries of the run, in order; or none
//	expect P5 enters at 7         # at exactly this time
//	expect messages 10            # sent, without copies and messages to self
//	expect messages REQUEST 4
//	expect bypass 1               # the most often that one process overtook a waiting one
//	expect P2 waits               # at the end; or inside, or idle
//	expect P3 queue 4 1           # a field of the state at the end
//	expect at 7 P3 queue 4 1      # when everything at time 7 has happened; also at 7 P3 waits
//	expect when P5 enters P3 queue 4 1       # at the moment of its first entry
//	expect when P5 enters 2nd P3 queue 4 1   # of its second
//	expect violation order        # or mutual-exclusion, lost-request; one-leader, agreement
//	expect no violation           # the default if no line mentions violations
//	expect no violation order     # checks the order even if the algorithm does not promise it
//	expect deadlock               # two or more wait, none is inside, and no message is in flight
//
// In steps, an expectation about a process (a field, waits, inside, idle) applies at its
// place between the actions.
//
// A request is lost if it is waiting when the run ends, with no process inside and no
// message in flight. A run ends when nothing more can happen, at until, or when events go
// on without any progress. For a token that never rests, give until.
//
// # Captions
//
// A line that begins with say has text for the audience, in quotes. The lab shows it from that
// moment on, until the next one; it changes nothing in the run.
//
//	say "Two processes ask."      # at the beginning; in steps: where the line stands
//	at 3 say "P1 sends OK."       # when everything at time 3 has happened
//	when P2 enters say "P2 has all answers."        # at its first entry
//	when P2 enters 2nd say "P2 enters again."       # at its second
//
// # Sections
//
// Several critical sections may be used side by side. Each is an instance of the
// algorithm among the processes that use it, with a state and a queue of its own. Lines
// that begin with section name them; actions and expectations then name one of them:
//
//	section seats among 1,2,4
//	section films among 2,3,5
//	at 0 P2 asks seats            # also asks seats for 5
//	at 9 P2 leaves seats          # also P2 timer 1 expires seats, and set P2 seats clock 4
//	expect entries seats 2 1
//	expect P2 enters seats at 4
//	expect at 3 P2 inside seats   # or waits, or idle; also when P2 enters seats
//	expect P2 seats clock 4       # a field of its state in that section
//	expect messages seats 8       # of that section; also messages seats REQUEST 4, and bypass seats 1
//
// # Transactions
//
// Lines that begin with site say where processes have their home and where locks are
// kept. With them a scenario is about transactions and deadlocks, on a fifo network. Its
// head may have title, algorithm (a method against deadlocks), processes, latency, hold,
// until, seed and schedule, with links between sites, and:
//
//	site 1 P1 P2 L1               # every process and every lock is at one site
//	site 2 P3 P4 P5 L2 L3         # a site may have neither
//	mode change                   # of the method, if it has several
//	hold 3                        # how long a transaction stays after each lock; default 1
//	backoff 4                     # how long it waits after an abort; default 1
//
// A transaction takes locks one after the other, keeps them all to its end, and commits.
// A transaction that must abort starts again, until it commits. Where the method is
// ordered, it takes them in ascending order whatever the line says, except in steps.
//
//	at 0.2 P2 takes L3 L1         # or as soon as its previous transaction has committed
//	at 0.2 P2 takes L3 L1 for 5   # stays for 5 after each lock
//	at 5.5 crash site 2           # with its transactions and locks; the other sites are notified
//	at 3 drop 1 -> 2 REQUEST      # between sites; also deliver, duplicate, delay and reorder
//	at 4 site 1 suspects site 2   # is notified that it is dead, true or not
//	at 4 site 1 timer 3 expires   # before its time
//
// In steps nothing happens by itself: a transaction requests one lock at a time, and each
// message arrives by a line.
//
//	P1 takes L1 L2                # begins, and requests L1
//	P1 goes on                    # requests its next lock, tries again after an abort, or commits
//	deliver 1 -> 2 REQUEST        # between sites; deliver all
//	crash site 2                  # no other site is notified
//	site 1 suspects site 2        # is notified that it is dead
//	site 1 timer 3 expires
//
// What can be expected, besides messages:
//
//	expect commits P5 P1 P2       # all commits of the run, in order; or none
//	expect aborts P2              # all processes ordered to abort, in order; or none
//	expect P2 commits at 19.2     # at exactly this time; also aborts
//	expect deadlocks 1            # how many arose
//	expect cycle P1 P5 P2         # this one: P1 waits for P5, P5 for P2, P2 for P1
//	expect false cycle P1 P2 P3   # was reported, but never existed
//	expect phantom P1 P2 P3       # existed, but an abort or a death had just broken it
//	expect no false cycle         # the default if no line mentions them
//	expect stuck P1 P2            # transactions that never end; default: none
//	expect violation mutual-exclusion        # a lock has two holders; default: no lock has
//	expect P1 waits for P5        # for a lock that P5 has, at the end; also waits, and idle
//	expect at 4 P1 waits for P5   # when everything at time 4 has happened; in steps: where the line stands
//
// # Graphs of resources
//
// With a line that begins with resources the file is a resource-allocation graph with
// several units of each resource: it has neither an algorithm nor actions.
//
//	title A cycle and no deadlock
//	processes 4
//	resources R1 2 R2 2           # each resource, and how many units it has
//	P3 has R1                     # one unit
//	P1 has R2 2                   # two of them
//	P1 asks R1                    # waits for one
//	P3 asks R2 2
//	expect cycle P1 P3            # or no cycle
//	expect deadlock P1 P3         # these can never proceed; or no deadlock
//	expect order P2 P4            # those that can end, in this order; or none
package scenario
