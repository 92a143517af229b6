/** pi as the extension gets it: all that is registered with it, or shown by it, fails without ending it. */

import { plainText } from "../ui/text.ts";
import { contained, failure, tellFailuresTo } from "./guard.ts";
import { GuardedComponent } from "./guarded-component.ts";
import { say } from "./notices.ts";
import type { PiContext } from "./pi.ts";
import { isText } from "./stored.ts";

type Loose = (...args: unknown[]) => unknown;
type Parts = Record<string, unknown>;

/** Wraps `pi`, once per load. A handler of `tool_call` still blocks the call by failing. */
export function guarded<Pi extends object>(pi: Pi): Pi {
	const call = (name: string, ...args: unknown[]) => (pi as unknown as Record<string, Loose>)[name]?.(...args);
	// What fails before a session begins is told there.
	tellFailuresTo(undefined, true);
	call("on", "session_start", (_event: unknown, context: unknown) => tellFailuresTo(context as PiContext, true));
	return replaced(pi, {
		on: (event: unknown, handler: unknown) => call("on", event, guardedHandler(String(event), handler as Loose)),
		registerTool: (tool: unknown) => call("registerTool", guardedTool(tool as Parts)),
		registerCommand: (name: unknown, command: unknown) =>
			call("registerCommand", name, guardedCommand(String(name), command as Parts)),
		registerMessageRenderer: (type: unknown, renderer: unknown) =>
			call("registerMessageRenderer", type, guardedRenderer(`drawing \`${type}\``, renderer as Loose, true)),
		registerEntryRenderer: (type: unknown, renderer: unknown) =>
			call("registerEntryRenderer", type, guardedRenderer(`drawing \`${type}\``, renderer as Loose, true)),
	});
}

/** `base` with other functions in the place of some. Everything else is its own, getters that throw included. */
function replaced<T extends object>(base: T, functions: Record<string, Loose>): T {
	const get = (_: object, name: string | symbol): unknown => {
		if (typeof name === "string" && Object.hasOwn(functions, name)) return functions[name];
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

/** Other fields of a context are pi's own; a stale one throws for each. */
function guardedContext<Context extends PiContext>(context: Context): Context {
	return new Proxy({} as Context, {
		get: (_, name) => {
			if (name === "ui") return guardedUi(context.ui);
			const value: unknown = Reflect.get(context, name);
			return typeof value === "function" ? value.bind(context) : value;
		},
		has: (_, name) => Reflect.has(context, name),
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
				const close = args[3] as () => void;
				const screen = (component: unknown) => new GuardedComponent("the screen", () => component, { close });
				const component = (factory as Loose)(...args);
				return component instanceof Promise ? component.then(screen) : screen(component);
			};
			return custom?.call(ui, open, ...more);
		},
		onTerminalInput: (listener) =>
			onTerminalInput?.call(ui, (data: unknown) =>
				contained("a listener to the keyboard", () => (listener as Loose)(data), undefined),
			),
	});
}

function guardedTool(tool: Parts): Parts {
	const { execute, renderCall, renderResult } = tool as Record<string, Loose | undefined>;
	const drawing = `drawing \`${tool.name}\``;
	return {
		...tool,
		// pi makes a result for the model of what fails in there.
		...(execute && {
			execute: (...args: unknown[]) => execute(...args.slice(0, 4), guardedContext(args[4] as PiContext)),
		}),
		...(renderCall && { renderCall: guardedRenderer(drawing, renderCall) }),
		...(renderResult && { renderResult: guardedRenderer(drawing, renderResult) }),
	};
}

/** A renderer whose components are guarded. The one of the last time comes back in its last argument, the context. */
function guardedRenderer(what: string, renderer: Loose, mayDrawNothing = false): Loose {
	return (...args) => {
		const context = args.at(-1) as { lastComponent?: unknown } | undefined;
		const last = context?.lastComponent instanceof GuardedComponent ? context.lastComponent : undefined;
		let isNothing = false;
		const guarded = new GuardedComponent(
			what,
			() => {
				const given = last ? [...args.slice(0, -1), { ...context, lastComponent: last.inner }] : args;
				const component = renderer(...given);
				isNothing = component === undefined;
				return component;
			},
			{ text: textIn(args[0]) },
		);
		if (isNothing && mayDrawNothing) return undefined;
		return last && guarded.inner === last.inner ? last : guarded;
	};
}

/** A command that fails says so each time: somebody waits for it. */
function guardedCommand(name: string, command: Parts): Parts {
	const { handler, getArgumentCompletions } = command as Record<string, Loose | undefined>;
	return {
		...command,
		handler: async (args: unknown, context: PiContext) => {
			tellFailuresTo(context, false);
			try {
				await handler?.(args, guardedContext(context));
			} catch (error) {
				contained("a notice", () => say(failure(`/${name}`, error), context), undefined);
			}
		},
		...(getArgumentCompletions && {
			getArgumentCompletions: (prefix: unknown) =>
				contained(`completing \`/${name}\``, () => completions(getArgumentCompletions(prefix)), null),
		}),
	};
}

function completions(items: unknown): unknown {
	if (items instanceof Promise) return items.then(completions);
	return Array.isArray(items) && items.every((item) => isText(item?.value) && isText(item?.label)) ? items : null;
}

/** The text of what is drawn: of a result, a message, or an entry. */
function textIn(drawn: unknown): string {
	try {
		const { content, data } = drawn as { content?: unknown; data?: { text?: unknown } };
		const parts: readonly { text?: unknown }[] = Array.isArray(content) ? content : [{ text: content ?? data?.text }];
		return plainText(parts.flatMap(({ text }) => (isText(text) ? [String(text)] : [])).join("\n")).trim();
	} catch {
		return "";
	}
}
