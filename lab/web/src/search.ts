// Binary search.

/**
 * firstOf returns the least of 0, 1, ... count-1 for which something is true, if it is
 * then true for all after it; otherwise count.
 */
export function firstOf(count: number, is: (i: number) => boolean): number {
	let low = 0;
	let high = count;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (is(mid)) high = mid;
		else low = mid + 1;
	}
	return low;
}
