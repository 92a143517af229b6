/** pi as the extension gets it: all that is registered with it, or shown by it, fails without ending it. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { clip, plainText } from "../ui/text.ts";
import { contained, failed, failure, failureLine, tellFailuresTo } from "./guard.ts";
import { say } from "./notices.ts";
import { contentText, defined, isObject, isText } from "./stored.ts";

type Loose = (...args: unknown[]) => unknown;
/** What a method of pi's takes of us: a function, or an object of them. */
type Ours = Loose & Record<"handler" | "getArgumentCompletions" | "execute" | "renderCall" | "renderResult", Loose>;

/** How that is guarded which a method of pi's takes; the name is what it is registered by. */
const GUARDS: Readonly<Record<string, (ours: Ours, name: string) => unknown>> = {
	// A handler of `tool_call` blocks the call by failing.
	on: (handler, event) =>
		event === "tool_call" ? called(handler) : harmless(`the handler of \`${event}\``, called(handler)),
	registerTool: (tool) => ({
		...tool,
		// pi makes a result for the model of what fails in there.
		execute: called(tool.execute),
		renderCall: renderer(`drawing \`${tool.name}\``, tool.renderCall),
		renderResult: renderer(`drawing \`${tool.name}\``, tool.renderResult),
	}),
	registerCommand: (command, name) => ({
		...command,
		handler: spoken(`/${name}`, called(command.handler)),
		getArgumentCompletions: harmless(`completing \`/${name}\``, command.getArgumentCompletions, null),
	}),
	registerShortcut: (shortcut, key) => ({
		...shortcut,
		handler: harmless(`the key \`${key}\``, called(shortcut.handler)),
	}),
	registerMessageRenderer: (draw, type) => renderer(`drawing \`${type}\``, draw, true),
	registerEntryRenderer: (draw, type) => renderer(`drawing \`${type}\``, draw, true),
	setWidget:
		(make) =>
		(...args: unknown[]) =>
			new GuardedComponent("the widget", () => make(...args)),
	custom:
		(make) =>
		(...args: unknown[]) => {
			const screen = make(...args);
			return new GuardedComponent("the screen", () => screen, { close: args[3] as () => void });
		},
	onTerminalInput: (listener) => harmless("a listener to the keyboard", listener),
};

/** Wraps `pi`, once per load. */
export function guarded(pi: ExtensionAPI): ExtensionAPI {
	// What fails before a session begins is told there.
	tellFailuresTo(undefined, true);
	pi.on("session_start", (_event, context) => tellFailuresTo(context, true));
	return guardedPart(pi);
}

/** A part of pi. What its methods take of ours is guarded; everything else is its own, getters that throw included. */
function guardedPart<Part extends object>(part: Part): Part {
	const get = (_: object, name: string) => {
		const value: unknown = Reflect.get(part, name);
		if (name === "ui") return guardedPart(value as object);
		if (typeof value !== "function") return value;
		return (...args: unknown[]) => value.apply(part, guardedArguments(GUARDS[name], args));
	};
	return new Proxy({}, { get, has: (_, name) => Reflect.has(part, name) } as ProxyHandler<object>) as Part;
}

function guardedArguments(guard: (typeof GUARDS)[string] | undefined, args: unknown[]): unknown[] {
	const place = args.findIndex((arg) => typeof arg === "function" || isObject(arg));
	return guard && place >= 0 ? args.with(place, guard(args[place] as Ours, String(args[0]))) : args;
}

/** A function whose last argument is a context. One that is stale throws for each of its fields. */
function called(ours: Loose): Loose {
	return (...args) => {
		const context = args.pop() as ExtensionContext;
		tellFailuresTo(context, false);
		return ours(...args, guardedPart(context));
	};
}

function harmless(what: string, ours: Loose, otherwise?: unknown): Loose {
	return (...args) => contained(what, () => ours(...args), otherwise);
}

/** A command that fails says so each time: somebody waits for it. */
function spoken(what: string, command: Loose): Loose {
	return async (...args) => {
		try {
			await command(...args);
		} catch (error) {
			contained("a notice", () => say(failure(what, error), args.at(-1) as ExtensionContext), undefined);
		}
	};
}

