/** Questions of runs: how they wait, what opens them, which keys answer them, and what ends them. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import type {
	ExtensionContext,
	ExtensionUIContext,
	ExtensionUIDialogOptions,
	Theme,
} from "@earendil-works/pi-coding-agent";
import {
	type Component,
	type Focusable,
	KeybindingsManager,
	type TUI,
	TUI_KEYBINDINGS,
	visibleWidth,
} from "@earendil-works/pi-tui";
import { dialogs } from "../../extension/questions/dialogs.ts";
import { type Presenter, Questions } from "../../extension/questions/questions.ts";
import { terminalQuestions } from "../../extension/questions/terminal.ts";
import type { Question } from "../../native.js";
import { consent, question } from "./asked-questions.ts";
import { Card } from "./drawn-card.ts";
import { KEYS } from "./drawn-panel.ts";
import { HostDouble } from "./package-copy.ts";

const SESSION = "session";
const [HOME, END] = ["\u001b[H", "\u001b[F"];

async function soon(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

/** Returns the current state of a promise. */
async function sofar<T>(promise: Promise<T> | T): Promise<T | "waits" | "rejected"> {
	const answer = Promise.resolve(promise).catch(() => "rejected" as const);
	return await Promise.race([
		answer,
		soon()
			.then(soon)
			.then(() => "waits" as const),
	]);
}

/** pi's terminal: an editor, overlays, and keys on their way from one listener to the focused component. */
class TerminalDouble {
	columns = 80;
	rows = 30;
	typed = "";
	edited: { title: string; prefill: string | undefined; close(value: string | undefined): void }[] = [];
	keybindings = new KeybindingsManager(TUI_KEYBINDINGS);
	private readonly editor = { getText: () => this.typed, setText() {}, handleInput: (data: string) => this.edit(data) };
	private readonly listeners = new Set<(data: string) => undefined>();
	private readonly widgets = new Map<string, Component>();
	private readonly overlays: (Component & Focusable)[] = [];
	focus: object = this.editor;

	readonly ui = {
		onTerminalInput: (listener: (data: string) => undefined) => {
			this.listeners.add(listener);
			return () => this.listeners.delete(listener);
		},
		getEditorText: () => this.typed,
		setWidget: (key: string, content?: (tui: TUI, theme: Theme) => Component) => {
			if (content) this.widgets.set(key, content(this.tui, this.theme));
			else this.widgets.delete(key);
		},
		custom: async (
			factory: (tui: TUI, theme: Theme, keys: KeybindingsManager, done: () => void) => Component & Focusable,
			{ onHandle }: { onHandle: (handle: object) => void },
		) => {
			const overlay = factory(this.tui, this.theme, this.keybindings, () => this.remove(overlay));
			await Promise.resolve();
			this.overlays.push(overlay);
			this.give(overlay);
			this.draw();
			onHandle({ isFocused: () => this.focus === overlay, hide: () => this.remove(overlay) });
			return await new Promise(() => {});
		},
		editor: (title: string, prefill?: string) =>
			new Promise<string | undefined>((close) => this.edited.push({ title, prefill, close })),
	};

	private readonly theme = {
		fg: (_color: string, text: string) => text,
		bold: (text: string) => text,
	} as unknown as Theme;

	private get tui(): TUI {
		const rows = () => this.rows;
		return {
			terminal: {
				get rows() {
					return rows();
				},
			},
			hasOverlay: () => this.overlays.length > 0,
			getFocusedComponent: () => this.focus,
		} as unknown as TUI;
	}

	/** Sends keys, one after the other, the way pi does. */
	press(...keys: string[]): void {
		for (const data of keys) {
			for (const listener of this.listeners) listener(data);
			(this.focus as { handleInput(data: string): void }).handleInput(data);
			this.draw();
		}
	}

	/** Draws the focused component, as pi does after each key. */
	private draw(): void {
		this.overlays.at(-1)?.render(this.columns);
	}

	/** The question over the screen. */
	get overlay(): string {
		const lines = this.overlays.at(-1)?.render(this.columns) ?? [];
		for (const line of lines) assert.ok(visibleWidth(line) <= this.columns, line);
		return lines.join("\n");
	}

