// A button that can become useless while it has the focus.

import type { ComponentChildren } from "preact";
import { useReducer, useRef } from "preact/hooks";

interface PressProps {
	idle: boolean; // it would do nothing now
	onClick: () => void;
	class?: string;
	label?: string;
	title?: string;
	children: ComponentChildren;
}

/**
 * Press is disabled when it is idle. Users who reached it by keyboard stay on it until
 * they leave: a browser takes the focus away from what is disabled, and they would have
 * to begin at the top of the page.
 */
export function Press({ idle, onClick, class: name, label, title, children }: PressProps) {
	const byKeys = useRef(false); // it has the focus, and received it by keyboard
	const [, again] = useReducer<number, void>((n) => n + 1, 0);
	const held = idle && byKeys.current;
	return (
		<button
			type="button"
			class={name}
			aria-label={label}
			title={title}
			disabled={idle && !held}
			aria-disabled={held ? "true" : undefined}
			onClick={() => idle || onClick()}
			onFocus={(e) => (byKeys.current = e.currentTarget.matches(":focus-visible"))}
			onBlur={() => {
				byKeys.current = false;
				if (held) again();
			}}
		>
			{children}
		</button>
	);
}
