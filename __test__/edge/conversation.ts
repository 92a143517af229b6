/** Conversations whose runs go on in the background: in this process, or in one of its own that can be killed. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import {
	type BackgroundEvent,
	type BackgroundOptions,
	type BackgroundSession,
	type CommandReport,
	type DeliveryMessage,
	endBackground,
	type HostCallbacks,
	openBackground,
	type RunOptions,
	type RunRecord,
	type SpawnOptions,
	type SpawnReceipt,
	spawnSession,
} from "../../native.js";
import { markVariable } from "../support/survivors.ts";
import type { Scenario } from "./fault.ts";
import { inTime, type Scene, until } from "./scene.ts";
import { playing } from "./stand-in.ts";

export type Spawn = Partial<SpawnOptions>;
type Open = Partial<BackgroundOptions>;

/** The request that the fake pi gets when its work is done. */
const asksToAnnounce = "^Your work on the task is done";

/** Has each child asked for its announcement. */
const asks = { announce: { mode: "ask" } };

/** A scenario of a child that does this, and then announces that. */
export const announces = (work: unknown[], announcement: unknown[]): unknown[] => [
	{ when: asksToAnnounce, do: announcement, else: work },
];

/** A child that says its task and announces it. */
export const repeats = announces([{ say: "You said: {task}" }], [{ say: "It was: done." }]);

/** A child that has begun an answer and says no more. */
export const stalls = [{ stream: "so far" }, "hang"];

/** The environment in which a child plays this. */
export const plays = (scenario: unknown[]): Record<string, string> => ({ FAKE_PI_SCENARIO: JSON.stringify(scenario) });

/** The promises that must settle before a scene can be closed. */
const endings = new WeakMap<Scene, (() => Promise<unknown>)[]>();

/** A scene whose conversation has an id. */
export function backgroundScene(
	test: TestContext,
	scenario: Scenario = repeats,
	change: Partial<RunOptions> = {},
): Scene {
	const ends: (() => Promise<unknown>)[] = [];
	// Registered first, because the scene checks for leftovers when it closes.
	test.after(() => Promise.all(ends.map((end) => end())));
	const scene = playing(test, scenario, { sessionId: "one", ...change });
	endings.set(scene, ends);
	return scene;
}

/** A conversation's events and actions. */
export abstract class Conversation {
	readonly events: BackgroundEvent[] = [];
	private taken = 0;

	abstract spawn(change?: Spawn, host?: HostCallbacks): Promise<SpawnReceipt>;
	abstract command(line: string): Promise<CommandReport>;
	abstract runs(all?: boolean): Promise<RunRecord[]>;
	abstract delivered(ids: string[]): Promise<boolean>;
	abstract settled(timeoutMs?: number): Promise<boolean>;
	abstract close(): Promise<void>;
	/** Ends the conversation as pi does when it exits. */
	abstract end(): Promise<string | undefined>;

	/** The messages so far. */
	get messages(): DeliveryMessage[] {
		return this.events.flatMap(({ deliveries }) => (deliveries ? [deliveries] : []));
	}

	get notices(): string[] {
		return this.events.flatMap(({ notices }) => notices ?? []);
	}

	/** Starts a run that must be accepted. */
	async started(change: Spawn = {}, host?: HostCallbacks): Promise<SpawnReceipt & { runId: string }> {
		const receipt = await inTime(this.spawn(change, host), "the receipt");
		assert.equal(receipt.status, "accepted", receipt.error);
		return { ...receipt, runId: receipt.runId ?? "" };
	}

	/** Returns the next unread message and marks it as delivered. */
	async receive(): Promise<DeliveryMessage> {
		const message = await this.message();
		await this.delivered(message.deliveryIds);
		return message;
	}

	/** Returns the next message without a confirmation to its sender. */
	async message(): Promise<DeliveryMessage> {
		await until(() => this.messages.length > this.taken, `message ${this.taken + 1}`);
		return this.messages[this.taken++] ?? assert.fail("the conversation got no message");
	}

	/** Waits until a run is as it should be, and returns it. */
	async run(runId: string, fits: (run: RunRecord) => boolean = () => true): Promise<RunRecord> {
		let run: RunRecord | undefined;
		let isPolling = false;
		const poll = async () => {
			isPolling = true;
			const found = (await this.runs(true)).find((each) => each.runId === runId);
			if (found && fits(found)) run = found;
			isPolling = false;
		};
		await until(() => {
			if (!isPolling && !run) void poll();
			return run !== undefined;
		}, `the expected state of run ${runId}`);
		return run ?? assert.fail(runId);
	}

	/** Waits until the child of a run has said something. */
	async speaking(runId: string): Promise<RunRecord> {
		return await this.run(runId, ({ state, text, transcript }) => state === "running" && !!text && !!transcript);
	}

	/** Carries out a command that must succeed. */
	async execute(line: string): Promise<CommandReport> {
		const report = await inTime(this.command(line), line);
		assert.equal(report.isError, false, report.text);
		return report;
	}
}

/** A conversation in this process. */
export class Here extends Conversation {
	readonly session: BackgroundSession;
	readonly options: RunOptions;
	/** The listener's handler for an event, after it was recorded. */
	onEvent: (event: BackgroundEvent) => void | Promise<void> = () => {};

