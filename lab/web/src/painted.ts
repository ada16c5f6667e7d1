// The first paint.

/**
 * painted waits until what index.html shows has been painted, so that the user does not
 * wait for that until the script has done its work.
 */
export function painted(): Promise<void> {
	return new Promise((done) => {
		requestAnimationFrame(() => setTimeout(done));
		setTimeout(done, 100); // a page that is not visible gets no frames
	});
}
