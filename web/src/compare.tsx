import { Panel } from "./panel";

export function Compare() {
	return <Panel name="compare" title="Compare">{null}</Panel>;
}
