// What the console of the same node hands to the lab, in the storage of the tab.

/** The name of a text that is too long for an address: #handed opens it. */
const shelf = "stile-lab-text";

/** The name of the token of whoever uses the console, if the browser keeps it. */
const token = "stile-console-token";

/** handed returns the text that an address refers to, if it does so and there is one. */
export function handed(hash: string): { text: string; cursor: number } | undefined {
	const text = hash === "#handed" ? kept(shelf) : "";
	return text === "" ? undefined : { text, cursor: 0 };
}

/** identity returns what says who calls the lab of a node. */
export function identity(): Record<string, string> {
	const it = kept(token);
	return it === "" ? {} : { Authorization: `Bearer ${it}` };
}

function kept(name: string): string {
	try {
		return sessionStorage.getItem(name) ?? "";
	} catch {
		return ""; // the browser keeps nothing for this page
	}
}
