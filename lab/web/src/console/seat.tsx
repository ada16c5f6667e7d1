// What is known of a process or of a message of the picture.

import { useLayoutEffect, useRef } from "preact/hooks";
import { frameAt } from "../frames";
import { type About, menu } from "../opener";
import { cursor, doc } from "../shown";
import { underWay } from "../story";

/** Seat says what a click was on. In the lab there is a menu in its place. */
export function Seat() {
	const about = menu.value;
	const d = doc.value;
	const box = useRef<HTMLDivElement>(null);
	const close = () => (menu.value = undefined);
	useLayoutEffect(() => {
		const it = box.current;
		if (!it || !about) return undefined;
		const back = document.activeElement;
		const { width, height } = it.getBoundingClientRect();
		it.style.left = `${Math.max(8, Math.min(about.x, innerWidth - width - 8))}px`;
		it.style.top = `${Math.max(8, Math.min(about.y, innerHeight - height - 8))}px`;
		it.focus({ preventScroll: true });
		const away = (e: PointerEvent) => it.contains(e.target as Node) || close();
		addEventListener("pointerdown", away, true);
		return () => {
			removeEventListener("pointerdown", away, true);
			if (back instanceof HTMLElement || back instanceof SVGElement) back.focus({ preventScroll: true });
		};
	}, [about]);
	useLayoutEffect(() => close, []);
	const found = about && d ? foundAt(about) : undefined;
	if (!found) return null;
	return (
		<div class="seat" ref={box} role="dialog" aria-label={found.title} tabIndex={-1} onKeyDown={(e) => {
			if (e.key !== "Escape" && e.key !== "Tab") return;
			e.preventDefault();
			e.stopPropagation();
			close();
		}}>
			<p><b>{found.title}</b></p>
			{found.why && <p>It {found.why}.</p>}
			<dl>{found.fields.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
		</div>
	);
}

interface Found {
	title: string;
	why: string;
	fields: (readonly [string, string])[];
}

function foundAt(about: About): Found | undefined {
	const d = doc.value!;
	const frame = frameAt(d, cursor.value);
	if (about.what === "process") return { title: `${d.layout?.lanes[about.proc]?.text ?? d.names[about.proc]}: ${frame.status[about.proc] ?? ""}`, why: frame.waits[about.proc] ?? "", fields: frame.states[about.proc] ?? [] };
	if (about.what !== "message") return undefined;
	const m = underWay(d, cursor.value).find((x) => x.msg === about.msg);
	return m && { title: `${m.name} from ${d.names[m.from]} to ${d.names[m.to]}`, why: "is in flight", fields: m.fields };
}
