/** Wraps pi for the extension, so that a failure in a registered handler or in a shown component does not end pi. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { clip, plainText } from "../ui/text.ts";
import { failureLine, failureText, recordFailure, runGuarded, showFailuresIn, showNotice } from "./guard.ts";
import { contentText, defined, isObject, isText } from "./stored.ts";

type Loose = (...args: unknown[]) => unknown;
/** An argument of a method of pi's: a function, or an object of functions. */
type PiArgument = Loose &
	Record<"handler" | "getArgumentCompletions" | "execute" | "renderCall" | "renderResult", Loose>;

/** The guard for the argument of each method of pi's. `name` is the name that it is registered under. */
const GUARDS: Readonly<Record<string, (argument: PiArgument, name: string) => unknown>> = {
	// A failing handler of `tool_call` blocks the call.
	on: (handler, event) =>
		event === "tool_call"
			? withGuardedContext(handler)
			: guardedFunction(`the handler of \`${event}\``, withGuardedContext(handler)),
	registerTool: (tool) => ({
		...tool,
		// pi turns an error from here into a result for the model.
		execute: withGuardedContext(tool.execute),
		renderCall: renderer(`drawing \`${tool.name}\``, tool.renderCall),
		renderResult: renderer(`drawing \`${tool.name}\``, tool.renderResult),
	}),
	registerCommand: (command, name) => ({
		...command,
		handler: withNotice(`/${name}`, withGuardedContext(command.handler)),
		getArgumentCompletions: guardedFunction(`completing \`/${name}\``, command.getArgumentCompletions, null),
	}),
	registerShortcut: (shortcut, key) => ({
		...shortcut,
		handler: guardedFunction(`the key \`${key}\``, withGuardedContext(shortcut.handler)),
	}),
	registerMessageRenderer: (draw, type) => renderer(`drawing \`${type}\``, draw, true),
	registerEntryRenderer: (draw, type) => renderer(`drawing \`${type}\``, draw, true),
	setWidget: (make) => renderer("the widget", make),
	custom: (make) => screen(make),
	onTerminalInput: (listener) => guardedFunction("a keyboard listener", listener),
};

/** Wraps `pi`, once per load. */
export function guarded(pi: ExtensionAPI): ExtensionAPI {
	// Failures before the first session are shown in that session.
	showFailuresIn(undefined, true);
	pi.on("session_start", (_event, context) => showFailuresIn(context, true));
	return guardedPart(pi);
}

/**
 * Wraps a part of pi. Functions passed to its methods are guarded. All else is unchanged, including getters that throw.
 */
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
	const index = args.findIndex((arg) => typeof arg === "function" || isObject(arg));
	return guard && index >= 0 ? args.with(index, guard(args[index] as PiArgument, String(args[0]))) : args;
}

/** Returns a function that receives a guarded context. A stale context throws for each of its fields. */
function withGuardedContext(callback: Loose): Loose {
	return (...args) => {
		// The position of the context depends on the function. A newer pi may add arguments after it.
		const index = args.findLastIndex((arg) => isObject(arg) && "sessionManager" in arg);
		if (index < 0) return callback(...args);
		const context = args[index] as ExtensionContext;
		showFailuresIn(context, false);
		return callback(...args.with(index, guardedPart(context)));
	};
}

function guardedFunction(what: string, callback: Loose, otherwise?: unknown): Loose {
	return (...args) => runGuarded(what, () => callback(...args), otherwise);
}

/** Returns a command that shows every failure, because the user waits for it. */
function withNotice(what: string, command: Loose): Loose {
	return async (...args) => {
		try {
			await command(...args);
		} catch (error) {
			runGuarded("a notice", () => showNotice(failureText(what, error), args.at(-1) as ExtensionContext));
		}
	};
}

/**
 * Returns a renderer with guarded components. If one fails, the text of the result, message or entry is drawn instead.
 */
function renderer(what: string, draw: Loose, mayDrawNothing = false): Loose {
	return (...args) => {
		const drawn = attempted(() => draw(...args));
		if (drawn === undefined && mayDrawNothing) return undefined;
		return guardedComponent(what, drawn, { text: textIn(args[0]) });
	};
}

