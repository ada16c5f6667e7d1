import { Panel } from "./panel";

export function Gallery() {
	return <Panel name="gallery" title="Gallery">{null}</Panel>;
}
