/** pi as the extension gets it: all that is registered with it, or shown by it, fails without ending it. */

import type { Component, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { clip, plainText } from "../ui/text.ts";
import { contained, failed, failure, failureLine, tellFailuresTo } from "./guard.ts";
import { say } from "./notices.ts";
import type { PiContext } from "./pi.ts";
import { contentText, defined, isText } from "./stored.ts";

type Loose = (...args: unknown[]) => unknown;
type Fields = Record<string, unknown>;

/** Wraps `pi`, once per load. A handler of `tool_call` still blocks the call by failing. */
export function guarded<Pi extends object>(pi: Pi): Pi {
	const call = (name: string, ...args: unknown[]) => (pi as unknown as Record<string, Loose>)[name]?.(...args);
	const drawing =
		(register: string): Loose =>
		(type, renderer) =>
			call(register, type, guardedRenderer(`drawing \`${type}\``, renderer as Loose, true));
	// What fails before a session begins is told there.
	tellFailuresTo(undefined, true);
	call("on", "session_start", (_event: unknown, context: unknown) => tellFailuresTo(context as PiContext, true));
	return replaced(pi, {
		on: (event: unknown, handler: unknown) => call("on", event, guardedHandler(String(event), handler as Loose)),
		registerTool: (tool: unknown) => call("registerTool", guardedTool(tool as Fields)),
		registerCommand: (name: unknown, command: unknown) =>
			call("registerCommand", name, guardedCommand(String(name), command as Fields)),
		registerMessageRenderer: drawing("registerMessageRenderer"),
		registerEntryRenderer: drawing("registerEntryRenderer"),
	});
}

/** `base` with other fields in the place of some. Everything else is its own, getters that throw included. */
function replaced<T extends object>(base: T, others: object): T {
	const get = (_: object, name: string | symbol): unknown => {
		if (Object.hasOwn(others, name)) return Reflect.get(others, name);
		const value: unknown = Reflect.get(base, name);
		return typeof value === "function" ? value.bind(base) : value;
	};
	return new Proxy({}, { get, has: (_, name) => Reflect.has(base, name) }) as T;
}

function guardedHandler(event: string, handler: Loose): Loose {
	return (payload, context) => {
		tellFailuresTo(context as PiContext, false);
		const run = () => handler(payload, guardedContext(context as PiContext));
		return event === "tool_call" ? run() : contained(`the handler of \`${event}\``, run, undefined);
	};
}

/** A context that is stale throws for each of its fields. */
function guardedContext<Context extends PiContext>(context: Context): Context {
	return replaced(context, {
		get ui() {
			return guardedUi(context.ui);
		},
	});
}

function guardedUi(ui: PiContext["ui"]): PiContext["ui"] {
	const { setWidget, custom, onTerminalInput } = ui as unknown as Record<string, Loose | undefined>;
	return replaced(ui, {
		setWidget: (key, content, ...more) => {
			const factory = (...args: unknown[]) => new GuardedComponent("the widget", () => (content as Loose)(...args));
			return setWidget?.call(ui, key, typeof content === "function" ? factory : content, ...more);
		},
		custom: (factory, ...more) => {
			const open = (...args: unknown[]) => {
				const component = (factory as Loose)(...args);
				return new GuardedComponent("the screen", () => component, { close: args[3] as () => void });
			};
			return custom?.call(ui, open, ...more);
		},
		onTerminalInput: (listener) =>
			onTerminalInput?.call(ui, (data: unknown) =>
				contained("a listener to the keyboard", () => (listener as Loose)(data), undefined),
			),
	} satisfies Record<string, Loose>);
}

function guardedTool(tool: Fields): Fields {
	const { execute, renderCall, renderResult } = tool as Record<"execute" | "renderCall" | "renderResult", Loose>;
	const drawing = `drawing \`${tool.name}\``;
	return {
		...tool,
		// pi makes a result for the model of what fails in there.
		execute: (...args: unknown[]) => execute(...args.slice(0, 4), guardedContext(args[4] as PiContext)),
		renderCall: guardedRenderer(drawing, renderCall),
		renderResult: guardedRenderer(drawing, renderResult),
	};
}

/** A renderer whose components are guarded. The one of the last time comes back in its last argument, the context. */
function guardedRenderer(what: string, renderer: Loose, mayDrawNothing = false): Loose {
	return (...args) => {
		const context = args.at(-1) as { lastComponent?: unknown } | undefined;
		const last = context?.lastComponent instanceof GuardedComponent ? context.lastComponent : undefined;
		let isNothing = false;
		const make = () => {
			const given = last ? [...args.slice(0, -1), { ...context, lastComponent: last.inner }] : args;
			const component = renderer(...given);
			isNothing = component === undefined;
			return component;
		};
		const guarded = new GuardedComponent(what, make, { text: textIn(args[0]) });
		if (isNothing && mayDrawNothing) return undefined;
		return last && guarded.inner === last.inner ? last : guarded;
	};
}

/** A command that fails says so each time: somebody waits for it. */
function guardedCommand(name: string, command: Fields): Fields {
	const { handler, getArgumentCompletions } = command as Record<"handler" | "getArgumentCompletions", Loose>;
	return {
		...command,
		handler: async (args: unknown, context: PiContext) => {
			tellFailuresTo(context, false);
			try {
				await handler(args, guardedContext(context));
			} catch (error) {
				contained("a notice", () => say(failure(`/${name}`, error), context), undefined);
			}
		},
		getArgumentCompletions: (prefix: unknown) => {
			const items = contained(`completing \`/${name}\``, () => getArgumentCompletions(prefix), null);
			return Array.isArray(items) && items.every((item) => isText(item?.value) && isText(item?.label)) ? items : null;
		},
	};
}

/** The text of what is drawn: of a result, a message, or an entry. */
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
	/** What draws; a renderer may want it back as `lastComponent`. */
	readonly inner: Parts;
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
			const lines = this.options.text ? this.options.text.split("\n", TEXT_LINES) : [];
			return [failureLine(this.what, error, width), ...lines.map((line) => clip(line, width))];
		}
	}

	/** pi ends when a line is wider than the terminal. */
	private fit(lines: string[], width: number): string[] {
		if (!Array.isArray(lines)) throw new TypeError("no lines were drawn");
		const { drawn, fitting } = this;
		const isSame = width === this.width;
		for (let index = 0; index < lines.length; index++) {
			const line: unknown = lines[index];
			if (!isText(line)) throw new TypeError("a line is no text");
			if (isSame && line === drawn[index]) continue;
			drawn[index] = line;
			fitting[index] = clip(/[\r\n]/.test(line) ? line.replace(/[\r\n]+/g, " ") : line, width);
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
			if (this.isBroken && this.options.close) this.options.close();
			else this.inner.handleInput?.(data);
		} catch (error) {
			failed(this.what, error);
			this.options.close?.();
		}
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		const result = contained(this.what, () => this.inner.handleMouse?.(event), undefined);
		if (!result) return undefined;
		// Without what a part of the component says of itself: what follows comes here as well.
		const { handled, capture, focus, render } = result;
		return defined<TuiMouseEventResult>({ handled, capture, focus, render });
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
		const focus = () => "focused" in this.inner && Object.assign(this.inner, { focused });
		contained(this.what, focus, undefined);
	}
}

function made(make: () => unknown): Parts {
	try {
		const component = make() as Parts | undefined;
		if (typeof component?.render === "function") return component;
		throw new TypeError("there is nothing that draws");
	} catch (error) {
		const render = () => {
			throw error;
		};
		return { render, invalidate() {} };
	}
}
