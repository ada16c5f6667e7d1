import { Panel } from "./panel";

export function Fresh() {
	return <Panel name="fresh" title="A new scenario">{null}</Panel>;
}
