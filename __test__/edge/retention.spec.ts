/** The files of background runs: archived after delivery, removed when they need too much space. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { type BackgroundSession, openBackground, type RunRecord, spawnSession } from "../../native.js";
import { host } from "./host.ts";
import { patienceMs, type Scene } from "./scene.ts";
import { playing } from "./stand-in.ts";

/** A conversation with its runs. */
class Conversation {
	readonly scene: Scene;
	readonly options;

	constructor(test: TestContext) {
		this.scene = playing(test, [{ say: "Done: {task}" }], { config: { protocol: "rpc" } });
		const { agent: _, task: __, ...around } = this.scene.options;
		const sessionFile = this.scene.write("sessions/conversation.jsonl", "");
		this.options = { ...around, sessionId: "conversation", parentSessionFile: sessionFile };
	}

	open(): BackgroundSession {
		const session = openBackground({ ...this.options, delivered: [] }, ({ deliveries }) => {
			if (deliveries) session.delivered(deliveries.deliveryIds);
		});
		return session;
	}

	async spawn(change: { cleanup?: string } = {}): Promise<void> {
		const { status, error } = await spawnSession({ ...this.options, task: "look", ...change });
		assert.equal(status, "accepted", error);
	}

	/** Waits until the runs, oldest first, are as they should be. */
	async until(session: BackgroundSession, fits: (runs: RunRecord[]) => boolean): Promise<RunRecord[]> {
		const deadline = performance.now() + patienceMs;
		for (;;) {
			const runs = (await session.runs()).reverse();
			if (fits(runs)) return runs;
			assert.ok(performance.now() < deadline, JSON.stringify(runs));
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
	}
}

const hasEnded = ({ state }: RunRecord) => state === "ended";
const namesIn = (folder = "") => readdirSync(folder).sort();

describe("the files of background runs", () => {
	it("are archived on request once the end was delivered, and otherwise stay", async (t) => {
		const conversation = new Conversation(t);
		const session = conversation.open();
		await conversation.spawn();
		await conversation.spawn({ cleanup: "delete" });
		const [kept, archived] = await conversation.until(
			session,
			(runs) => runs.every(hasEnded) && runs.some(({ transcript }) => transcript?.includes(".deleted.")),
		);
		assert.equal(kept?.archivedMs, undefined);
		assert.deepEqual(namesIn(kept?.directory), ["session.jsonl"]);
		assert.ok(archived?.archivedMs && existsSync(archived.transcript ?? ""), "the record names an existing file");
		const [name = "", ...others] = namesIn(archived?.directory);
		assert.match(name, /^session\.jsonl\.deleted\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
		assert.deepEqual(others, []);
		assert.match(readFileSync(join(archived?.directory ?? "", name), "utf8"), /Done: look/);
		await session.close();
	});

	it("are removed beyond the quota, oldest first, and no other files are", async (t) => {
		const conversation = new Conversation(t);
		const session = conversation.open();
		for (let count = 1; count <= 3; count++) {
			await conversation.spawn();
			await conversation.until(session, (runs) => runs.length === count && runs.every(hasEnded));
		}
		const runs = await conversation.until(session, () => true);
		const folders = runs.map(({ directory = "" }) => directory);
		await session.settled();
		await session.close();
		// The directory of the oldest run was replaced by another folder.
		const foreign = join(conversation.scene.root, "project");
		writeFileSync(join(foreign, "session.jsonl"), "x".repeat(100_000));
		change(conversation.scene, runs[0]?.key, foreign);
		const bytes = (folder = "") => statSync(join(folder, "session.jsonl")).blocks * 512;
		const quotaBytes = bytes(folders[2]) + 10;
		// In the next pi: room is looked for when it starts, and then rarely.
		const options = { ...conversation.options, config: { ...conversation.options.config, quotaBytes } };
		const { stdout } = await host({ options }, "quota.mjs");
		const remaining = (JSON.parse(stdout) as RunRecord[]).reverse();
		assert.deepEqual(
			folders.map((folder) => existsSync(folder)),
			[true, false, true],
		);
		assert.deepEqual(namesIn(foreign), [".git", "session.jsonl"]);
		const [, removed, newest] = remaining;
		assert.ok(removed?.archivedMs, "the record of a removed run remains");
		assert.equal(removed.transcript, undefined);
		assert.equal(newest?.directory, folders[2]);
	});
});

/** Sets another directory for a run in the store, and marks all ends as delivered more than an hour ago. */
function change(scene: Scene, key: string | undefined, directory: string): void {
	// From a process of its own: closing the file in this one would let go of the locks that the store has on it.
	const script = `const database = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
		database.exec("UPDATE delivery SET delivered_ms = delivered_ms - 3700000");
		database.prepare("UPDATE run SET directory = ? WHERE key = ?").run(process.argv[3], process.argv[2]);`;
	const words = [join(scene.agentDir, "subagents/runs.db"), key ?? "", directory];
	execFileSync(process.execPath, ["--no-warnings", "-e", script, ...words]);
}
