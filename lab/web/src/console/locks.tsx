// The locks in use, page by page.

import { useSignal } from "@preact/signals";
import { memo } from "./memo";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Age, Delegated, Quiet, Trouble, Who, arrows } from "./bits";
import { useFeed } from "./feed";
import { compact, count, rate, some } from "./format";
import { searching } from "./keys";
import { Name, plain } from "./name";
import { page } from "./pager";
import { ordered } from "./patch";
import { go, route, toLock, toLocks } from "./route";
import type { LockRow, Locks as Doc } from "./views";

const sorts = ["name", "wait", "hold", "rate"] as const;
type Sort = (typeof sorts)[number];
const about: Record<Sort, string> = { name: "in the order of their names, page by page", wait: "those first that requests have waited for longest", hold: "those first that are held longest", rate: "those first that are acquired most often" };
/** What the locks of each list have in common. */
const listed: Record<Sort, string> = { name: "is in use", wait: "is waited for", hold: "is held", rate: "was acquired lately" };

/** What the names of a page come after, by the same of the page that follows it. */
const before = new Map<string, string>();

/** Query is what is asked for, as in the address. */
function queryOf() {
	const { prefix = "", sort = "", after = "" } = route.value.query;
	const by: Sort = sorts.find((s) => s === sort) ?? "name";
	return { prefix, sort: by, after: by === "name" ? after : "" };
}

export function Locks() {
	const query = queryOf();
	const feed = useFeed<Doc>("locks", query);
	const last = useRef<Doc | undefined>(undefined);
	const d = feed.doc.value ?? last.current; // until the answer is there, the one before
	useEffect(() => {
		last.current = d;
	}, [d]);
	const fresh = feed.doc.value !== undefined;
	useEffect(() => {
		if (fresh && d?.next && d.next !== query.after) before.set(d.next, query.after);
		const to = (after: string) => toLocks({ ...query, sort: query.sort === "name" ? "" : query.sort, after });
		const next = fresh && query.sort === "name" && d?.next ? to(d.next) : undefined;
		page.value = { before: query.after !== "" ? to(before.get(query.after) ?? "") : undefined, next };
		return () => (page.value = { before: undefined, next: undefined });
	}, [d?.next, fresh, route.value]);
	const all = d ? ordered(d.rows, d.order) : [];
	return (
		<div class="locks">
			<h1 class="unseen">Locks</h1>
			<form class="bar" role="search" onSubmit={(e) => e.preventDefault()}>
				<Search prefix={query.prefix} sort={query.sort} />
				<span class="choice" role="group" aria-label="order">
					{sorts.map((s) => <button key={s} type="button" aria-pressed={s === query.sort} title={about[s]} onClick={() => go(toLocks({ prefix: query.prefix, sort: s === "name" ? "" : s }))}>{s}</button>)}
				</span>
				<Pager rows={all.length} sort={query.sort} />
			</form>
			<Trouble why={feed.trouble.value} />
			<Quiet silent={d?.silent} />
			{d && all.length === 0 && <p class="nothing">{query.prefix ? <>No lock that {listed[query.sort]} has a name that begins with <Name of={query.prefix} />.</> : `No lock ${listed[query.sort]}.`}</p>}
			{all.length > 0 && <Table rows={all} busy={!fresh} />}
		</div>
	);
}

/** Search is the field for the beginning of names. */
function Search({ prefix, sort }: { prefix: string; sort: Sort }) {
	const field = useRef<HTMLInputElement>(null);
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => {
		if (!searching.value) return;
		searching.value = false;
		field.current?.select();
	}, [searching.value]);
	useEffect(() => {
		if (field.current && field.current !== document.activeElement) field.current.value = prefix;
	}, [prefix]);
	const search = () => {
		clearTimeout(timer.current);
		const to = toLocks({ prefix: field.current!.value, sort: sort === "name" ? "" : sort });
		if (route.value.place === "locks" && to !== location.hash) go(to, true);
	};
	useEffect(() => () => clearTimeout(timer.current), []);
	return (
		<label class="search">
			<span class="unseen">names that begin with</span>
			<input
				ref={field}
				type="search"
				placeholder="names that begin with …"
				defaultValue={prefix}
				dir="auto"
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
				onInput={() => {
					clearTimeout(timer.current);
					timer.current = setTimeout(search, 200);
				}}
				onKeyDown={(e) => {
					if (e.key !== "Enter" && e.key !== "ArrowDown") return;
					e.preventDefault();
					search();
					document.querySelector<HTMLElement>(".locks [data-row]")?.focus();
				}}
			/>
			<kbd aria-hidden="true">/</kbd>
		</label>
	);
}