	/** The lines above the editor. */
	get lines(): string[] {
		return [...this.widgets.values()].flatMap((widget) => widget.render(this.columns));
	}

	give(focus: object): void {
		if ("focused" in this.focus) this.focus.focused = false;
		this.focus = focus;
		if ("focused" in focus) focus.focused = true;
	}

	get listenerCount(): number {
		return this.listeners.size;
	}

	private edit(data: string): void {
		this.typed = data === KEYS.enter ? "" : this.typed + data;
	}

	private remove(overlay: Component & Focusable): void {
		const index = this.overlays.indexOf(overlay);
		if (index >= 0) this.overlays.splice(index, 1);
		if (this.focus === overlay) this.give(this.overlays.at(-1) ?? this.editor);
	}
}

describe("questions in pi's terminal", () => {
	let terminal: TerminalDouble;
	let questions: Questions;
	let ask: ReturnType<Questions["callbacks"]>;

	beforeEach(() => {
		mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
		now = 1_000_000;
		mock.method(performance, "now", () => now);
		terminal = new TerminalDouble();
		questions = new Questions();
		questions.attach(SESSION, presenter());
		ask = questions.callbacks(SESSION, "call-1");
	});

	afterEach(() => {
		questions.detach(false);
		mock.timers.reset();
		mock.restoreAll();
	});

	let now: number;

	function presenter(): Presenter {
		return terminalQuestions(terminal.ui as unknown as ExtensionUIContext);
	}

	async function pass(ms: number): Promise<void> {
		for (let remaining = ms; remaining > 0; remaining -= 100) {
			now += 100;
			mock.timers.tick(100);
			await soon();
		}
	}

	/** Reads the open dialog, so that its keys count from now on. */
	async function seen(): Promise<string> {
		const { overlay } = terminal;
		await pass(600);
		return overlay;
	}

	it("wait as lines first, and open after two seconds without a key", async () => {
		const answer = ask.ask(question("confirm", { title: "Delete\n\u001b[31mall\u001b[0m of it?", message: "Sure?" }));
		await soon();
		assert.deepEqual(terminal.lines, [" ? explorer asks: Delete all of it? · alt+a answers"]);
		assert.deepEqual(
			questions.list("call-1").map(({ agent }) => agent),
			["explorer"],
		);
		assert.deepEqual(questions.list("call-2"), []);
		await pass(1_900);
		assert.equal(terminal.overlay, "");
		await pass(200);
		assert.match(await seen(), /explorer asks.*Delete.*all of it\?.*Sure\?.*→ No.*Yes/s);
		terminal.press(KEYS.down, KEYS.enter);
		assert.deepEqual(await sofar(answer), { confirmed: true });
		assert.deepEqual([terminal.overlay, terminal.lines], ["", []]);
	});

	it("open at once while the user waits for the command that asks, and take the next key", async () => {
		let isAwaited = true;
		const { confirm } = questions.callbacks(SESSION, undefined, () => isAwaited);
		const answer = confirm(consent());
		await soon();
		assert.match(terminal.overlay, /Run scout/);
		terminal.press(KEYS.down, KEYS.enter);
		assert.equal(await sofar(answer), true);
		isAwaited = false;
		const later = confirm(consent());
		await soon();
		assert.deepEqual([await sofar(later), terminal.overlay], ["waits", ""]);
	});

	it("do not open while the user types, has text in the editor or looks at another screen", async () => {
		const answer = ask.confirm(consent());
		await pass(1_900);
		terminal.press("h");
		await pass(10_000);
		assert.equal(terminal.overlay, "", "the question stays closed while the editor has text");
		terminal.typed = "";
		terminal.give({ handleInput() {} });
		await pass(10_000);
		assert.equal(terminal.overlay, "", "the question stays closed while another dialog has the keys");
		terminal.give({ getText: () => "", setText() {}, handleInput() {} });
		terminal.press(KEYS.down);
		await pass(1_900);
		assert.equal(terminal.overlay, "", "the question stays closed after a key");
		await pass(300);
		assert.match(terminal.overlay, /Run scout\?/);
		assert.equal(await sofar(answer), "waits");
	});

	it("pass on keys that were meant for the editor, and open again later", async () => {
		const answer = ask.confirm(consent());
		await pass(2_200);
		assert.match(terminal.overlay, /Run scout/);
		await pass(200);
		terminal.press("y", KEYS.enter);
		assert.deepEqual([await sofar(answer), terminal.overlay, terminal.typed], ["waits", "", ""]);
		await pass(2_200);
		assert.match(terminal.overlay, /Run scout/, "the unseen question opens again");
		terminal.press(KEYS.enter);
		assert.equal(await sofar(answer), "waits");
	});

	it("close for a user who continues to type, and do not interfere again", async () => {
		const answer = ask.confirm(consent());
		await pass(2_200);
		await seen();
		terminal.press(..."yes do it");
		assert.deepEqual([terminal.typed, terminal.overlay], ["yes do it", ""]);
		terminal.press(KEYS.enter);
		await pass(10_000);
		assert.deepEqual([await sofar(answer), terminal.overlay], ["waits", ""]);
		assert.equal(questions.open("answer")?.problem, undefined);
		await soon();
		assert.match(terminal.overlay, /Run scout/);
	});

	it("are not chosen by letters of the user's list keys, unless they were opened by hand", async () => {
		terminal.keybindings = new KeybindingsManager(TUI_KEYBINDINGS, {
			"tui.select.down": "j",
			"tui.select.confirm": "l",
		});
		const answer = ask.confirm(consent());
		await pass(2_200);
		await seen();
		terminal.press("j", "l");
		assert.deepEqual([await sofar(answer), terminal.typed], ["waits", "jl"]);
		questions.open("answer");
		await soon();
		terminal.press("j", "l");
		assert.equal(await sofar(answer), true);
	});

	it("are declined by Enter and Escape alone, for every kind", async () => {
		const cases: [string, unknown, object | boolean][] = [];
		for (const key of [KEYS.enter, KEYS.escape, "\u0003"]) {
			// A question about an agent that was only closed may be asked again, so it differs from a no.
			const consented = Promise.resolve(ask.confirm(consent())).then(
				(isAllowed) => isAllowed,
				() => ({ unanswered: true }),
			);
			cases.push([key, consented, key === KEYS.enter ? false : { unanswered: true }]);
			cases.push([key, ask.ask(question("confirm")), { confirmed: false }]);
			cases.push([key, ask.ask(question("select", { options: ["Allow", "Always"] })), {}]);
			cases.push([key, ask.ask(question("input", { placeholder: "name" })), {}]);
			cases.push([key, ask.ask(question("editor", { prefill: "text" })), {}]);
		}
		for (const [key, answer, expected] of cases) {
			await pass(2_200);
			await seen();
			terminal.press(key);
			assert.deepEqual(await sofar(answer), expected, JSON.stringify(key));
		}
	});

	it("are answered by a choice or a text, and open at once by hand", async () => {
		const select = ask.ask(question("select", { options: ["red", "green"] }));
		questions.open("answer");
		await soon();
		assert.match(terminal.overlay, /→ No answer.*red.*green/s);
		terminal.press(KEYS.down, KEYS.down, KEYS.down, KEYS.up, KEYS.down, KEYS.enter);
		assert.deepEqual(await sofar(select), { value: "green" });

		const input = ask.ask(question("input", { placeholder: "a name" }));
		questions.open("answer");
		await soon();
		terminal.press(..."a y", KEYS.enter);
		assert.deepEqual(await sofar(input), { value: "a y" });

		const editor = ask.ask(question("editor", { prefill: "first" }));
		questions.open("answer");
		await soon();
		terminal.press(KEYS.down, KEYS.enter);
		assert.deepEqual(
			terminal.edited.map(({ title, prefill }) => [title, prefill]),
			[["Which?", "first"]],
		);
		terminal.edited[0]?.close("first\nsecond");
		assert.deepEqual(await sofar(editor), { value: "first\nsecond" });
		assert.equal(terminal.typed, "");
	});

	it("stay lines if the conversation is asked too, until the user opens one", async () => {
		const forConversation = question("select", { title: "Colour?", options: ["red"], forConversation: true });
		const answer = ask.ask(forConversation);
		await pass(10_000);
		assert.deepEqual([terminal.overlay, terminal.lines.length], ["", 1]);
		const other = ask.confirm(consent());
		await pass(2_200);
		assert.match(await seen(), /Run scout/, "the question does not delay another one");
		terminal.press(KEYS.down, KEYS.enter);
		assert.equal(await sofar(other), true);
		questions.open("answer");
		await soon();
		terminal.press(KEYS.down, KEYS.enter);
		assert.deepEqual(await sofar(answer), { value: "red" });
		const unanswered = ask.ask({ ...forConversation, id: forConversation.id + 1_000 });
		await soon();
		questions.detach(false);
		assert.equal(await sofar(unanswered), "rejected", "the question stays with the conversation");
	});

	it("accept text only after the user has chosen to write, if they opened by themselves", async () => {
		const answer = ask.ask(question("input"));
		await pass(2_200);
		await seen();
		terminal.press(..."rm");
		assert.equal(terminal.typed, "rm");
		questions.open("answer");
		await soon();
		terminal.press(..."docs", KEYS.enter);
		assert.deepEqual(await sofar(answer), { value: "docs" });
	});

	it("come one at a time, in order, with the asker, and in any order by hand", async () => {
		const answers = ["One?", "Two?", "Three?", "Four?"].map((title) =>
			ask.ask(question("confirm", { title, ...(title === "Two?" && { label: "cleanup" }) })),
		);
		await soon();
		assert.deepEqual(terminal.lines, [
			" ? explorer asks: One? · alt+a answers",
			" ? cleanup (explorer) asks: Two?",
			" +2 more questions",
		]);
		await pass(2_200);
		await seen();
		assert.match(terminal.overlay, /One\?/);
		terminal.press(KEYS.enter);
		await soon();
		assert.equal(terminal.overlay, "");
		questions.open("answer 2");
		await soon();
		assert.match(terminal.overlay, /Three\?/);
		terminal.press(KEYS.down, KEYS.enter);
		await pass(2_200);
		assert.match(terminal.overlay, /cleanup \(explorer\) asks.*Two\?/s);
		assert.deepEqual(await Promise.all(answers.map(sofar)), [
			{ confirmed: false },
			"waits",
			{ confirmed: true },
			"waits",
		]);
	});

	it("are opened by position, by the label or id of their run, or by its agent", async () => {
		const open = (which: string) => questions.open(`answer ${which}`)?.problem;
		assert.equal(open(""), "No sub-agent waits for an answer in this terminal");
		ask.ask(question("confirm", { title: "One?", runId: "99887766" }));
		ask.ask(question("confirm", { title: "Two?", label: "cleanup", agent: "tester" }));
		for (const [which, title] of [
			["", "One"],
			["2", "Two"],
			["1", "One"],
			["cleanup", "Two"],
			["9988", "One"],
			["tester", "Two"],
		] as const) {
			assert.equal(open(which), undefined, which);
			await soon();
			assert.match(terminal.overlay, new RegExp(`${title}\\?`), which);
		}
		assert.equal(open("nobody"), "No sub-agent named `nobody` waits for an answer");
		assert.equal(questions.open("list"), undefined, "the name of a command opens no question");
	});

	it("appear on the card of their call, and above the editor with the key that opens them", async () => {
		const card = new Card({ agent: "explorer", task: "tidy up" });
		assert.doesNotMatch(card.lines(60).join("\n"), /\?/);
		void ask.ask(question("confirm", { title: "Run scout?" }));
		card.questions = [...questions.list("call-1")];
		assert.deepEqual(card.lines(60).slice(1), ["  tidy up", "  ? explorer asks: Run scout?"]);
		terminal.columns = 24;
		assert.deepEqual(terminal.lines, [" ? explorer asks: Run…"]);
	});

	it("disappear when they are withdrawn, open or not", async () => {
		const [first, second] = [question("confirm", { title: "One?" }), question("confirm", { title: "Two?" })];
		const answers = [ask.ask(first), ask.ask(second)];
		await pass(2_200);
		ask.withdraw(second.id);
		assert.match(terminal.overlay, /One\?/);
		ask.withdraw(first.id);
		assert.deepEqual([await Promise.all(answers.map(sofar)), terminal.overlay, terminal.lines], [[{}, {}], "", []]);
		assert.match(questions.open("answer")?.problem ?? "", /No sub-agent waits/);
		for (let id = 0; id < 5_000; id++) ask.withdraw(-id);
		const early = question("confirm");
		ask.withdraw(early.id);
		assert.deepEqual(await sofar(ask.ask(early)), {}, "a question withdrawn before its arrival has no answer");
	});

	it("do not replace a withdrawn question that a person is reading", async () => {
		const first = question("confirm", { title: "List the files?" });
		void ask.ask(first);
		await pass(2_200);
		assert.match(terminal.overlay, /List the files\?/);
		const second = ask.ask(question("confirm", { title: "Delete the files?" }));
		await pass(3_000);
		ask.withdraw(first.id);
		await pass(1_000);
		assert.equal(terminal.overlay, "");
		terminal.press(KEYS.down, KEYS.enter);
		assert.equal(await sofar(second), "waits");
		await pass(2_200);
		assert.match(terminal.overlay, /Delete the files\?/);
	});

	it("have no effect once the addon has stopped waiting", async () => {
		const [wanted, asked] = [consent(), question("input")];
		const answers = [ask.confirm(wanted), ask.ask(asked)];
		for (const { id } of [wanted, asked]) ask.withdraw(id);
		assert.deepEqual(await Promise.all(answers.map(sofar)), ["rejected", {}]);
	});

	it("survive a reload, and end with their session", async () => {
		const first = ask.ask(question("confirm", { title: "One?" }));
		await pass(2_200);
		assert.match(terminal.overlay, /One\?/);
		questions.detach(true);
		assert.deepEqual([terminal.overlay, terminal.lines, terminal.listenerCount], ["", [], 0]);
		const second = ask.ask(question("confirm", { title: "Two?" }));
		const next = new Questions();
		next.attach(SESSION, presenter());
		await soon();
		assert.equal(terminal.lines.length, 2);
		await pass(2_200);
		await seen();
		terminal.press(KEYS.down, KEYS.enter);
		assert.deepEqual(await sofar(first), { confirmed: true });
		next.detach(false);
		assert.deepEqual(await sofar(second), {});
		assert.deepEqual(
			await sofar(ask.ask(question("confirm"))),
			{},
			"a question after the end of the session has no answer",
		);
	});

	it("fit the terminal, and long ones can be read to their end", async () => {
		const message = Array.from({ length: 60 }, (_, index) => `+ line ${index}`).join("\n");
		const answer = ask.confirm(consent(message));
		questions.open("answer");
		await soon();
		for (const [columns, rows] of [
			[80, 24],
			[60, 12],
			[20, 8],
			[3, 5],
		] as const) {
			[terminal.columns, terminal.rows] = [columns, rows];
			assert.ok(terminal.overlay.length > 0);
		}
		[terminal.columns, terminal.rows] = [80, 24];
		assert.ok(terminal.overlay.split("\n").length <= 20);
		assert.match(terminal.overlay, /line 0$|line 0 /m);
		for (let page = 0; page < 30; page++) terminal.press(KEYS.pageDown);
		assert.match(terminal.overlay, /line 59/);
		for (let page = 0; page < 30; page++) terminal.press(KEYS.pageUp);
		assert.match(terminal.overlay, /Run scout\?/);
		assert.equal(await sofar(answer), "waits");
	});

	it("can be approved only after scrolling to the end, and declined at any time", async () => {
		const message = Array.from({ length: 60 }, (_, index) => `+ line ${index}`).join("\n");
		terminal.rows = 24;
		const ways: [string, (typeof KEYS)[keyof typeof KEYS][]][] = [
			["by pages", Array<string>(10).fill(KEYS.pageDown)],
			["at once", [END]],
		];
		for (const [way, keys] of ways) {
			const asked = [
				ask.confirm(consent(message)),
				ask.ask(question("confirm", { message })),
				ask.ask(question("select", { title: message, options: ["Allow"] })),
				ask.ask(question("editor", { title: message })),
			];
			for (const [answer, expected] of [
				[asked[0], true],
				[asked[1], { confirmed: true }],
				[asked[2], { value: "Allow" }],
				[asked[3], "waits"],
			] as const) {
				questions.open("answer");
				await soon();
				assert.match(terminal.overlay, /lines 1 to 1\d of \d\d · pageUp\/pageDown\/end/);
				terminal.press(KEYS.down, KEYS.enter, KEYS.enter);
				assert.match(terminal.overlay, /Scroll to the end first: pageDown or end/);
				assert.equal(await sofar(answer), "waits", way);
				terminal.press(KEYS.up);
				terminal.press(...keys);
				assert.match(terminal.overlay, /line 59/);
				terminal.press(KEYS.down, KEYS.enter);
				assert.deepEqual(await sofar(answer), expected, way);
			}
			assert.equal(terminal.edited.length, 1, "only the text that was shown is edited");
			terminal.edited.pop()?.close("text");
			await soon();
		}
		const declined = ask.confirm(consent(message));
		questions.open("answer");
		await soon();
		terminal.press(KEYS.enter);
		assert.equal(await sofar(declined), false);
	});

	it("send a text only after scrolling to the end, and scroll during the writing", async () => {
		const title = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
		const answer = ask.ask(question("input", { title }));
		questions.open("answer");
		await soon();
		terminal.press(..."yes", KEYS.enter);
		assert.match(terminal.overlay, /Scroll to the end first/);
		assert.equal(await sofar(answer), "waits");
		terminal.press(...Array<string>(10).fill(KEYS.pageDown));
		terminal.press("!", KEYS.enter);
		assert.deepEqual(await sofar(answer), { value: "yes!" });
	});

	it("show every line on the way from page to page", async () => {
		const message = Array.from({ length: 60 }, (_, index) => `| ${index} ${"word ".repeat(index % 40)}`).join("\n");
		void ask.ask(question("confirm", { message }));
		questions.open("answer");
		await soon();
		for (const [columns, rows] of [
			[80, 24],
			[40, 12],
			[20, 8],
		] as const) {
			[terminal.columns, terminal.rows] = [columns, rows];
			terminal.press(HOME);
			const seen = new Set<number>();
			let before = "";
			while (terminal.overlay !== before) {
				before = terminal.overlay;
				for (const [, line] of before.matchAll(/^│ \| (\d+)\b/gm)) seen.add(Number(line));
				terminal.press(KEYS.pageDown);
			}
			assert.equal(seen.size, 60, `${columns} columns`);
		}
	});

	it("continue below the name or the mark of a line, so that no text looks like another line", async () => {
		const long = `${"x".repeat(30)} ${"y".repeat(30)} tools: none`;
		const message = `check: ${long}\n+ ${long}\n| ${long}\n    ${long}\nOurs ${long}`;
		void ask.ask(question("confirm", { message }));
		questions.open("answer");
		await soon();
		terminal.columns = 72;
		const lines = terminal.overlay.split("\n").filter((line) => line.includes("tools: none"));
		assert.deepEqual(
			lines.map((line) => line.replace(/│/g, "").trimEnd()),
			["        tools: none", "   tools: none", "   tools: none", "     tools: none", " tools: none"],
		);
	});

	it("mark a row that ends within a word, so that a blank at the end of a row is visible", async () => {
		terminal.columns = 40;
		const path = `${"long-name/".repeat(3)}dist`;
		for (const [command, ends] of [
			[`rm -rf ${path}/*`, ["↩", "│"]],
			[`rm -rf ${path}/ *`, ["↩", "│"]],
			[`rm -rf ./${"b".repeat(28)} /`, ["│", "│"]],
			[`rm -rf ${"b".repeat(40)}`, ["↩", "│"]],
		] as const) {
			const asked = question("confirm", { title: "Run this?", message: `+ ${command}` });
			void ask.ask(asked);
			questions.open("answer");
			await soon();
			const rows = terminal.overlay.split("\n").slice(3, 5);
			assert.deepEqual(
				rows.map((row) => row.at(-1)),
				ends,
				terminal.overlay,
			);
			const hint = terminal.overlay.replace(/[\s│]+/g, " ").includes("↩ no space here");
			assert.equal(
				hint,
				ends.some((end) => end === "↩"),
			);
			ask.withdraw(asked.id);
		}
	});

	it("keep text on the screen in terminals that draw the parts of an emoji side by side", async () => {
		terminal.columns = 40;
		const families = "👨‍👩‍👧‍👦".repeat(12);
		void ask.ask(
			question("confirm", { title: "Run this?", message: `echo ${families}; ./x.sh ${"👍🏽🇩🇪".repeat(9)}; ./y.sh` }),
		);
		questions.open("answer");
		await soon();
		for (const row of terminal.overlay.split("\n").filter((row) => row.startsWith("│"))) {
			const apart = [...row.replace(/ *[│↩]$/, "")].reduce((sum, letter) => sum + visibleWidth(letter), 0);
			assert.ok(apart <= terminal.columns, row);
		}
		assert.match(terminal.overlay, /x\.sh[\s\S]*y\.sh/);
	});

	it("do not let a description look like our own line in a narrow terminal", async () => {
		terminal.columns = 28;
		const message = "it says: Looks around. Does nothing else. tools: read\ntools: bash";
		const asked = ask.confirm(consent(message));
		questions.open("answer");
		await soon();
		const ours = terminal.overlay.split("\n").filter((row) => row.startsWith("│ tools: "));
		assert.equal(ours.length, 1, terminal.overlay);
		assert.match(ours[0] ?? "", /bash/);
		terminal.press(KEYS.enter);
		assert.equal(await sofar(asked), false);
	});

	it("show a choice in full that the list shortens", async () => {
		const command = `Allow: npm test ${"# and so on ".repeat(20)}; ./x.sh`;
		const answer = ask.ask(question("select", { options: ["Always", command] }));
		questions.open("answer");
		await soon();
		const shown = terminal.overlay.replace(/[\s│]+/g, " ");
		assert.ok(shown.includes(`Choices in full: · ${command}`), shown);
		assert.doesNotMatch(shown, /· Always/);
		terminal.press(KEYS.down, KEYS.down, KEYS.enter);
		assert.deepEqual(await sofar(answer), { value: command });
	});

	it("do not mistake mouse and terminal reports for keys", async () => {
		const answer = ask.confirm(consent());
		await pass(1_000);
		const reports = ["\u001b[<35;10;10M", "\u001b[I", "\u001b[O", "\u001b[?62;c", "\u001b[6;20;10t", "\u001b[97;1:3u"];
		for (const report of reports) terminal.press(report);
		terminal.typed = "";
		await pass(1_200);
		assert.match(terminal.overlay, /Run scout/);
		assert.equal(await sofar(answer), "waits");
	});
});

