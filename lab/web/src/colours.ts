// Light colours for the text of a scenario. Only the lab knows what a line means: here a
// word is classified by its form and position.

/** How a piece of a line looks; empty for the default. */
export type Look = "" | "word" | "time" | "proc" | "kind" | "title" | "comment";

interface Piece {
	look: Look;
	text: string;
}

/** pieces splits a line. Concatenated, the pieces are the line. */
export function pieces(line: string): Piece[] {
	const [code, comment] = split(line);
	const parts = words(code);
	if (comment !== "") parts.push({ look: "comment", text: comment });
	return parts;
}

// A # at the beginning or after a blank starts a comment.
function split(line: string): [code: string, comment: string] {
	const at = line.search(/(?<=^|\s)#/);
	return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at)];
}

function words(code: string): Piece[] {
	const title = /^(\s*)(title)(\s+.*)$/.exec(code);
	if (title) return [{ look: "", text: title[1]! }, { look: "word", text: title[2]! }, { look: "title", text: title[3]! }];
	const say = /^(.*?\bsay)(\s+".*)$/.exec(code);
	if (say) return [...words(say[1]!), { look: "title", text: say[2]! }];
	let before = "";
	let subject = true; // so far only words that say when or which process
	return (code.match(/\s+|[^\s,;:|]+|[,;:|]/g) ?? []).map((text) => {
		if (/^\s/.test(text)) return { look: "" as const, text };
		const look = lookOf(text, before, subject);
		if (look !== "proc" && look !== "time" && text !== "at" && text !== "when" && text !== "enters" && text !== "expect") subject = false;
		before = text;
		return { look, text };
	});
}

function lookOf(word: string, before: string, subject: boolean): Look {
	if (/^P\d+$/.test(word)) return "proc";
	if (/^\d+(\.\d+)?$/.test(word)) return before === "at" ? "time" : "";
	if (/^[A-Z][A-Z-]+$/.test(word)) return "kind";
	if (/^[a-z]/.test(word) && (subject || word === "at" || word === "expect")) return "word";
	return "";
}
