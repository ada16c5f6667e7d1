// Package process holds everything that one stile process decides: its member with the
// links to other members, the view service if it is a voter, and the sessions of its
// clients. It is pure: it has no clock, no socket, no disk, no goroutine and no
// callback. It takes typed inputs with the time at which they happened, and answers
// each with effects, as data.
//
// # Driving a process
//
// The node drives a Process in real time, the storm and the measurements in simulated
// time, and replay from a recording. They all run this loop:
//
//	p, err := process.New(config)
//	in := process.Input{Kind: process.Start, At: clock()}
//	for {
//		p.Step(&in)
//		for i := range p.Out.Effects {
//			switch e := &p.Out.Effects[i]; e.Kind {
//			case process.Notify:
//				notify the application whose ticket is e.Event.Ticket
//			case process.View, process.Ended, process.RolledBack:
//				membership has changed: dial the members, write a log line
//			case process.Send:
//				queue e.Bytes for the node at e.To
//			case process.Reply:
//				queue e.Bytes for the client on connection e.Conn
//			case process.Ask:
//				answer the client's question, which does not concern the process
//			case process.Save, process.Erase, process.Remember:
//				pass e to the disk, which handles one after the other; then
//				pass in Input{Kind: process.Saved, Number: e.Number, Text: failure}
//			case process.Marked:
//				keep e.Mark for those who look at the trail of its lock
//			case process.ClaimEnded:
//				write an audit line
//			case process.HangUp, process.Cut, process.LinkEnded:
//				close a connection, or write a log line
//			case process.Failed:
//				the process cannot go on: stop at once, send nothing more
//			}
//		}
//		in = next input: a message, a frame, a request of an application,
//			or Wake when the clock has reached p.Out.Wake
//	}
//
// # What a host must get right
//
// It is little, because the process orders its own effects:
//
//   - The host carries out the effects of a step in their order, before the next step.
//     Notifications come first: a holder learns that it has lost a lock before anything
//     leaves the process by which another one could acquire it.
//   - Bytes and pointers in effects are valid until the next step.
//   - Sends may get lost. The links resend packets between members (Lossy is false);
//     everything else is repeated by the process that waits for an answer.
//   - Saves become durable in their order, each entirely or not at all. Each is
//     acknowledged by a later input, however much later. The process itself holds back
//     what depends on a save: a slow disk delays that, and nothing else.
//   - If a save fails, its acknowledgement says so, and the process fails.
//   - Connections are announced: Up when there is one to a node, Down when it has
//     broken. Connections of clients are numbered from 1, and no number is reused.
//
// # Invariants
//
// These hold within a step, whatever the input:
//
//   - The member and its links install a view in one step. Frames that arrived too early
//     for it are delivered after the member's reports are under way.
//   - A process is a voter from the moment that a record says so and its first state is
//     durable, until a record says that the others can do without it. Its state is then
//     erased.
//   - A process that leaves or stops promises never to enter again only when no lock is
//     held through it and no application or client can still act on one that was lost.
//     It then remembers the promise; one that stops reports it only when that is durable,
//     so that it has ended cleanly as soon as it has ended.
//   - What a process remembers is the highest epoch that it has seen, and the promise of
//     its last incarnation. Only a stop waits until it is durable.
//   - An evicted process asks to join again by itself, as another incarnation.
//
// A Tape is shown every input and its output; package replay writes recordings of them.
package process
