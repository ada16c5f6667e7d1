// Parts of lists that change rarely.

import { Component, type ComponentChildren, type FunctionComponent } from "preact";

/** memo makes a part that is painted again only if one of its properties is another one. */
export function memo<P extends object>(paint: (props: P) => ComponentChildren): FunctionComponent<P> {
	class Kept extends Component<P> {
		override shouldComponentUpdate(next: P): boolean {
			return (Object.keys(next) as (keyof P)[]).some((name) => next[name] !== this.props[name]);
		}

		override render(props: P): ComponentChildren {
			return paint(props);
		}
	}
	return Kept as unknown as FunctionComponent<P>;
}
