/** Background runs of a program, and the messages with their results. */

import { AsyncLocalStorage } from "node:async_hooks";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { submittedBy } from "../extension/host/submission.ts";
import type { BackgroundRun, RunRecord, Session, SessionMessage, SessionOptions, SessionResult } from "../index.js";
import * as native from "../native.js";
import { checkHistory, checkMessage, checkRunName, checkSession, checkSpawn, checkWait } from "./options.ts";
import { forProgram } from "./result.ts";
import { jsonSchemaOf } from "./schema.ts";
import { backgroundListeners, backgroundRun, guarded, hostOf, placeOf, warn } from "./task.ts";

/** Opens a session, and receives what it has missed. */
export function openSession(options: SessionOptions): Session {
	checkSession(options);
	return new ProgramSession(options);
}

/** The open sessions: each one's agent directory and id. The engine has one receiver for both. */
const open = new Set<string>();

/** Returns the name of a session in `open`. */
function nameOf(id: string, { agentDir, env }: native.SurfaceOptions): string {
	const { PI_CODING_AGENT_DIR: configured } = { ...process.env, ...env };
	return JSON.stringify([resolve(agentDir ?? (configured || join(homedir(), ".pi", "agent"))), id]);
}

/** The message that `onMessage` receives now. */
const receiving = new AsyncLocalStorage<{ session: Session; isReceiving: boolean }>();

/** The longest wait of a timer, in milliseconds: 24 days. */
const unlimitedMs = 2 ** 31 - 1;

class ProgramSession implements Session {
	readonly #id: string;
	readonly #name: string;
	readonly #onMessage: SessionOptions["onMessage"];
	readonly #onNotice: (notice: string) => void;
	readonly #place: native.SurfaceOptions;
	readonly #host: native.HostCallbacks;
	readonly #native: native.BackgroundSession;
	#isClosed = false;
	#closing: Promise<void> | undefined;
	/** The last failure of `onMessage`, until it has received a message. */
	#failure: string | undefined;
	/** True while `onMessage` has a message and has not returned. */
	#isReceiving = false;
	/** The number of runs that this process has started. */
	#started = 0;
	#isHolding = false;

	constructor(options: SessionOptions) {
		const { id, onMessage, onNotice = warn } = options;
		this.#id = id;
		this.#place = { ...placeOf(options), sessionId: id };
		this.#name = nameOf(id, this.#place);
		if (open.has(this.#name)) {
			throw new Error(
				`the session ${JSON.stringify(id)} is open in this process: share the object that \`openSession\` returned, ` +
					"or await its `close()` first",
			);
		}
		this.#onMessage = onMessage;
		this.#onNotice = (notice) =>
			guarded(
				() => onNotice(notice),
				(error) =>
					warn(`onNotice of session ${JSON.stringify(id)} has failed: ${String(error)}; it was given: ${notice}`),
			);
		this.#host = hostOf(options, () => {}, this.#onNotice);
		this.#native = native.openBackground({ ...this.#place, delivered: [] }, async ({ deliveries, notices = [] }) => {
			for (const notice of notices) this.#onNotice(notice);
			// Without a receiver the messages wait for the next opening with one.
			if (deliveries && onMessage) await this.#receive(deliveries, onMessage);
		});
		open.add(this.#name);
		backgroundListeners.add(this.#onBackground);
	}

	/** Gives a message to the program. The engine delivers it again after a failure. */
	async #receive(
		deliveries: native.DeliveryMessage,
		onMessage: NonNullable<SessionOptions["onMessage"]>,
	): Promise<void> {
		const state = { session: this, isReceiving: true };
		try {
			const message = await messageOf(deliveries, this.#onNotice);
			this.#isReceiving = true;
			await receiving.run(state, async () => await onMessage(message));
			this.#failure = undefined;
		} catch (error) {
			this.#failure = String(error);
			this.#onNotice(
				`onMessage of session ${JSON.stringify(this.#id)} has failed, and gets the message again: ${this.#failure}`,
			);
			throw error;
		} finally {
			state.isReceiving = false;
			this.#isReceiving = false;
		}
		await this.#native.delivered(deliveries.deliveryIds);
	}

	readonly #onBackground = (sessionId: string): void => {
		if (sessionId === this.#id) void this.#hold();
	};

	/** Keeps the process alive until the runs of this process have ended and `onMessage` has received their results. */
	async #hold(): Promise<void> {
		this.#started += 1;
		if (!this.#onMessage || this.#isHolding) return;
		this.#isHolding = true;
		for (let started = 0; started !== this.#started; ) {
			started = this.#started;
			// A pending promise of the engine keeps the process alive.
			await this.#native.settled(unlimitedMs).catch(() => false);
		}
		this.#isHolding = false;
	}

	spawn(options: Parameters<Session["spawn"]>[0]): Promise<BackgroundRun> {
		checkSpawn(options);
		return this.#spawn(options);
	}

