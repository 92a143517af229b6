/** For any failure in the extension, pi gets a line or nothing, and its user one notice. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay, setImmediate as later } from "node:timers/promises";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Component, type TUI, visibleWidth } from "@earendil-works/pi-tui";
import { guardedInterval, guardedTimeout } from "../../extension/host/guard.ts";
import { guarded, guardedComponent } from "../../extension/host/guarded.ts";
import { HostDouble } from "./package-copy.ts";
import { PLAIN, standingIn } from "./standing-in.ts";

const theme = PLAIN;
const terminal = standingIn<TUI>({ requestRender() {} });

function fails(): never {
	throw new Error("broken\u001b[2J\nby a test");
}

/** A session that has just begun. */
async function opened(): Promise<{ host: HostDouble; pi: ExtensionAPI }> {
	// An earlier failure is reported to the earlier session.
	await later();
	const host = new HostDouble();
	const pi = guarded(host.api);
	pi.on("session_start", () => {});
	await host.emit("session_start");
	return { host, pi };
}

const drawn = (render: (width: number) => string[], invalidate = () => {}) =>
	guardedComponent("a drawing", { render, invalidate });

describe("a guarded component", () => {
	it("that fails is one line of the requested width", async () => {
		await opened();
		const broken = drawn(fails);
		for (const width of [0, 1, 7, 80, 400]) {
			const lines = broken.render(width);
			assert.equal(lines.length, 1);
			assert.ok(visibleWidth(lines[0] ?? "") <= width, `${width}`);
			assert.ok(!lines[0]?.includes("\n") && !lines[0]?.includes("[2J"));
		}
		assert.match(broken.render(80)[0] ?? "", /^✗ pi-subagent-native: a drawing failed: Error: broken by a test/);
	});

	it("never draws a line that is too wide, or anything except lines", async () => {
		await opened();
		assert.deepEqual(
			drawn(() => ["a".repeat(9), "b\nc"])
				.render(5)
				.map(visibleWidth),
			[5, 3],
		);
		for (const odd of [undefined, null, "text", [1], ["a", undefined], { length: 1 }, [["a"]]]) {
			const [line, ...more] = drawn(() => odd as string[]).render(60);
			assert.match(line ?? "", /^✗ /);
			assert.deepEqual(more, []);
		}
	});

	it("draws its lines, also when they change in place", () => {
		const lines = ["one", "two"];
		const component = drawn(() => lines);
		const first = component.render(10);
		assert.deepEqual(first, ["one", "two"]);
		lines[1] = "three and more";
		lines.push("four");
		assert.deepEqual(component.render(10).map(visibleWidth), [3, 10, 4]);
		assert.deepEqual(component.render(20), ["one", "three and more", "four"]);
		assert.deepEqual(first, ["one", "two"], "an earlier array is not changed");
	});

	it("returns the same array while no line changes, and a new one after a change", () => {
		let lines = ["one", "two"];
		const component = drawn(() => [...lines]);
		const first = component.render(10);
		assert.equal(component.render(10), first);
		lines = ["one", "three"];
		const second = component.render(10);
		assert.notEqual(second, first);
		assert.deepEqual(
			[first, second],
			[
				["one", "two"],
				["one", "three"],
			],
		);
		second.push("added by the host");
		assert.deepEqual(component.render(10), ["one", "three"]);
	});

	it("passes on pi's calls, and only existing members", () => {
		const calls: unknown[] = [];
		const screen = {
			focused: false,
			wantsKeyRelease: true,
			render: () => [],
			invalidate: () => calls.push("invalidate"),
			handleInput: (data: string) => calls.push(data),
			handleMouse: () => ({ handled: true, target: "an inner part" }),
			dispose: () => calls.push("dispose"),
		};
		const component = guardedComponent("a screen", screen) as Required<Component> & {
			focused: boolean;
			dispose(): void;
		};
		component.focused = true;
		component.handleInput("x");
		component.invalidate();
		component.dispose();
		assert.deepEqual([screen.focused, component.focused, component.wantsKeyRelease], [true, true, true]);
		assert.deepEqual(calls, ["x", "invalidate", "dispose"]);
		assert.deepEqual(component.handleMouse({} as never), { handled: true });
		const plain = { render: () => [], invalidate: () => {} };
		const other = guardedComponent("a drawing", plain) as Component & { focused?: boolean; dispose?(): void };
		other.focused = true;
		other.handleInput?.("x");
		assert.equal(other.dispose, undefined);
		assert.deepEqual([Object.keys(plain), other.handleMouse?.({} as never)], [["render", "invalidate"], undefined]);
	});

	it("that stops working is closed by the next key", async () => {
		await opened();
		let closed = 0;
		const close = () => closed++;
		const screen = (part: object) =>
			guardedComponent(
				"a screen",
				{ render: () => ["fine"], invalidate: () => {}, ...part },
				{ close },
			) as Required<Component>;
		const deaf = screen({ handleInput: fails });
		deaf.handleInput("x");
		assert.equal(closed, 1);
		const blind = screen({ render: fails });
		blind.render(80);
		blind.handleInput("x");
		assert.equal(closed, 2);
		const well = screen({ handleInput: () => {} });
		well.render(80);
		well.handleInput("x");
		assert.equal(closed, 2);
	});
});

