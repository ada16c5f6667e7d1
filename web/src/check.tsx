import { Panel } from "./panel";

export function Check() {
	return <Panel name="check" title="Check every interleaving">{null}</Panel>;
}