	async #spawn(options: Parameters<Session["spawn"]>[0]): Promise<BackgroundRun> {
		this.#checkOpen();
		const { agent, task, label, model, thinking, timeoutMs, schema } = options;
		const outputSchema = schema && jsonSchemaOf(schema);
		const receipt = await native.spawnSession(
			{
				...this.#place,
				agent,
				task,
				...(label !== undefined && { label }),
				...(model !== undefined && { childModel: model }),
				...(thinking !== undefined && { childThinking: thinking }),
				...(timeoutMs !== undefined && { runTimeoutSeconds: timeoutMs / 1_000 }),
				...(outputSchema && { outputSchema }),
			},
			this.#host,
		);
		const run = backgroundRun(receipt);
		void this.#hold();
		return run;
	}

	async list(): Promise<RunRecord[]> {
		this.#checkOpen();
		return await this.#native.runs();
	}

	history(run: string, options: { entries?: number; tools?: boolean } = {}): Promise<native.TranscriptEntry[]> {
		checkRunName(run);
		checkHistory(options);
		return this.#history(run, options);
	}

	async #history(run: string, options: { entries?: number; tools?: boolean }): Promise<native.TranscriptEntry[]> {
		const found = await this.#find(run);
		if (!found) throw unknownRun(run);
		return (await this.#native.transcript(found.key, options)).entries;
	}

	send(run: string, message: string): Promise<BackgroundRun> {
		checkRunName(run);
		checkMessage(message);
		return this.#orUnknown(run, async () => {
			const continued = backgroundRun(await this.#native.continueRun(run, message, this.#host));
			void this.#hold();
			return continued;
		});
	}

	stop(run?: string): Promise<void> {
		if (run !== undefined) checkRunName(run);
		return this.#stop(run);
	}

	async #stop(run: string | undefined): Promise<void> {
		if (run === undefined) {
			this.#checkOpen();
			await this.#native.stopAll();
			return;
		}
		await this.#orUnknown(run, async () => {
			const { isError, content } = await this.#native.useTool("sessions_stop", { sessionKey: run }).result();
			if (isError) throw new Error(JSON.parse(content[0]?.text ?? "{}").error);
		});
	}

	/** Returns the run with this id, session key or label. */
	async #find(run: string): Promise<RunRecord | undefined> {
		const runs = await this.list();
		return runs.find(({ runId, sessionKey, label }) => [runId, sessionKey, label].includes(run));
	}

	/** Calls the engine, which has more words for an unknown run than a program needs. */
	async #orUnknown<T>(run: string, call: () => Promise<T>): Promise<T> {
		this.#checkOpen();
		try {
			return await call();
		} catch (error) {
			throw (await this.#find(run)) ? error : unknownRun(run);
		}
	}

	#checkOpen(): void {
		if (this.#isClosed) throw new Error("the session is closed; open it again with `openSession`");
	}

	settled(timeoutMs?: number): Promise<void> {
		checkWait(timeoutMs);
		return this.#settled(timeoutMs);
	}

	async #settled(timeoutMs?: number): Promise<void> {
		this.#checkOpen();
		const message = receiving.getStore();
		if (message?.session === this && message.isReceiving) {
			throw new Error(
				"`settled` would wait for the message that `onMessage` receives now: call it outside of `onMessage`",
			);
		}
		if (await this.#received(timeoutMs)) return;
		const failed = this.#failure && `onMessage has failed: ${this.#failure}`;
		const why = this.#isClosed
			? "the session was closed"
			: (failed ?? (this.#isReceiving ? "onMessage has not returned" : undefined));
		throw new Error(`not every result was received${why ? `: ${why}` : " in time"}`);
	}

	/** Returns false if `onMessage` has not received every result, and at the limit if it has not returned. */
	async #received(timeoutMs: number | undefined): Promise<boolean> {
		const settled = this.#native.settled(timeoutMs);
		if (timeoutMs === undefined) return await settled;
		let timer: NodeJS.Timeout | undefined;
		const stuck = new Promise<boolean>((resolve) => {
			timer = setTimeout(() => this.#isReceiving && resolve(false), timeoutMs);
		});
		try {
			return await Promise.race([settled, stuck]);
		} finally {
			clearTimeout(timer);
		}
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		backgroundListeners.delete(this.#onBackground);
		this.#closing ??= this.#native.close().finally(() => open.delete(this.#name));
		await this.#closing;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}
}

const unknownRun = (run: string) =>
	new Error(`the session has no run ${JSON.stringify(run)}; expected a run's id, its session key or its label`);

async function messageOf(
	{ deliveryIds, runs, questions }: native.DeliveryMessage,
	onNotice: (notice: string) => void,
): Promise<SessionMessage> {
	return {
		id: deliveryIds.join(" "),
		results: await Promise.all(runs.map((run) => resultOf(run, onNotice))),
		questions: questions.map(({ runId, agent, question, options }) => ({ runId, agent, question, options })),
	};
}

async function resultOf(run: RunRecord, onNotice: (notice: string) => void): Promise<SessionResult> {
	const ok = run.status === "success";
	const text = run.result ?? run.partial ?? "";
	// Without its file the message would come again and again.
	const data = await submittedBy(run).catch(({ message }: Error) =>
		onNotice(`the submitted value of run ${run.runId} cannot be read: ${message}`),
	);
	return {
		runId: run.runId,
		run,
		ok,
		text,
		...(data !== undefined && { data }),
		...(run.error !== undefined && { error: forProgram(run.error) }),
	};
}
