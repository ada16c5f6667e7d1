// What was counted next to what theory says, and what the run was judged by.

import { quiet } from "./editor";
import type { Doc } from "./document";
import { Rules, RulesChoice, showsRules } from "./rules";
import { Scroll } from "./scroll";
import { doc, seek } from "./shown";
import { clockOf, numberOf } from "./story";

export function Measures() {
	const d = doc.value;
	if (d && showsRules(d)) {
		return (
			<section class="measures" data-tour="measures" aria-label="rules of the algorithm">
				<h2>Rules<RulesChoice d={d} /></h2>
				<Scroll label="rules of the algorithm"><Rules d={d} /></Scroll>
			</section>
		);
	}
	return (
		<section class="measures" data-tour="measures" aria-label="measured beside theory">
			<h2>Measured beside theory{d && <RulesChoice d={d} />}</h2>
			{d && (
				<Scroll label="measures and properties">
					<Broken d={d} />
					{d.measures?.length > 0 && (
						<table>
							<thead>
								<tr><th scope="col"><span class="unseen">measure</span></th><th scope="col">here</th><th scope="col">theory</th></tr>
							</thead>
							<tbody>
								{d.measures.map((m) => (
									<tr key={m.name} class={m.fits ? "" : "off"}>
										<th scope="row">{m.name}</th>
										<td class={d.kind === "graph" ? "" : "figure"}>{m.here}{!m.fits && <span class="unfit"> outside</span>}</td>
										<td title={m.formula}>{m.theory || (m.formula ? "" : "–")}{m.formula && m.formula !== m.theory && <small> {brief(m.formula)}</small>}</td>
									</tr>
								))}
							</tbody>
						</table>
					)}
					<Holding d={d} />
				</Scroll>
			)}
		</section>
	);
}

/**
 * Broken is what does not hold, above everything else. What no line expects is reported
 * by its property.
 */
function Broken({ d }: { d: Doc }) {
	const properties = (d.properties ?? []).filter((p) => !p.holds);
	// What differs only from the prepared run is beside the text.
	const expects = (d.expects ?? []).filter((x) => !x.ok && !quiet.value(x.line) && (x.line > 0 || properties.length === 0));
	if (properties.length + expects.length === 0) return null;
	return (
		<ul class="properties" aria-label="what is broken">
			{properties.map((p) => (
				<li key={p.name} class="broken" title={p.name}>
					<b aria-hidden="true">✗</b> broken: {p.text}
					{p.event >= 0 && <> <button type="button" class="link" onClick={() => seek(p.event + 1)}>go to {d.steps ? `step ${numberOf(d, p.event)}` : `time ${clockOf(d, d.events[p.event]!.at)}`}</button></>}
				</li>
			))}
			{expects.map((x) => (
				<li key={`${x.line} ${x.want}`} class="broken"><b aria-hidden="true">✗</b> {x.line > 0 && `line ${x.line}: `}{x.want}, but {x.got}</li>
			))}
		</ul>
	);
}

/** Holding is what holds, below what is measured. */
function Holding({ d }: { d: Doc }) {
	const expects = d.expects ?? [];
	return (
		<ul class="properties" aria-label="properties">
			{(d.properties ?? []).filter((p) => p.holds).map((p) => (
				<li key={p.name} class="holds" title={p.name}><b aria-hidden="true">✓</b> <span class="unseen">holds: </span>{p.text}</li>
			))}
			{expects.length > 0 && expects.every((x) => x.ok) && (
				<li class="holds"><b aria-hidden="true">✓</b> {expects.length > 1 && `all ${expects.length} `}as expected</li>
			)}
		</ul>
	);
}

/** brief keeps a formula to one line; all of it is in its title. */
function brief(formula: string): string {
	return formula.length > 30 ? `${formula.slice(0, 28)} …` : formula;
}