describe("a guarded registration", () => {
	it("fails alone, and is reported once in each session", async () => {
		const { host, pi } = await opened();
		const tool = { name: "t", label: "", description: "", parameters: {}, execute: async () => fails() };
		pi.registerTool({ ...tool, renderCall: fails, renderResult: () => undefined as never });
		pi.registerCommand("c", { description: "", getArgumentCompletions: fails, handler: async () => {} });
		pi.registerMessageRenderer("m", fails);
		pi.registerEntryRenderer("e", () => ({ render: fails, invalidate: fails }));
		pi.registerShortcut("ctrl+x", { handler: fails });
		pi.on("agent_end", fails);
		pi.on("agent_end", async () => await delay(1).then(fails));
		pi.on("agent_before_settle", async (event) => ({ ...event, continue: true }));
		const registered = host.tools.get("t") ?? assert.fail();
		assert.match(registered.renderCall({}, theme, {} as never).render(80)[0] ?? "", /^✗ .*drawing `t` failed/);
		assert.match(registered.renderResult({} as never, {} as never, theme, {} as never).render(80)[0] ?? "", /^✗ /);
		assert.match(host.renderMessage?.({ content: "x" }, 80)[0] ?? "", /^✗ /);
		assert.match(host.renderEntry?.({ data: 1 }, 80)[0] ?? "", /^✗ /);
		assert.equal(host.commands.get("c")?.getArgumentCompletions(""), null);
		assert.equal(host.shortcuts.get("ctrl+x")?.handler(host.context()), undefined);
		assert.deepEqual(await host.emit("agent_end"), [undefined, undefined]);
		assert.deepEqual(await host.emit("agent_before_settle", { entries: [] }), [{ entries: [], continue: true }]);
		await later();
		assert.equal(host.notes.length, 1, host.notes.join("\n"));
		assert.match(host.notes[0] ?? "", /drawing `t` failed: Error: broken by a test \(.*guard\.spec\.ts:\d+:\d+\)/);
		await host.emit("session_start", { reason: "new" });
		await host.emit("agent_end");
		await later();
		assert.equal(host.notes.length, 2);
		await assert.rejects(registered.execute("1", {}, undefined, undefined, host.context()), "pi tells the model");
	});

	it("leaves a message to pi if its renderer draws nothing", () => {
		const host = new HostDouble();
		let renderer: ((...args: never[]) => unknown) | undefined;
		host.registerMessageRenderer = (_type, given) => {
			renderer = given;
		};
		guarded(host.api).registerMessageRenderer("m", () => undefined);
		assert.equal(renderer?.(), undefined);
	});

	it("reports each failure of a command", async () => {
		const { host, pi } = await opened();
		pi.registerCommand("c", { description: "", getArgumentCompletions: () => null, handler: async () => fails() });
		for (const time of [1, 2]) {
			await host.commands.get("c")?.handler("", host.context());
			assert.equal(host.notes.length, time);
		}
		assert.match(host.notes[0] ?? "", /\/c failed: Error: broken/);
	});

	it("does not hide the answer of a tool", async () => {
		const { host, pi } = await opened();
		pi.registerTool({
			...{ name: "t", label: "", description: "", parameters: {}, execute: async () => fails() },
			...{ renderCall: fails, renderResult: fails },
		});
		const content = [{ type: "text", text: `the answer\u001b[2J\n${"long ".repeat(50)}\n${"\n".repeat(50)}` }];
		const drawn =
			host.tools
				.get("t")
				?.renderResult({ content } as never, {} as never, theme, {} as never)
				.render(30) ?? [];
		assert.deepEqual([drawn[1], drawn.length <= 11], ["the answer", true]);
		for (const line of drawn) assert.ok(visibleWidth(line) <= 30, line);
	});

	it("is skipped by a pi without support, and reported at the start of a session", async () => {
		await opened();
		const host = new HostDouble();
		host.registerCommand = fails;
		const { default: load } = await import("../../extension/index.ts");
		load(host.api);
		await later();
		assert.deepEqual(host.notes, []);
		await host.emit("session_start");
		assert.match(host.notes.join(), /loading the extension failed: Error: broken/);
	});

	it("still blocks a tool call by failing", async () => {
		const { host, pi } = await opened();
		pi.on("tool_call", fails);
		await assert.rejects(host.emit("tool_call"));
	});
});

describe("guarded screens", () => {
	it("are guarded in widgets and screens, and contexts stay unchanged", async () => {
		const { host, pi } = await opened();
		const shown: unknown[] = [];
		host.user.setWidget = (_key, content) => shown.push(content?.(terminal, theme));
		host.user.custom = async (factory) => shown.push(factory(terminal, theme, {} as never, () => {}));
		let given: ExtensionContext | undefined;
		pi.on("agent_start", (_event, context) => {
			given = context;
			context.ui.setWidget("w", fails);
			context.ui.setWidget("w", undefined);
			void context.ui.custom(() => ({ render: fails, invalidate: fails }) as never, {} as never);
		});
		await host.emit("agent_start");
		const [widget, none, screen] = shown as Component[];
		assert.deepEqual([widget?.render(80).length, none, screen?.render(80).length], [1, undefined, 1]);
		assert.equal(given?.cwd, "/project");
		assert.equal(given?.sessionManager.getSessionId(), "session");
		assert.equal("mode" in (given ?? {}), true);
	});

	it("throw like pi for a stale context", async () => {
		const { host, pi } = await opened();
		let given: ExtensionContext | undefined;
		pi.on("agent_start", (_event, context) => {
			given = context;
		});
		const stale = Object.defineProperty(host.context(), "ui", { get: fails });
		await host.emit("agent_start", {}, stale);
		assert.throws(() => given?.ui);
	});
});

describe("a guarded timer", () => {
	it("that fails ends nothing, and continues", async () => {
		const { host } = await opened();
		let ticks = 0;
		const interval = guardedInterval(
			"a clock",
			() => {
				ticks++;
				fails();
			},
			1,
		);
		guardedTimeout("a clock", fails, 1);
		while (ticks < 3) await delay(1);
		clearInterval(interval);
		assert.deepEqual(host.notes.length, 1);
		assert.match(host.notes[0] ?? "", /a clock failed/);
	});
});