/** A dialog that is open, and how the user closes it. */
interface Open {
	title: string;
	dialog: ExtensionUIDialogOptions | undefined;
	answer(value: string | undefined): void;
}

/** A client of RPC mode: it sees dialogs, and answers when the test says so. */
class Client {
	readonly open: Open[] = [];
	readonly context: ExtensionContext;

	constructor() {
		const host = new HostDouble();
		const show = (title: string, dialog?: ExtensionUIDialogOptions) =>
			new Promise<string | undefined>((resolve) => {
				const answer = (value: string | undefined) => {
					this.open.splice(this.open.indexOf(open), 1);
					resolve(value);
				};
				const open: Open = { title, dialog, answer };
				this.open.push(open);
				dialog?.signal?.addEventListener("abort", () => answer(undefined), { once: true });
			});
		host.user = {
			select: (title, options, dialog) => show(`${title} ${options.join("/")}`, dialog),
			confirm: async (title, message, dialog) => (await show(`${title} ${message}`, dialog)) === "yes",
			input: (title, placeholder, dialog) => show(`${title} ${placeholder}`, dialog),
			editor: (title, prefill) => show(`${title} ${prefill}`),
		};
		this.context = host.context({ mode: "rpc" });
	}

	/** The only dialog that is open, once everything that can happen has happened. */
	async sees(): Promise<Open> {
		await new Promise(setImmediate);
		const [only, second] = this.open;
		assert.equal(second, undefined, "only one dialog is open");
		return only ?? assert.fail("no dialog is open");
	}
}

