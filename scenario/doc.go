// Package scenario says what a run is given: the group, how long things take,
// what the network may do, who asks when, which faults happen, and what is
// expected to come of it.
//
// A [Scenario] is a value; [Parse] reads it from a .stile file and [Format]
// writes it as one. The simulator runs it (sim.Replay), and what the checker
// finds is written as one. A scenario with sites is about transactions over
// several locks. One with resources is a graph, which is not run but reduced
// (sim.Reduce).
//
// # The language
//
// One statement a line. A # at the beginning or after a blank starts a
// comment. Processes are numbered from 1; P3 and 3 are the same, but who does
// something is written P3. Times are in units of one usual message latency and
// have up to six decimals. Lines of the head may come in any order.
//
//	title Raymond (a): 5, then 2, then 4 ask while 1 is inside
//	algorithm raymond             # its name in the catalog
//	topology 1-2,1-3,3-4,3-5      # options of the algorithm: topology, sets, inform, k, coordinator
//	experiment                    # sets that break the rules are wanted
//	patience 10                   # of a lock such as central+bully: who has waited for so long doubts; default: nobody ever
//	processes 5
//	holder 1 busy                 # 1 has the token, if there is one, and starts inside; default: holder 1
//	network fifo                  # or unordered, duplicating, lossy
//	latency 1                     # a number, exp:MEAN or uniform:LO,HI; default 1
//	latency 1 -> 3 2.5            # of one link
//	hold 5                        # how long a process stays; hold manual: until a line lets it leave; default 1
//	until 20                      # the run ends then at the latest
//	seed 7                        # for what is left to chance; default 1
//	schedule timed                # or steps
//	set P1 clock 41               # a field of the state at the start, as algorithm.Describe shows it
//	section seats among 1,2,4     # one of several critical sections; see Sections
//
// # Actions
//
// In a timed schedule, the default, every action begins with its time, and
// latencies decide when messages arrive. At one time the lines come first, in
// the order of the file, and then what is due.
//
//	at 0 P5 asks                  # wants in
//	at 0 P5 asks for 3            # and will stay for 3
//	at 4 P1 leaves
//	at 4 P1 leaves now            # before its stay is over; its other stays end as they would
//	at 2 deliver 1 -> 3 REQUEST   # arrives now
//	at 2 deliver 1 -> 3 REQUEST 2nd overtaking  # before the first, though the network is fifo
//	at 2 drop 1 -> 3 REQUEST      # is lost; without REQUEST: any kind
//	at 2 drop 1 -> 3 REQUEST 2nd  # not the first but the second that is under way
//	at 2 duplicate 1 -> 3         # arrives twice
//	at 2 delay 1 -> 3 OK by 2.5   # takes longer; on a fifo link those behind it wait
//	at 2 reorder 1 -> 3           # is overtaken by the one behind it
//	at 5 crash P2                 # or P2 crashes: stops, and what comes to it is lost
//	at 6 restart P2               # as it was born, but not inside, and knowing nothing
//	at 5 pause P2                 # or P2 pauses: what comes to it waits
//	at 6 resume P2
//	at 6 partition 1,2 | 3-5      # messages between parts wait; who is not named is in one more part
//	at 9 heal
//	at 9 P1 suspects P3           # is told that P3 is dead
//	at 9 P1 trusts P3             # is told that P3 is back
//	at 9 P1 timer 2 expires       # before its time
//	at 9 P1 tells P3              # their applications talk, at once; the clock goes along
//	at 0 P1 starts                # if any line says so; otherwise all start at 0, after the lines of 0
//
// What is done to a message is done to the first one under way on that link
// (of that kind), or, if there is none, to the next one sent.
//
// A process leaves when its stay is over: what it said when it asked, or else
// the hold of the scenario. If a later line lets it leave, it waits for that.
//
// In steps (schedule steps) the lines have no times: each is one action, done
// in order, and nothing happens by itself. Messages arrive by deliver lines
// only, on a fifo network in the order of each link; deliver all empties the
// network in order of sending. There is no delay. A counterexample of the
// checker is such a file.
//
// An action that is impossible - a process that asks while it waits, or leaves
// while it is not inside, a message that is not under way - is an error.
//
// # Expectations
//
//	expect entries 5 4 2          # all entries of the run, in order; or none
//	expect P5 enters at 7         # at this very time
//	expect messages 10            # sent, copies and messages to oneself not counted
//	expect messages REQUEST 4
//	expect bypass 1               # the most often that one process overtook one that waited
//	expect P2 waits               # at the end; or inside, or idle
//	expect P3 queue 4 1           # a field of the state at the end
//	expect at 7 P3 queue 4 1      # when everything of time 7 has happened; also at 7 P3 waits
//	expect when P5 enters P3 queue 4 1       # at the moment of its first entry
//	expect when P5 enters 2nd P3 queue 4 1   # of its second
//	expect violation order        # or mutual-exclusion, lost-request; one-leader, agreement
//	expect no violation           # what is expected if nothing is said about violations
//	expect no violation order     # watches the order even if the algorithm does not promise it
//	expect deadlock               # two or more wait, nobody is inside, and nothing is under way
//
// In steps, an expectation about a process (a field, waits, inside, idle) is
// about the place between the actions where it stands.
//
// A request is lost if it is waiting when the run is over, nobody being inside
// and nothing being under way. A run is over when nothing more can happen, at
// until, or when events go on and on without anything coming of them: with a
// token that never rests, say until.
//
// # Sections
//
// Several critical sections may be used side by side. Each is an instance of
// the algorithm among those processes that use it, with a state and a queue of
// its own. Lines that say section name them, and then who asks, leaves or is
// expected to be somewhere names one of them:
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
// Lines that begin with site say where processes are at home and where locks
// are kept; with them a scenario is about transactions and deadlocks, on a fifo
// network. Of the head it has title, algorithm (a method against deadlocks),
// processes, latency, hold, until, seed and schedule, links being between sites,
// and:
//
//	site 1 P1 P2 L1               # every process and every lock is at one site
//	site 2 P3 P4 P5 L2 L3         # a site may have neither
//	mode change                   # of the method, if it has several
//	hold 3                        # how long a transaction stays after each lock; default 1
//	backoff 4                     # how long it waits after it was aborted; default 1
//
// A transaction takes locks one after the other, has them all to its end, and
// commits. One that is told to abort starts again, until it commits. Where the
// method is ordered, it takes them in ascending order whatever the line says,
// but for steps.
//
//	at 0.2 P2 takes L3 L1         # or as soon as its transaction before has committed
//	at 0.2 P2 takes L3 L1 for 5   # stays for 5 after each lock
//	at 5.5 crash site 2           # with its transactions and locks; the other sites are told
//	at 3 drop 1 -> 2 REQUEST      # between sites; also deliver, duplicate, delay and reorder
//	at 4 site 1 suspects site 2   # is told that it is dead, true or not
//	at 4 site 1 timer 3 expires   # before its time
//
// In steps nothing happens by itself: a transaction asks for one lock at a
// time, and each message arrives by a line.
//
//	P1 takes L1 L2                # begins, and asks for L1
//	P1 goes on                    # asks for its next lock, tries again after an abort, or commits
//	deliver 1 -> 2 REQUEST        # between sites; deliver all
//	crash site 2                  # nobody is told
//	site 1 suspects site 2        # is told that it is dead
//	site 1 timer 3 expires
//
// What can be expected, besides messages:
//
//	expect commits P5 P1 P2       # all commits of the run, in order; or none
//	expect aborts P2              # all who were told to abort, in order; or none
//	expect P2 commits at 19.2     # at this very time; also aborts
//	expect deadlocks 1            # how many arose
//	expect cycle P1 P5 P2         # this one: P1 waits for P5, P5 for P2, P2 for P1
//	expect false cycle P1 P2 P3   # was reported, but never was
//	expect phantom P1 P2 P3       # it was, but an abort or a death had just broken it
//	expect no false cycle         # what is expected if nothing is said about them
//	expect stuck P1 P2            # who never ends; if nothing is said, none
//	expect violation mutual-exclusion        # a lock has two holders; if nothing is said, none has
//	expect P1 waits for P5        # for a lock that P5 has, at the end; also waits, and idle
//	expect at 4 P1 waits for P5   # when everything of time 4 has happened; in steps: where the line stands
//
// # Graphs of resources
//
// With a line that begins with resources the file is a resource-allocation graph
// with several units of each resource: there is no algorithm, and there are no
// actions.
//
//	title A cycle and no deadlock
//	processes 4
//	resources R1 2 R2 2           # each resource, and how many units it has
//	P3 has R1                     # one unit
//	P1 has R2 2                   # two of them
//	P1 asks R1                    # waits for one
//	P3 asks R2 2
//	expect cycle P1 P3            # or no cycle
//	expect deadlock P1 P3         # these can never go on; or no deadlock
//	expect order P2 P4            # who can end, in this order; or none
package scenario
