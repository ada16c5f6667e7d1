// A native modal dialog, which keeps the focus and returns it, and closes with Escape.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface ModalProps {
	title: ComponentChildren;
	class?: string;
	onClose: () => void;
	children: ComponentChildren;
}

export function Modal({ title, class: name = "", onClose, children }: ModalProps) {
	const box = useRef<HTMLDialogElement>(null);
	const id = useId();
	useLayoutEffect(() => {
		const it = box.current!;
		it.showModal();
		it.querySelector<HTMLElement>("[data-first]")?.focus();
		return () => it.close();
	}, []);
	return (
		<dialog
			ref={box}
			class={`modal ${name}`}
			aria-labelledby={id}
			onCancel={(e) => {
				e.preventDefault();
				onClose();
			}}
			onKeyDown={(e) => e.stopPropagation()} // keys of the page below do nothing
			onMouseDown={(e) => e.target === box.current && onClose()}
		>
			<div class="modal-box">
				<header><h2 id={id}>{title}</h2><button type="button" class="round" aria-label="close" title="close (Escape)" onClick={onClose}>×</button></header>
				{children}
			</div>
		</dialog>
	);
}