function Pager({ rows, sort }: { rows: number; sort: Sort }) {
	return (
		<nav class="pager" aria-label="pages">
			<span class="soft" role="status">{sort !== "name" ? `the first ${count(rows)}` : `${some(rows, "lock")}${page.value.before || page.value.next ? " on this page" : ""}`}</span>
			{sort === "name" && (
				<>
					<Flip to={page.value.before} label="page before ([)">‹</Flip>
					<Flip to={page.value.next} label="next page (])">›</Flip>
				</>
			)}
		</nav>
	);
}

function Flip({ to, label, children }: { to: string | undefined; label: string; children: ComponentChildren }) {
	return to === undefined ? <span class="flip" aria-disabled="true">{children}</span> : <a class="flip" href={to} aria-label={label} title={label}>{children}</a>;
}

function Table({ rows, busy }: { rows: LockRow[]; busy: boolean }) {
	const at = useSignal(0);
	return (
		<div class="wide" aria-busy={busy}>
			<table class="list" role="table" onKeyDown={arrows} onFocusIn={(e) => {
				const all = [...e.currentTarget.querySelectorAll("[data-row]")];
				at.value = Math.max(0, all.indexOf(e.target as Element));
			}}>
				<thead>
					<tr role="row">
						<th scope="col" role="columnheader">name</th>
						<th scope="col" role="columnheader">holder</th>
						<th scope="col" role="columnheader">node</th>
						<th scope="col" role="columnheader" class="number" title="fencing token">token</th>
						<th scope="col" role="columnheader" class="number">held for</th>
						<th scope="col" role="columnheader" class="number">waiting</th>
						<th scope="col" role="columnheader" class="number" title="how long the first of them has waited">for</th>
						<th scope="col" role="columnheader">because</th>
						<th scope="col" role="columnheader" class="number">rate</th>
						<th scope="col" role="columnheader" class="number">acquired</th>
					</tr>
				</thead>
				<tbody>{rows.map((r, i) => <Row key={r.name} r={r} first={i === Math.min(at.value, rows.length - 1)} />)}</tbody>
			</table>
		</div>
	);
}

/** Row is repainted only if something about its lock changes: there may be a hundred. */
const Row = memo(({ r, first }: { r: LockRow; first: boolean }) => {
	const h = r.holder;
	return (
		<tr role="row" class={r.waiters > 0 ? "is-awaited" : h ? "is-held" : ""} onClick={(e) => !(e.target as Element).closest("a") && getSelection()?.isCollapsed !== false && go(toLock(r.name))}>
			<th scope="row" role="rowheader" data-of="name"><a data-row href={toLock(r.name)} tabIndex={first ? 0 : -1}><Name of={r.name} cut /></a><span class="soft small" title={`algorithm; its home is ${plain(r.home)}`}><Name of={r.algorithm} cut /></span></th>
			<td role="cell" data-of="holder">{h ? <><Who of={h} cut /><Delegated of={h} />{r.holders > 1 && <span class="tag" title={some(r.holders, "holder")}>+{count(r.holders - 1)}</span>}</> : <span class="soft">free</span>}</td>
			<td role="cell" data-of="node">{h && <Name of={h.node} cut />}</td>
			<td role="cell" class="number token-of" data-of="token">{h && <Name of={h.token} cut title={`${plain(h.token)}${h.delegated ? ", the token of its first entry" : ""}`} />}</td>
			<td role="cell" class="number" data-of="held">{h && <Age since={h.since_ms} />}</td>
			<td role="cell" class="number waiters" data-of="waiting">{r.waiters > 0 ? count(r.waiters) : <span class="soft">0</span>}</td>
			<td role="cell" class="number" data-of="for">{r.waiters > 0 && r.waiting_since_ms !== undefined && <Age since={r.waiting_since_ms} />}</td>
			<td role="cell" class="because" data-of="because">{r.why && <Name of={r.why} class="soft" title={plain(r.why)} />}</td>
			<td role="cell" class="number" data-of="rate">{r.rate ? `${rate(r.rate)}/s` : <span class="soft">–</span>}</td>
			<td role="cell" class="number soft" data-of="acquired">{r.acquired !== undefined && compact(r.acquired)}</td>
		</tr>
	);
});
