/** What the user is asked on behalf of a run, and when a dialog goes away. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DialogOptions, PiContext } from "../../extension/host/pi.ts";
import { answerWith, confirmWith, Dialogs } from "../../extension/ui/questions.ts";
import type { Question } from "../../index.js";
import { HostDouble } from "./package-copy.ts";

/** A dialog that is open, and how the user closes it. */
interface Open {
	title: string;
	dialog: DialogOptions | undefined;
	answer(value: string | undefined): void;
}

/** A user who sees dialogs and answers when the test says so; a signal closes those that pi would close. */
class User {
	readonly open: Open[] = [];
	readonly context: PiContext;

	constructor(mode: PiContext["mode"] = "tui") {
		const host = new HostDouble();
		const show = (title: string, dialog?: DialogOptions) =>
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
		this.context = host.context({ mode });
	}

	/** The only dialog that is open, once everything that can happen has happened. */
	async sees(): Promise<Open> {
		await new Promise(setImmediate);
		const [only, second] = this.open;
		assert.equal(second, undefined, "two dialogs at once");
		return only ?? assert.fail("no dialog is open");
	}

	async seesNothing(): Promise<void> {
		await new Promise(setImmediate);
		assert.deepEqual(this.open, []);
	}
}

function question(method: Question["method"], fields: Partial<Question> = {}): Question {
	return { runId: "1a2b3c4d", agent: "explorer", method, title: "Which?", ...fields };
}

const never = new AbortController().signal;

describe("questions of a child", () => {
	const cases: [method: Question["method"], fields: Partial<Question>, shown: string, typed: string, answer: object][] =
		[
			["select", { options: ["a", "b"] }, "explorer asks: Which? a/b", "b", { value: "b" }],
			["confirm", { message: "Sure?" }, "explorer asks: Which? Sure?", "yes", { confirmed: true }],
			["confirm", {}, "explorer asks: Which? ", "no", { confirmed: false }],
			["input", { placeholder: "a name" }, "explorer asks: Which? a name", "", { value: "" }],
			["editor", { prefill: "line" }, "explorer asks: Which? line", "two\nlines", { value: "two\nlines" }],
		];
	for (const [method, fields, shown, typed, expected] of cases) {
		it(`show who asks and pass on what a ${method} comes to: ${JSON.stringify(expected)}`, async () => {
			const user = new User();
			const answer = answerWith(new Dialogs(), user.context, never)(question(method, fields));
			const open = await user.sees();
			assert.equal(open.title, shown);
			open.answer(typed);
			assert.deepEqual(await answer, expected);
		});
	}

	it("are cancelled when the user closes the dialog, and when pi cannot show it", async () => {
		const user = new User();
		const ask = answerWith(new Dialogs(), user.context, never);
		for (const method of ["select", "input", "editor"] as const) {
			const answer = ask(question(method));
			(await user.sees()).answer(undefined);
			assert.deepEqual(await answer, {}, method);
		}
		user.context.ui.input = async () => {
			throw new Error("stale");
		};
		assert.deepEqual(await ask(question("input")), {});
		const next = ask(question("select"));
		(await user.sees()).answer("after the failure");
		assert.deepEqual(await next, { value: "after the failure" });
	});

	it("are shown one at a time, in their order, those about project agents among them", async () => {
		const user = new User();
		const dialogs = new Dialogs();
		const first = answerWith(dialogs, user.context, never)(question("input", { title: "1" }));
		const request = { agent: "mine", path: "", title: "2", message: "" };
		const second = confirmWith(dialogs, user.context, never)(request);
		const third = answerWith(dialogs, user.context, never)(question("input", { title: "3" }));
		for (const [title, typed] of [
			["explorer asks: 1", "one"],
			["2", "yes"],
			["explorer asks: 3", "three"],
		] as const) {
			const open = await user.sees();
			assert.ok(open.title.startsWith(title), open.title);
			open.answer(typed);
		}
		assert.deepEqual(await Promise.all([first, second, third]), [{ value: "one" }, true, { value: "three" }]);
	});

	it("go away with their run, open or still waiting, and leave those of other runs", async () => {
		const user = new User();
		const dialogs = new Dialogs();
		const run = new AbortController();
		const ask = answerWith(dialogs, user.context, run.signal);
		const confirm = confirmWith(dialogs, user.context, run.signal);
		const ofRun = [ask(question("select")), ask(question("input"))];
		const consent = confirm({ agent: "mine", path: "", title: "Run?", message: "" });
		const other = answerWith(dialogs, user.context, never)(question("input", { title: "Other" }));
		await user.sees();
		run.abort();
		assert.deepEqual(await Promise.all(ofRun), [{}, {}]);
		assert.equal(await consent, false);
		const open = await user.sees();
		assert.match(open.title, /Other/);
		open.answer("still here");
		assert.deepEqual(await other, { value: "still here" });
		assert.deepEqual(await ask(question("select")), {}, "a run that is over asks nothing");
		await user.seesNothing();
	});

	it("are cancelled when the child has stopped waiting, also while another one is open", async () => {
		const user = new User();
		const ask = answerWith(new Dialogs(), user.context, never);
		const first = ask(question("input", { title: "Open", timeoutMs: 3_600_000 }));
		const open = await user.sees();
		const { timeout = 0, signal } = open.dialog ?? {};
		assert.ok(timeout > 3_000_000 && timeout <= 3_600_000 && signal, `${timeout}`);
		assert.deepEqual(await ask(question("select", { timeoutMs: 1 })), {});
		assert.equal(await user.sees(), open, "the other one has not moved");
		open.answer("done");
		assert.deepEqual(await first, { value: "done" });
		await user.seesNothing();
		assert.deepEqual(await ask(question("confirm", { timeoutMs: 1 })), {}, "also when nobody closes it");
	});

	it("may wait longer than a timer can", async () => {
		const user = new User();
		const answer = answerWith(new Dialogs(), user.context, never)(question("input", { timeoutMs: 1e15 }));
		const open = await user.sees();
		assert.ok((open.dialog?.timeout ?? 0) <= 2 ** 31 - 1);
		open.answer("late");
		assert.deepEqual(await answer, { value: "late" });
	});

	it("wait in a terminal for an editor that pi cannot close; other clients see the next one at once", async () => {
		for (const mode of ["tui", "rpc"] as const) {
			const user = new User(mode);
			const dialogs = new Dialogs();
			const run = new AbortController();
			const edited = answerWith(dialogs, user.context, run.signal)(question("editor"));
			const editor = await user.sees();
			run.abort();
			assert.deepEqual(await edited, {}, "the run does not wait");
			const next = answerWith(dialogs, user.context, never)(question("input", { title: "Next" }));
			if (mode === "tui") assert.equal(await user.sees(), editor);
			editor.answer("too late");
			(await user.sees()).answer("next");
			assert.deepEqual(await next, { value: "next" });
		}
	});
});
