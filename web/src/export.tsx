import { Panel } from "./panel";

export function Export() {
	return <Panel name="export" title="Export">{null}</Panel>;
}