/** A renderer whose components are guarded. Where one fails, the text of the result, message or entry is drawn. */
function renderer(what: string, draw: Loose, mayDrawNothing = false): Loose {
	return (...args) => {
		const component = new GuardedComponent(what, () => draw(...args), { text: textIn(args[0]) });
		return mayDrawNothing && component.isNothing ? undefined : component;
	};
}

function textIn(drawn: unknown): string {
	try {
		const { content, data } = drawn as { content?: unknown; data?: { text?: unknown } };
		return plainText(contentText({ content: content ?? data?.text })).trim();
	} catch {
		return "";
	}
}

/** Everything that pi looks for in a component. */
type Parts = Component & { focused?: boolean; width?: number; dispose?(): void };

/** Lines of a text whose component has failed; as many as pi shows of a result that nobody draws. */
const TEXT_LINES = 10;

export class GuardedComponent implements Component {
	private readonly inner: Parts;
	private readonly what: string;
	/** How a screen is taken off that has the keyboard and does not work, and what a failure must not hide. */
	private readonly options: { close?: () => void; text?: string };
	private width = -1;
	/** The lines of the last time, and what became of them: most stay as they are, and measuring is dear. */
	private drawn: string[] = [];
	private fitting: string[] = [];
	private isBroken = false;

	/** `make` returns what draws. */
	constructor(what: string, make: () => unknown, options: GuardedComponent["options"] = {}) {
		this.what = what;
		this.options = options;
		this.inner = attempted(make) as Parts;
	}

	/** Whether there is nothing to draw. */
	get isNothing(): boolean {
		return this.inner === undefined;
	}

	render(width: number): string[] {
		try {
			const lines = this.fit(this.inner.render(width), width);
			this.isBroken = false;
			return lines;
		} catch (error) {
			this.isBroken = true;
			failed(this.what, error);
			const lines = this.options.text ? this.options.text.split("\n", TEXT_LINES) : [];
			return [failureLine(this.what, error, width), ...lines.map((line) => clip(line, width))];
		}
	}

	/** pi ends when a line is wider than the terminal. */
	private fit(lines: readonly string[], width: number): string[] {
		if (!Array.isArray(lines)) throw new TypeError("no lines were drawn");
		const { drawn } = this;
		const isSame = width === this.width;
		this.fitting = lines.map((line: unknown, index) => {
			if (!isText(line)) throw new TypeError("a line is no text");
			return isSame && line === drawn[index] ? (this.fitting[index] ?? "") : clip(line.replace(/[\r\n]+/g, " "), width);
		});
		this.drawn = [...lines];
		this.width = width;
		// pi may add to what it gets.
		return [...this.fitting];
	}

	invalidate(): void {
		contained(this.what, () => this.inner.invalidate?.());
	}

	handleInput(data: string): void {
		try {
			// Nobody can see what the keys would do.
			if (this.isBroken && this.options.close) this.options.close();
			else this.inner.handleInput?.(data);
		} catch (error) {
			failed(this.what, error);
			this.options.close?.();
		}
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		const result = contained(this.what, () => this.inner.handleMouse?.(event));
		if (!result) return undefined;
		// Without what a part of the component says of itself: what follows comes here as well.
		const { handled, capture, focus, render } = result;
		return defined<TuiMouseEventResult>({ handled, capture, focus, render });
	}

	dispose(): void {
		contained(this.what, () => this.inner.dispose?.());
	}

	get wantsKeyRelease(): boolean {
		return contained(this.what, () => this.inner.wantsKeyRelease) === true;
	}

	get focused(): boolean {
		return contained(this.what, () => this.inner.focused) === true;
	}

	set focused(focused: boolean) {
		contained(this.what, () => "focused" in this.inner && Object.assign(this.inner, { focused }));
	}
}

/** What `make` returns, or something that fails to draw as `make` has. */
function attempted(make: () => unknown): unknown {
	try {
		return make();
	} catch (error) {
		const render = () => {
			throw error;
		};
		return { render, invalidate() {} };
	}
}
