/** A component as pi gets it: what it draws fits, and a failure is a line in its place. */

import type { Component, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { clip } from "../ui/text.ts";
import { contained, failed, failureLine } from "./guard.ts";

/** Everything that pi looks for in a component. */
type Parts = Component & { focused?: boolean; width?: number; dispose?(): void };

/** Lines of a text whose component has failed; as many as pi shows of a result that nobody draws. */
const TEXT_LINES = 10;

export class GuardedComponent implements Component {
	/** What draws; a renderer may want it back as `lastComponent`. */
	readonly inner: Parts;
	private readonly what: string;
	private readonly close: (() => void) | undefined;
	private readonly text: string;
	private width = -1;
	/** The lines of the last time, and what became of them: most stay as they are, and measuring is dear. */
	private drawn: string[] = [];
	private fitting: string[] = [];
	private isBroken = false;

	/**
	 * `make` returns what draws. `close` takes a screen off that has the keyboard and cannot be worked any more; `text` is
	 * what a failure must not hide.
	 */
	constructor(what: string, make: () => unknown, { close, text = "" }: { close?: () => void; text?: string } = {}) {
		this.what = what;
		this.close = close;
		this.text = text;
		this.inner = made(make);
	}

	render(width: number): string[] {
		try {
			const lines = this.fit(this.inner.render(width), width);
			this.isBroken = false;
			return lines;
		} catch (error) {
			this.isBroken = true;
			failed(this.what, error);
			const lines = this.text === "" ? [] : this.text.split("\n", TEXT_LINES);
			return [failureLine(this.what, error, width), ...lines.map((line) => clip(line, width))];
		}
	}

	/** pi ends when a line is wider than the terminal. */
	private fit(lines: string[], width: number): string[] {
		if (!Array.isArray(lines)) throw new TypeError("no lines were drawn");
		const { drawn, fitting } = this;
		const isSame = width === this.width;
		for (let index = 0; index < lines.length; index++) {
			const line = lines[index];
			if (isSame && line !== undefined && line === drawn[index]) continue;
			if (typeof line !== "string") throw new TypeError("a line is no text");
			drawn[index] = line;
			fitting[index] = fitted(line, width);
		}
		drawn.length = lines.length;
		fitting.length = lines.length;
		this.width = width;
		// pi may add to what it gets.
		return fitting.slice();
	}

	invalidate(): void {
		contained(this.what, () => this.inner.invalidate?.(), undefined);
	}

	handleInput(data: string): void {
		try {
			// Nobody can see what the keys would do.
			if (this.isBroken && this.close) this.close();
			else this.inner.handleInput?.(data);
		} catch (error) {
			failed(this.what, error);
			this.close?.();
		}
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		const result = contained(this.what, () => this.inner.handleMouse?.(event), undefined);
		if (!result) return undefined;
		// Without what a part of the component says of itself: what follows comes here as well.
		const { handled, capture, focus, render } = result;
		return Object.fromEntries(
			Object.entries({ handled, capture, focus, render }).filter(([, value]) => value !== undefined),
		);
	}

	dispose(): void {
		contained(this.what, () => this.inner.dispose?.(), undefined);
	}

	get wantsKeyRelease(): boolean {
		return contained(this.what, () => this.inner.wantsKeyRelease === true, false);
	}

	get focused(): boolean {
		return contained(this.what, () => this.inner.focused === true, false);
	}

	set focused(focused: boolean) {
		contained(
			this.what,
			() => {
				if ("focused" in this.inner) this.inner.focused = focused;
			},
			undefined,
		);
	}
}

function fitted(line: string, width: number): string {
	const whole = /[\r\n]/.test(line) ? line.replace(/[\r\n]+/g, " ") : line;
	return clip(whole, width);
}

function isComponent(value: unknown): value is Parts {
	return typeof value === "object" && value !== null && "render" in value && typeof value.render === "function";
}

function made(make: () => unknown): Parts {
	try {
		const component = make();
		if (isComponent(component)) return component;
		throw new TypeError("there is nothing that draws");
	} catch (error) {
		const render = () => {
			throw error;
		};
		return { render, invalidate() {} };
	}
}
