// The documents of streams are JSON objects, changed by merge patches (RFC 7386).

/**
 * merged returns a value, changed by a merge patch. Parts that do not change stay the same
 * objects, so that what shows them need not look at them again.
 */
export function merged(target: unknown, patch: unknown): unknown {
	if (!isObject(patch)) return patch;
	const entries = Object.entries(patch);
	if (entries.length === 0 && isObject(target)) return target;
	const all = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
	for (const [key, value] of entries) {
		if (value === null) all.delete(key);
		else all.set(key, merged(all.get(key), value));
	}
	return Object.fromEntries(all); // which makes any name an ordinary one, also __proto__
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * at returns the value of a name. Lock names are such names, and must not find what all
 * objects have, such as constructor.
 */
export function at<T>(all: Record<string, T> | undefined, name: string): T | undefined {
	return all && Object.hasOwn(all, name) ? all[name] : undefined;
}

/** ordered returns values in the order of a list of names; names without a value are left out. */
export function ordered<T>(all: Record<string, T> | undefined, order: string[] | undefined): T[] {
	return (order ?? []).flatMap((name) => at(all, name) ?? []);
}
