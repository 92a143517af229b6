/** The demo in plain text: four acts in one real pi. Each claim is checked before it is printed. */

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import {
	type PiEvent,
	packageDir,
	type RpcSession,
	startRpc,
	survivors,
	type ToolEnd,
} from "../../__test__/support/pi.ts";
import type { RunDetails } from "../../native.js";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { bold, dim, green } from "../../scripts/lib/progress.mjs";
import { livePrompts, note, prompts } from "./acts-model.ts";
import { clipped, columns, ProgressLines, wrapped } from "./progress-lines.ts";
import type { Stage } from "./stage.ts";

/** The maximum duration of an act: seconds if scripted, longer with a live model. */
const limitMs = { scripted: 90_000, live: 10 * 60_000 };

/** The time within which processes must have exited after pi was killed. */
const exitLimitMs = 5_000;

/** The number of lines of a result to print. */
const shownLines = 14;

const heading = (title: string) =>
	say(`\n${bold(`── ${title} ${"─".repeat(Math.max(0, columns - 4 - title.length))}`)}`);

function say(text = ""): void {
	process.stdout.write(`${text}\n`);
}

/** Plays the four acts. */
export async function playActs(stage: Stage, live: boolean): Promise<void> {
	const limit = live ? limitMs.live : limitMs.scripted;
	const texts = live ? livePrompts : prompts;
	const model = live ? "your own model, at its usual cost" : "a scripted model";
	say(wrapped(`Real pi, real child processes and the kernel of this machine, with ${model}.`, 0));
	if (!live) say("It takes less than a minute.");
	const pi = new Session(stage, limit);
	// A live model may treat the missing file as an answer, so no run has to fail in that mode.
	heading(live ? "1 of 4: three parallel children" : "1 of 4: three parallel children, and one fails");
	const three = await pi.ask(texts.parallel);
	const failed = three.results.filter(({ outcome }) => outcome !== "completed");
	if (!live && (three.results.length !== 3 || failed.length !== 1)) {
		throw new SetupProblem(
			"One of three tasks should have failed.",
			`${failed.length} of ${three.results.length} did.`,
		);
	}

	heading("2 of 4: in the background, while the conversation continues");
	await background(pi, texts.background);

	heading("3 of 4: a readonly child tries to write");
	await blocked(pi, texts.write);

	heading("4 of 4: pi is killed while a child works");
	if (process.platform === "linux") await killed(pi, stage, texts.kill);
	else say("On Linux no process survives. This is not guaranteed on other systems, so the act is skipped.");
	const more = live ? "" : "\nIn pi's own interface: npm run demo -- --tui    Your own model: -- --live";
	say(dim(`${more}\nWhat to type next: README.md, "Three things to type".`));
}

/** One pi and its printed output. */
class Session {
	readonly rpc: RpcSession;
	readonly #limitMs: number;
	#lines: ProgressLines | undefined;
	#last: RunDetails | undefined;
	#isMuted = false;

	constructor(stage: Stage, limitMs: number) {
		this.#limitMs = limitMs;
		this.rpc = startRpc(stage.place, { args: [...stage.place.extensionArgs], limitMs: limitMs * 4 });
		this.#watch();
	}

