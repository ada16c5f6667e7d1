// The recording of a lock as lines to read. It is a scenario, which the node has written: a
// step has a line such as "deliver 1 -> 2 REQUEST # 0.120 ms", what the algorithm does not see a
// line such as say "...", and its end the state of each member in lines that begin with expect.

/** What a line says has happened. */
export interface Step {
	at: string; // time since the first step; empty for what has none of its own
	text: string;
}

/** The state of a member at the end. */
export interface Standing {
	name: string;
	phase: string; // idle, waits or inside
	fields: [name: string, value: string][];
}

/** read returns the steps of a recording, and the state in which each member ends. */
export function read(text: string, seats: string[]): { steps: Step[]; members: Standing[] } {
	const steps: Step[] = [];
	const members = seats.map((name): Standing => ({ name, phase: "", fields: [] }));
	const called = (number: string) => seats[Number(number) - 1] ?? `P${number}`;
	for (const line of text.split("\n")) {
		const [what = "", at = ""] = line.split("#").map((part) => part.trim());
		const words = what.split(/ +/);
		if (words[0] === "say") steps.push({ at: "", text: what.slice(5, -1) });
		else if (words[0] === "deliver") steps.push({ at, text: `${called(words[3]!)} receives ${words[4]} from ${called(words[1]!)}` });
		else if (/^P\d+ asks$/.test(what)) steps.push({ at, text: `${called(words[0]!.slice(1))} requests the lock` });
		else if (/^P\d+ leaves$/.test(what)) steps.push({ at, text: `${called(words[0]!.slice(1))} leaves the critical section` });
		else if (words[0] === "expect" && /^P\d+$/.test(words[1] ?? "")) {
			const member = members[Number(words[1]!.slice(1)) - 1];
			if (words.length === 3 && member) member.phase = words[2]!;
			else member?.fields.push([words[2]!, words.slice(3).join(" ")]);
		}
	}
	return { steps, members };
}
