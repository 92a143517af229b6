/** Background runs of a program, and the messages with their results. */

import type { BackgroundRun, RunRecord, Session, SessionMessage, SessionOptions, SessionResult } from "../index.js";
import * as native from "../native.js";
import { checkSession, checkSpawn } from "./options.ts";
import { jsonSchemaOf } from "./schema.ts";
import { backgroundRun, hostOf, placeOf } from "./task.ts";

/** Opens a session, and receives what it has missed. */
export function openSession(options: SessionOptions): Session {
	checkSession(options);
	return new ProgramSession(options);
}

class ProgramSession implements Session {
	readonly #place: native.SurfaceOptions;
	readonly #host: native.HostCallbacks;
	readonly #native: native.BackgroundSession;

	constructor(options: SessionOptions) {
		const { id, onMessage, onNotice = (notice: string) => process.emitWarning(notice, "SubagentWarning") } = options;
		this.#place = { ...placeOf(options), sessionId: id };
		this.#host = hostOf(options, () => {});
		this.#native = native.openBackground({ ...this.#place, delivered: [] }, async ({ deliveries, notices = [] }) => {
			for (const notice of notices) onNotice(notice);
			// Without a receiver the messages wait for the next opening with one.
			if (!deliveries || !onMessage) return;
			await onMessage(messageOf(deliveries));
			await this.#native.delivered(deliveries.deliveryIds);
		});
	}

	async spawn(options: Parameters<Session["spawn"]>[0]): Promise<BackgroundRun> {
		checkSpawn(options);
		const { agent, task, label, model, thinking, timeoutMs, schema } = options;
		const outputSchema = schema && jsonSchemaOf(schema);
		const receipt = await native.spawnSession(
			{
				...this.#place,
				agent: agent as string,
				task,
				...(label !== undefined && { label }),
				...(model !== undefined && { childModel: model }),
				...(thinking !== undefined && { childThinking: thinking }),
				...(timeoutMs !== undefined && { runTimeoutSeconds: timeoutMs / 1_000 }),
				...(outputSchema && { outputSchema }),
			},
			this.#host,
		);
		return backgroundRun(receipt);
	}

	async list(): Promise<RunRecord[]> {
		return await this.#native.runs();
	}

	async history(run: string, options: { entries?: number; tools?: boolean } = {}): Promise<native.TranscriptEntry[]> {
		const runs = await this.list();
		const found = runs.find(({ runId, sessionKey, label }) => [runId, sessionKey, label].includes(run));
		if (!found) throw new Error(`the session has no run ${JSON.stringify(run)}`);
		return (await this.#native.transcript(found.key, options)).entries;
	}

	async send(run: string, message: string): Promise<BackgroundRun> {
		return backgroundRun(await this.#native.continueRun(run, message, this.#host));
	}

	async stop(run?: string): Promise<void> {
		if (run === undefined) {
			await this.#native.stopAll();
			return;
		}
		const { isError, content } = await this.#native.useTool("sessions_stop", { sessionKey: run }).result();
		if (isError) throw new Error(JSON.parse(content[0]?.text ?? "{}").error);
	}

	async settled(timeoutMs?: number): Promise<void> {
		await this.#native.settled(timeoutMs);
	}

	async close(): Promise<void> {
		await this.#native.close();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}
}

function messageOf({ deliveryIds, runs, questions }: native.DeliveryMessage): SessionMessage {
	return {
		id: deliveryIds.join(" "),
		results: runs.map(resultOf),
		questions: questions.map(({ runId, agent, question, options }) => ({ runId, agent, question, options })),
	};
}

function resultOf(run: RunRecord): SessionResult {
	const ok = run.status === "success";
	const text = run.result ?? run.partial ?? "";
	return {
		runId: run.runId,
		run,
		ok,
		text,
		...(run.structured !== undefined && { data: run.structured }),
		...(run.error !== undefined && { error: run.error }),
	};
}
