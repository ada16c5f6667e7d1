// Light colours for the text of a scenario. What a line means only the lab knows: here
// a word is told by how it looks and where it stands.

/** How a piece of a line looks; empty if as usual. */
export type Look = "" | "word" | "time" | "proc" | "kind" | "title" | "comment";

interface Piece {
	look: Look;
	text: string;
}

/** pieces takes a line apart. Together they are the line. */
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
	let before = "";
	let subject = true; // no word but one that says when or who has come yet
	return (code.match(/\s+|[^\s,;:|]+|[,;:|]/g) ?? []).map((text) => {
		if (/^\s/.test(text)) return { look: "" as const, text };
		const look = lookOf(text, before, subject);
		if (look !== "proc" && look !== "time" && text !== "at" && text !== "expect") subject = false;
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
