export function Tour() {
	return null;
}