/** Guards a screen. An error while the screen is created goes to the caller. */
function screen(make: Loose): Loose {
	return (...args) => guardedComponent("the screen", make(...args), { close: args[3] as () => void });
}

function textIn(drawn: unknown): string {
	try {
		const { content, data } = drawn as { content?: unknown; data?: { text?: unknown } };
		return plainText(contentText({ content: content ?? data?.text })).trim();
	} catch {
		return "";
	}
}

/** Returns the result of `make`, or a component that fails in the same way when it is drawn. */
function attempted(make: () => unknown): unknown {
	try {
		return make();
	} catch (error) {
		const render = () => {
			throw error;
		};
		return { render };
	}
}

/** The number of text lines drawn instead of a failed component. pi shows as many of a result without a renderer. */
const TEXT_LINES = 10;

/** `close` removes a failed screen that has the keyboard. `text` is the text to draw instead of a failed component. */
interface Options {
	close?: () => void;
	text?: string;
}

/** Wraps `drawn` for pi, so that a failure in any method or field that pi uses stays in this component. */
export function guardedComponent<Drawn>(
	what: string,
	drawn: Drawn,
	{ close, text = "" }: Options = {},
): Drawn & Component {
	const inner = Object(drawn) as Component;
	const fit = fitting();
	let isBroken = false;
	const own: Required<Omit<Component, "wantsKeyRelease">> = {
		render(width) {
			try {
				const lines = fit(inner.render(width), width);
				isBroken = false;
				return lines;
			} catch (error) {
				isBroken = true;
				recordFailure(what, error);
				const lines = text === "" ? [] : text.split("\n", TEXT_LINES);
				return [failureLine(what, error, width), ...lines.map((line) => clip(line, width))];
			}
		},
		handleInput(data) {
			try {
				// A failed screen cannot show the effect of keys.
				if (isBroken && close) close();
				else inner.handleInput?.(data);
			} catch (error) {
				recordFailure(what, error);
				close?.();
			}
		},
		handleMouse(event) {
			const result = runGuarded(what, () => inner.handleMouse?.(event));
			if (!result) return undefined;
			// The component's internal target metadata is left out, so that pi sends the following events to the wrapper too.
			const { handled, capture, focus, render } = result;
			return defined<TuiMouseEventResult>({ handled, capture, focus, render });
		},
		invalidate() {
			runGuarded(what, () => inner.invalidate?.());
		},
	};
	return new Proxy(inner, {
		get(_, name) {
			if (Object.hasOwn(own, name)) return Reflect.get(own, name);
			const value: unknown = runGuarded(what, () => Reflect.get(inner, name));
			return typeof value === "function" ? guardedFunction(what, value.bind(inner)) : value;
		},
		set(_, name, value) {
			runGuarded(what, () => name in inner && Object.assign(inner, { [name]: value }));
			return true;
		},
	}) as Drawn & Component;
}

/**
 * Returns a function that shortens lines to the width, because pi ends if a line is wider than the terminal. Measuring
 * is expensive, so unchanged lines are not measured again. While no line changes, the function returns the same array,
 * because pi caches the result of it. A caller that changed that array gets a new one.
 */
function fitting(): (lines: readonly string[], width: number) => string[] {
	let last = { width: -1, drawn: [] as readonly string[], fit: [] as readonly string[], given: [] as string[] };
	return (lines, width) => {
		if (!Array.isArray(lines)) throw new TypeError("no lines were drawn");
		const fit = lines.map((line: unknown, index) => {
			if (!isText(line)) throw new TypeError("a line is not a string");
			const isSame = width === last.width && line === last.drawn[index];
			return isSame ? (last.fit[index] ?? "") : clip(line.replace(/[\r\n]+/g, " "), width);
		});
		const given = isSameLines(fit, last.fit) && isSameLines(fit, last.given) ? last.given : [...fit];
		last = { width, drawn: [...lines], fit, given };
		return given;
	};
}

function isSameLines(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((line, index) => line === other[index]);
}