	private constructor(options: RunOptions, open: Open) {
		super();
		this.options = options;
		this.session = openBackground({ ...options, delivered: [], ...open }, (event) => {
			this.events.push(event);
			return this.onEvent(event);
		});
	}

	/** Opens it until the test is over. */
	static open(scene: Scene, open: Open = {}): Here {
		// Of processes that outlive this one, too.
		process.env[markVariable] = scene.mark;
		const here = new Here({ ...scene.options, ...open }, open);
		endings.get(scene)?.push(async () => {
			await here.session.stopAll();
			await here.close();
		});
		return here;
	}

	spawn(change: Spawn = {}, host?: HostCallbacks) {
		const env = { ...this.options.env, ...change.env };
		const config = { ...asks, ...this.options.config, ...change.config };
		return spawnSession({ ...this.options, ...change, env, config }, host);
	}

	command(line: string) {
		return this.session.command(line);
	}

	runs(all?: boolean) {
		return this.session.runs(all);
	}

	delivered(ids: string[]) {
		return this.session.delivered(ids);
	}

	settled(timeoutMs?: number) {
		return this.session.settled(timeoutMs);
	}

	close() {
		return this.session.close();
	}

	end() {
		return endBackground();
	}
}

/** A conversation in a process of its own. */
export class OtherProcess extends Conversation {
	readonly gone: Promise<NodeJS.Signals | number | null>;
	private readonly child: ChildProcess;
	private readonly answers = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
	private asked = 0;
	private stderr = "";
	private readonly options: RunOptions;

	private constructor(options: RunOptions, before: string[]) {
		super();
		this.options = options;
		const script = fileURLToPath(new URL("hosts/conversation.mjs", import.meta.url));
		const [program = "", ...args] = [...before, process.execPath, script, JSON.stringify(options)];
		const env = { ...process.env, [markVariable]: options.env?.[markVariable] };
		this.child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env });
		this.child.stderr?.on("data", (chunk) => (this.stderr += chunk));
		this.child.stdin?.on("error", () => undefined);
		this.gone = new Promise((resolve) => this.child.once("exit", (code, signal) => resolve(signal ?? code)));
		void this.gone.then((how) => {
			for (const { reject } of this.answers.values()) reject(new Error(`the host has ended (${how}): ${this.stderr}`));
		});
		if (this.child.stdout) createInterface({ input: this.child.stdout }).on("line", (line) => this.handleLine(line));
	}

	/** Opens it until the test is over. */
	static open(scene: Scene, open: Open = {}, before: string[] = []): OtherProcess {
		const conversation = new OtherProcess({ ...scene.options, ...open }, before);
		endings.get(scene)?.push(() => conversation.kill());
		void conversation.call("open", open).catch(() => undefined);
		return conversation;
	}

	private handleLine(line: string): void {
		const { id, event, value, error } = JSON.parse(line);
		if (event) this.events.push(event);
		const answer = this.answers.get(id);
		this.answers.delete(id);
		if (error) answer?.reject(new Error(error));
		else answer?.resolve(value);
	}

	private call<T>(deed: string, ...args: unknown[]): Promise<T> {
		const id = ++this.asked;
		const answer = new Promise((resolve, reject) => this.answers.set(id, { resolve, reject }));
		this.child.stdin?.write(`${JSON.stringify({ id, deed, args })}\n`);
		return answer as Promise<T>;
	}

	/** Kills it: it can do nothing about it. */
	async kill(): Promise<void> {
		this.child.kill("SIGKILL");
		await this.gone;
	}

	/** Fills the disk that a file is on, as it sees it. */
	fill(path: string): Promise<void> {
		return this.call("fill", path);
	}

	/** It leaves by `process.exit`, without a word to the addon. */
	async exit(): Promise<void> {
		void this.call("exit").catch(() => undefined);
		await this.gone;
	}

	spawn(change: Spawn = {}) {
		const env = { ...this.options.env, ...change.env };
		const config = { ...asks, ...this.options.config, ...change.config };
		return this.call<SpawnReceipt>("spawn", { ...change, env, config });
	}

	/** Makes a call and hands it over. */
	handOver(task: string) {
		return this.call<SpawnReceipt[]>("handOver", task);
	}

	command(line: string) {
		return this.call<CommandReport>("command", line);
	}

	runs(all?: boolean) {
		return this.call<RunRecord[]>("runs", all);
	}

	delivered(ids: string[]) {
		return this.call<boolean>("delivered", ids);
	}

	settled(timeoutMs?: number) {
		return this.call<boolean>("settled", timeoutMs);
	}

	close() {
		return this.call<void>("close");
	}

	end() {
		return this.call<string | undefined>("end");
	}
}

/** Returns the files in the directory of a run. */
export function filesOf({ directory }: RunRecord): string[] {
	return directory && existsSync(directory) ? readdirSync(directory).sort() : [];
}

/** Returns the lines of a message about a run, without its usage. */
export function linesOf({ text }: DeliveryMessage): string[] {
	return text.split("\n").filter((line) => !line.startsWith("runtime "));
}

/** The archived transcripts of a run. */
export function archivedOf({ transcript = "" }: RunRecord): string[] {
	const folder = join(transcript, "..");
	// The record names the file as it is called now.
	const [name = ""] = transcript.slice(transcript.lastIndexOf("/") + 1).split(".deleted.");
	return existsSync(folder) ? readdirSync(folder).filter((each) => each.startsWith(`${name}.deleted.`)) : [];
}
