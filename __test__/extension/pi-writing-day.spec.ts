/** A day of writing in real pi: workers side by side, a check, a conflict, an undo, the end of pi; and nothing is lost. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { announcementsIn, eventually, piVersions, type RpcSession, spawn, startRpc } from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";
import { together, WritingDay, work } from "../support/writing-day.ts";

/** The time limit of a delivery: two seconds for others to join it, and a turn. */
const deliveryLimitMs = 30_000;

/** Spawns a run as soon as pi has reported the earlier ones. */
async function spawnWhenIdle(rpc: RpcSession, ...runs: Parameters<typeof spawn>): Promise<void> {
	const deadline = performance.now() + deliveryLimitMs;
	for (;;) {
		const { data } = await rpc.send({ type: "get_state" });
		if (!(data as { isStreaming: boolean }).isStreaming) break;
		assert.ok(performance.now() < deadline, "pi did not become idle in time");
	}
	await rpc.prompt(spawn(...runs));
}

/** Waits until so many ends stand in the session. */
async function untilDelivered(file: string, count: number): Promise<void> {
	const ids = () => announcementsIn(file).flatMap(({ deliveryIds }) => deliveryIds);
	await eventually(
		() => existsSync(file) && ids().length >= count,
		`the announcements of ${count} runs`,
		deliveryLimitMs,
	);
	assert.deepEqual([ids().length, new Set(ids()).size], [count, count], "each result is delivered once");
}

for (const version of piVersions) {
	test(`a day of writing with pi ${version} loses nothing`, { skip: cannotConfine }, async () => {
		const day = await WritingDay.begin({ version });
		const { stage } = day;
		try {
			const before = day.git("status", "--porcelain");
			let rpc = startRpc(stage.world);
			const { data } = await rpc.send({ type: "get_state" });
			const file = (data as { sessionFile: string }).sessionFile;

			// Three workers side by side, each in a private tree; the check of one is red, then green.
			await spawnWhenIdle(rpc, ...together.map((label) => ({ task: work[label].task, agentId: "worker" })));
			await untilDelivered(file, 3);
			assert.equal(day.branches().length, 3);
			assert.equal(day.git("status", "--porcelain"), before, "no change is in the user's tree");
			assert.equal(day.read("notes.txt"), "mine, not committed\n");
			const red = stage.childRequests().filter(({ userText }) => userText.startsWith("Your work is not done"));
			assert.ok(red.length > 0, "the check failed first");
			assert.match(
				readFileSync(file, "utf8"),
				/[Cc]heck[^\n]{0,200}passed: exit code 0, run 2 times/,
				"the check passed after the repair",
			);
			const parser = day.branchOf("parser: mend");
			assert.equal(day.git("show", `${parser}:parser.txt`), "whole\n");
			assert.deepEqual(day.trees(), [], "the imported trees are removed");

			// Two have changed the same line: the conflict is shown as git shows it, and taken back.
			await rpc.notices(`/subagents apply ${day.runOf("readme: say that it is tested")}`);
			const applied = day.read("README.md");
			assert.equal(applied.split("\n")[0], "# A tested project");
			const conflict = await rpc.notices(`/subagents apply ${day.runOf("readme: say that it is documented")}`);
			assert.match(conflict, /CONFLICT in `README\.md`: both have changed the same lines/);
			assert.match(
				day.read("README.md"),
				/<<<<<<< [\s\S]*A tested project[\s\S]*=======[\s\S]*A documented project[\s\S]*>>>>>>> /,
			);
			assert.match(await rpc.notices("/subagents apply --abort"), /undid the apply/);
			assert.deepEqual([day.read("README.md"), day.read("notes.txt")], [applied, "mine, not committed\n"]);

			// A run in place is undone, except for a person's later changes.
			const readme = day.read("README.md");
			await spawnWhenIdle(rpc, { task: work.tidy.task, agentId: "tidier" });
			await untilDelivered(file, 4);
			assert.equal(day.read("README.md"), "tidied\n");
			stage.world.write("notes.txt", "mine again\n");
			const undone = await rpc.notices("/subagents undo last");
			assert.match(undone, /reverted the changes of [^\n]*: `README\.md`, `added\.txt`/);
			assert.match(undone, /notes\.txt/);
			const state = [day.read("README.md"), existsSync(join(stage.world.cwd, "added.txt")), day.read("notes.txt")];
			assert.deepEqual(state, [readme, false, "mine again\n"]);

			// pi is killed while a worker writes: the worker's changes become its branch, the other runs stay, and its end is
			// delivered once.
			const branches = day.branches();
			await spawnWhenIdle(rpc, { task: work.half.task, agentId: "worker" });
			await day.untilHalfDone();
			rpc.pi.kill("SIGKILL");
			await rpc.pi.finished;
			await stage.world.assertNothingLeft();
			rpc = startRpc(stage.world, { args: ["--session", file] });
			await untilDelivered(file, 5);
			assert.match(readFileSync(file, "utf8"), /Fill half\.txt\.`\\nStatus: unknown/);
			await eventually(() => day.trees().length === 0, "its tree is imported");
			const added = day.branches().find((branch) => !branches.includes(branch)) ?? "";
			assert.deepEqual(day.branches(), [...branches, added].sort());
			assert.equal(day.git("show", `${added}:half.txt`), "what there is so far\n");
			assert.equal(day.git("show", `${added}:loose.txt`), "not committed\n");

			// It continues from its interruption, and ends like any other.
			await rpc.notices("/subagents resume last");
			await untilDelivered(file, 6);
			assert.equal(day.branches().length, 4);
			assert.equal(day.git("show", `${added}:half.txt`), "all of it\n");
			assert.equal(day.git("show", `${added}:loose.txt`), "not committed\n");
			assert.deepEqual(day.trees(), []);
			await rpc.close();
		} finally {
			await day.end();
		}
	});
}