describe("questions without a terminal", () => {
	let client: Client;
	let questions: Questions;
	let ask: ReturnType<Questions["callbacks"]>;

	beforeEach(() => {
		client = new Client();
		questions = new Questions();
		questions.attach(SESSION, dialogs(client.context));
		ask = questions.callbacks(SESSION);
	});

	afterEach(() => questions.detach(false));

	const cases: [method: Question["method"], fields: Partial<Question>, shown: string, typed: string, answer: object][] =
		[
			["select", { options: ["a", "b"] }, "explorer asks: Which? a/b", "b", { value: "b" }],
			["confirm", { message: "Sure?" }, "explorer asks: Which? Sure?", "yes", { confirmed: true }],
			["confirm", {}, "explorer asks: Which? ", "no", { confirmed: false }],
			["input", { placeholder: "a name" }, "explorer asks: Which? a name", "", { value: "" }],
			["editor", { prefill: "line" }, "explorer asks: Which? line", "two\nlines", { value: "two\nlines" }],
		];
	for (const [method, fields, shown, typed, expected] of cases) {
		it(`show the asker and pass on the result of ${method}: ${JSON.stringify(expected)}`, async () => {
			const answer = ask.ask(question(method, fields));
			const open = await client.sees();
			assert.equal(open.title, shown);
			open.answer(typed);
			assert.deepEqual(await answer, expected);
		});
	}

	it("name the run that asks if it has a name", async () => {
		const answer = ask.ask(question("confirm", { label: "cleanup", message: "Sure?" }));
		const open = await client.sees();
		assert.equal(open.title, "cleanup (explorer) asks: Which? Sure?");
		open.answer("yes");
		assert.deepEqual(await answer, { confirmed: true });
	});

	it("are cancelled when the user closes the dialog, and when pi cannot show it", async () => {
		for (const method of ["select", "input", "editor"] as const) {
			const answer = ask.ask(question(method));
			(await client.sees()).answer(undefined);
			assert.deepEqual(await answer, {}, method);
		}
		client.context.ui.input = async () => {
			throw new Error("stale");
		};
		assert.deepEqual(await ask.ask(question("input")), {});
		const next = ask.ask(question("select"));
		(await client.sees()).answer("after the failure");
		assert.deepEqual(await next, { value: "after the failure" });
	});

	it("are shown one at a time, in order, and the next one after a withdrawal", async () => {
		const [first, second] = [question("editor", { title: "1" }), question("input", { title: "2" })];
		const answers = [ask.ask(first), ask.ask(second), ask.confirm(consent())];
		assert.match((await client.sees()).title, /1/);
		ask.withdraw(first.id);
		// No one can close pi's editor; its client shows as many dialogs as it likes.
		client.open.shift();
		assert.match((await client.sees()).title, /2/);
		ask.withdraw(second.id);
		const last = await client.sees();
		assert.match(last.title, /Run scout/);
		last.answer("yes");
		assert.deepEqual(await Promise.all(answers), [{}, {}, true]);
	});

	it("are no dialogs if the conversation is asked too, until the user wants to answer", async () => {
		const answer = ask.ask(question("select", { title: "Colour?", options: ["red"], forConversation: true }));
		const other = ask.ask(question("input", { title: "Name?" }));
		const open = await client.sees();
		assert.match(open.title, /Name\?/);
		open.answer("Ada");
		assert.deepEqual(await other, { value: "Ada" });
		assert.equal(questions.open("answer")?.problem, undefined);
		const wanted = await client.sees();
		assert.match(wanted.title, /Colour\?/);
		wanted.answer("red");
		assert.deepEqual(await answer, { value: "red" });
	});

	it("are closed by the client when the child has stopped waiting", async () => {
		const first = ask.ask(question("input", { title: "Open", timeoutMs: 3_600_000 }));
		const open = await client.sees();
		const { timeout = 0 } = open.dialog ?? {};
		assert.ok(timeout > 3_000_000 && timeout <= 3_600_000, `${timeout}`);
		open.answer("done");
		assert.deepEqual(await first, { value: "done" });
	});
});
