#!/usr/bin/env node
/**
 * Replays a recording of a run. Supervision, collector, budgets, retries and result are real; a child repeats the
 * recorded output. It needs no model, no key and no network, and executes nothing from the recording. See
 * docs/recordings.md.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { startRun } from "../index.js";
import { linesOf } from "./pipe.mjs";
import { Playback } from "./playback.mjs";
import { readRecording } from "./recording.mjs";

const program = fileURLToPath(new URL("fake-pi.mjs", import.meta.url));

/** The output of a child whose attempt is not in the recording. */
const notRecorded = [{ at: 0, end: "exited", code: 70, stderr: "this attempt is not in the recording\n" }];

/** The time limit of a replay, the same as for a run. */
const longestMs = 7 * 24 * 60 * 60 * 1000;

/**
 * @typedef {object} ReplayOptions
 *
 * @property {number} [speed] the factor of the recorded speed; without it, there are no pauses. Time limits do not
 * change.
 * @property {(update: import("../index.js").ToolResult) => void} [onUpdate] as for `startRun`
 * @property {AbortSignal} [signal] ends the replay
 */

/**
 * Replays a recording, and resolves with the result of the run. Rejects if the file is not a recording. The result is
 * as recorded, except for ids, times, paths, and data about the machine and the tree: sandbox, supervision, resources,
 * changed files, checks. The recording has placeholders instead of secrets, so no secrets are counted.
 *
 * @param {string} path
 * @param {ReplayOptions} [options]
 * @returns {Promise<import("../index.js").ToolResult>}
 */
export async function replay(path, { speed = Number.POSITIVE_INFINITY, onUpdate, signal } = {}) {
	if (!(speed > 0)) throw new RangeError(`speed: expected a number above 0, not ${speed}`);
	const recording = readRecording(path);
	const folder = realpathSync(mkdtempSync(join(tmpdir(), "subagent-replay-")));
	const answers = new Answers(recording);
	const token = randomUUID();
	const left = [...recording.children];
	/** @type {import("../index.js").RunHandle | undefined} */
	let handle;
	const caller = {
		steer: (/** @type {string} */ message) => void handle?.steer(message),
		abort: (/** @type {string | undefined} */ reason) => handle?.abort(reason),
	};
	const end = () => handle?.abort("the replay was aborted");
	const how = { speed, protocol: recording.config.protocol, caller };
	const server = createServer((socket) => {
		socket.on("error", () => socket.destroy());
		serve(socket, token, () => new Playback(left.shift() ?? notRecorded, how)).catch(() => socket.destroy());
	});
	try {
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
		const host = { ask: answers.to, confirm: () => false };
		handle = startRun(optionsOf(recording, folder, `${port}:${token}`), onUpdate, host);
		signal?.addEventListener("abort", end);
		if (signal?.aborted) end();
		return await handle.result();
	} finally {
		signal?.removeEventListener("abort", end);
		server.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

/**
 * Plays to a connection that knows the token.
 *
 * @param {import("node:net").Socket} socket @param {string} token @param {() => Playback} next
 */
async function serve(socket, token, next) {
	const lines = linesOf(socket);
	const first = await lines.next().catch(() => undefined);
	if (first?.value !== JSON.stringify({ token })) socket.destroy();
	else await next().play(socket, lines);
}

/** @param {import("./recording.mjs").Recording} recording @param {string} folder @param {string} address */
function optionsOf({ agent, task, model, pi, config }, folder, address) {
	const { name, readonly, sandboxed, ask, extensionsMayAsk, tools, outputSchema } = agent;
	const agentDir = join(folder, "agent");
	const cwd = join(folder, "project");
	mkdirSync(join(agentDir, "agents"), { recursive: true });
	mkdirSync(cwd);
	const fields = { name, description: "Replayed.", readonly, ask, tools };
	const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
	writeFileSync(join(agentDir, "agents", "replayed.md"), `---\n${lines.join("")}---\nReplayed.\n`);
	return {
		agent: name,
		task,
		cwd,
		agentDir,
		// The retry of a failed run depends on its tools' permissions, and a question counts only if an extension could ask
		// it. There is no extension to load.
		config: { ...config, sandbox: sandboxed ? "auto" : "off", inheritExtensions: extensionsMayAsk ? "all" : "none" },
		piCommand: [process.execPath, program],
		env: {
			FAKE_PI_REPLAY: address,
			FAKE_PI_LIFETIME_MS: String(longestMs),
			...(pi === undefined ? {} : { FAKE_PI_VERSION: pi }),
		},
		...(model === undefined ? {} : { model }),
		...(outputSchema === undefined ? {} : { outputSchema }),
	};
}

/** Answers the questions of a replay with the recorded answers. */
class Answers {
	/** @param {import("./recording.mjs").Recording} recording */
	constructor({ children }) {
		const entries = children.flat();
		const given = new Map(entries.filter(({ answer }) => answer !== undefined).map(({ id, answer }) => [id, answer]));
		const asked = entries.map(({ out }) => out).filter((out) => out?.type === "extension_ui_request");
		/** The questions that have not been asked yet. @type {{ title: string, answer: any }[]} */
		this.left = asked.map(({ id, title }) => ({ title: String(title ?? ""), answer: given.get(id) }));
	}

	/** @param {{ title: string }} question @returns {Promise<import("../index.js").Answer>} */
	to = async ({ title }) => {
		const index = this.left.findIndex((known) => known.title.endsWith(title));
		const [found] = index < 0 ? [] : this.left.splice(index, 1);
		const { confirmed, value } = found?.answer ?? {};
		return { ...(confirmed === undefined ? {} : { confirmed }), ...(value === undefined ? {} : { value }) };
	};
}

async function main() {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: { speed: { type: "string" }, json: { type: "boolean" } },
	});
	const [path] = positionals;
	if (path === undefined) throw new Error("usage: replay.mjs RECORDING [--speed N] [--json]");
	const { speed, json } = values;
	const result = await replay(path, speed === undefined ? {} : { speed: Number(speed) });
	console.log(json ? JSON.stringify(result, undefined, 2) : result.content.map(({ text }) => text).join("\n"));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
	main().catch((error) => {
		console.error(`replay: ${error instanceof Error ? error.message : error}`);
		process.exitCode = 64;
	});
}
