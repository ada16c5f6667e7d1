// The account of a bank: what processes inside have read and written.

import type { Account, Doc } from "./document";
import { cursor } from "./shown";

/** accountAt returns the account after that many events; undefined if there is none. */
export function accountAt(d: Doc, at: number): Account | undefined {
	return d.accounts?.findLast((a) => a.event <= at);
}

export function money(amount: number): string {
	return amount.toLocaleString("en");
}

/** Balance shows the balance, and what of the deposits is lost. */
export function Balance({ d }: { d: Doc }) {
	const now = accountAt(d, cursor.value);
	if (!now) return null;
	return (
		<p class="balance">
			Balance <b>{money(now.balance)}</b>
			{now.lost > 0 && <em>{money(now.lost)} lost</em>}
		</p>
	);
}
