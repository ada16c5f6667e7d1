// Saving to a file.

/** save offers data as a file. */
export function save(name: string, data: Blob): void {
	const url = URL.createObjectURL(data);
	const a = document.createElement("a");
	a.href = url;
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