	/** Types a prompt and waits until pi has settled. Returns the details of the last call. */
	async ask(prompt: string): Promise<RunDetails> {
		this.#last = undefined;
		this.type(prompt);
		const events = await this.rpc.prompt(prompt, this.#limitMs);
		this.#say(events);
		if (!this.#last) throw new SetupProblem("pi ended its turn without a delegation.", this.explanation());
		return this.#last;
	}

	/** Waits for an event of pi, at most for the duration of an act. */
	async wait(matches: (event: PiEvent) => boolean, from = 0): Promise<PiEvent> {
		return await this.rpc.log.waitFor(matches, this.#limitMs, from);
	}

	/** Stops printing pi's output. Output from before the kill may still arrive later. */
	mute(): void {
		this.#isMuted = true;
	}

	type(prompt: string): void {
		say(`${bold("you")}  ${wrapped(prompt, 5)}`);
	}

	explanation(): string {
		const parts = [this.rpc.pi.stderr.trim(), this.rpc.log.errorMessage, this.rpc.log.answer].filter(Boolean);
		return parts.join("\n") || "Does pi work without this package? Start it and choose a model with /model.";
	}

	/** Prints the texts of pi's model. */
	#say(events: readonly PiEvent[]): void {
		for (const event of events) {
			const text = modelText(event);
			if (text) say(`${bold("pi")}   ${wrapped(text, 5)}`);
		}
	}

	#watch(): void {
		const seen = (event: PiEvent) => {
			if (this.#isMuted) return true;
			if (event.type === "tool_execution_start") {
				const { tasks } = event.args as { tasks?: unknown[] };
				say(`${bold("pi")}   ${event.toolName}${tasks ? `: ${tasks.length} tasks` : ""}`);
				this.#lines = new ProgressLines(say);
			} else if (event.type === "tool_execution_update") {
				const { details } = event.partialResult as { details?: RunDetails };
				if (details) this.#lines?.update(details);
			} else if (event.type === "tool_execution_end") this.#end(event as ToolEnd);
			return false;
		};
		// This matches only once muted, so that it sees every event until then.
		this.rpc.log.waitFor(seen, this.#limitMs * 4).catch(() => undefined);
	}

	#end(end: ToolEnd): void {
		const details = end.result.details as RunDetails | undefined;
		if (details?.results?.length) this.#lines?.end(details);
		if (details) this.#last = details;
		// For several runs, the lines above show how each has ended.
		if ((details?.results?.length ?? 0) > 1) return;
		const lines = textOf(end)
			.split("\n")
			.filter((line) => line.trim() !== "");
		for (const line of lines.slice(0, shownLines)) say(clipped(`     ${line}`));
		if (lines.length > shownLines) say(dim(`     … ${lines.length - shownLines} more lines, which the model reads`));
	}
}

async function background(pi: Session, prompt: string): Promise<void> {
	const from = pi.rpc.log.events.length;
	await pi.ask(prompt);
	// The message is in the session, and starts a turn of its own.
	const isAnnouncement = (event: PiEvent) => announcement(event) !== undefined;
	const text = announcement(await pi.wait(isAnnouncement, from)) ?? "";
	say(green("  ✓ the result has arrived in a separate message:"));
	for (const line of text.split("\n").filter(Boolean).slice(0, shownLines)) say(clipped(`     ${line}`));
	const after = pi.rpc.log.events.findIndex((event, index) => index >= from && isAnnouncement(event));
	const answer = await pi.wait((event) => modelText(event) !== undefined, after);
	say(`${bold("pi")}   ${wrapped(modelText(answer) ?? "", 5)}`);
	await pi.wait(({ type }) => type === "agent_settled", after);
}

async function blocked(pi: Session, prompt: string): Promise<void> {
	const file = join(packageDir, note);
	rmSync(file, { force: true });
	const { results } = await pi.ask(prompt);
	if (existsSync(file)) {
		rmSync(file, { force: true });
		throw new SetupProblem(`The child wrote ${note}.`, "Run `/subagents doctor` to check the sandbox of this machine.");
	}
	say(green(`  ✓ ${note} does not exist. Sandbox of the child:`));
	say(clipped(`     ${results[0]?.sandbox?.mechanism.join(", ") || "no shell on this machine"}`));
}

async function killed(pi: Session, stage: Stage, prompt: string): Promise<void> {
	pi.type(prompt);
	void pi.rpc.send({ type: "prompt", message: prompt }).catch(() => undefined);
	const from = pi.rpc.log.events.length;
	// The task of a live prompt also contains the command, so only the call itself shows that the child runs it.
	const event = await pi.wait(
		(event) => event.type === "tool_execution_end" || callsOf(event).some((call) => call.includes("sleep 300")),
		from,
	);
	const { pid } = pi.rpc.pi;
	const sleeps = () => survivors(stage.mark).filter(({ command }) => command.startsWith("sleep 300"));
	if (event.type === "tool_execution_end" || !(await until(() => sleeps().length >= 2))) {
		say("  The child started no process on this machine, so there is nothing to end.");
		return;
	}
	const before = survivors(stage.mark).filter((one) => one.pid !== pid);
	say(`  ${before.length} processes below pi:`);
	for (const { pid, command } of before) say(dim(clipped(`     ${pid} ${command}`)));
	say(`${bold("you")}  kill -9 ${pid}`);
	pi.mute();
	const at = performance.now();
	process.kill(pid, "SIGKILL");
	const hasEnded = await until(() => survivors(stage.mark).length === 0);
	const remaining = survivors(stage.mark).length;
	if (!hasEnded)
		throw new SetupProblem(
			`${remaining} processes outlived pi.`,
			"On Linux this is a bug. On other systems it is a known limit.",
		);
	say(green(`  ✓ 0 left, ${Math.round(performance.now() - at)} ms later`));
}

/** Returns true if the condition becomes true in time. */
async function until(isTrue: () => boolean): Promise<boolean> {
	for (const deadline = performance.now() + exitLimitMs; performance.now() < deadline; await delay(10)) {
		if (isTrue()) return true;
	}
	return false;
}

/** Returns the tool calls of a child in an update, as JSON. */
function callsOf(event: PiEvent): string[] {
	if (event.type !== "tool_execution_update") return [];
	const { details } = event.partialResult as { details?: RunDetails };
	const items = details?.streaming?.displayItems ?? [];
	return items.filter(({ type }) => type === "toolCall").map((item) => JSON.stringify(item));
}

/** Returns the text of a background run's announcement. */
function announcement(event: PiEvent): string | undefined {
	const message = event.message as { customType?: string; content?: unknown } | undefined;
	if (event.type !== "message_end" || message?.customType !== "subagent-announcement") return undefined;
	return plain(message.content);
}

/** Returns the model's text in a message that has ended, or `undefined` if it only called a tool. */
function modelText(event: PiEvent): string | undefined {
	const message = event.message as { role?: string; content?: unknown } | undefined;
	if (event.type !== "message_end" || message?.role !== "assistant") return undefined;
	return plain(message.content).trim() || undefined;
}

function plain(content: unknown): string {
	if (typeof content === "string") return content;
	const parts = Array.isArray(content) ? (content as { text?: string }[]) : [];
	return parts.map(({ text = "" }) => text).join("");
}

function textOf(end: ToolEnd): string {
	return end.result.content.map(({ text }) => text ?? "").join("\n");
}
