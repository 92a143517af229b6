/**
 * Eight real children under one budget, compared with the bill of the model server.
 *
 * The host holds each turn until the rest of the budget covers it, so a session exceeds its budget by at most one turn
 * of one child, however quickly the answers arrive.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
	call,
	delegate,
	type ModelRequest,
	makeGate,
	newestPi,
	oldestPi,
	onStage,
	pause,
	piVersions,
	runOf,
	type Step,
	say,
	startRpc,
	until,
	usage,
} from "../support/pi.ts";

/** The input tokens that cost this much: the price is 3 dollars per million. */
const tokensFor = (dollars: number) => Math.round((dollars * 1_000_000) / 3);

/** The number of the request in its child, from 0. */
const turnOf = (request: ModelRequest) => request.toolAnswers.length;

interface Shape {
	version: string;
	protocol: "rpc" | "json";
	/** The duration of each answer. */
	takesMs: number;
	/** The dollars of a turn. */
	cost: (turn: number) => number;
}

const even = () => 0.025;
/** A context that grows. */
const growing = (turn: number) => 0.01 + turn * 0.005;
/** A dear turn after each cheap one. */
const mixed = (turn: number) => (turn % 2 === 0 ? 0.01 : 0.06);

const shapes: Shape[] = [
	{ version: newestPi, protocol: "rpc", takesMs: 0, cost: even },
	{ version: newestPi, protocol: "rpc", takesMs: 700, cost: even },
	{ version: newestPi, protocol: "json", takesMs: 0, cost: even },
	{ version: newestPi, protocol: "rpc", takesMs: 0, cost: growing },
	{ version: newestPi, protocol: "rpc", takesMs: 100, cost: mixed },
	{ version: oldestPi, protocol: "rpc", takesMs: 0, cost: even },
	{ version: oldestPi, protocol: "json", takesMs: 0, cost: growing },
];

describe("eight runs under one budget", () => {
	for (const { version, protocol, takesMs, cost } of shapes) {
		const label = `pi ${version}, ${protocol}, ${takesMs} ms a turn, ${cost.name} turns`;

		test(`spend at most one turn of one child more than that: ${label}`, async (t) => {
			let billed = 0;
			let dearest = 0;
			const spend = (request: ModelRequest): Step[] => {
				const dollars = cost(turnOf(request));
				billed += dollars;
				dearest = Math.max(dearest, dollars);
				const looks = call("read", {
					path: "README.md",
					offset: 1 + (turnOf(request) % 2),
					limit: turnOf(request) + 1,
				});
				const answer = [usage({ input: tokensFor(dollars), output: 0 }), say("I look."), looks];
				return takesMs > 0 ? [pause(takesMs), ...answer] : answer;
			};
			// A child whose newest message is the one about its budget goes on regardless.
			await onStage({ version, children: { spend, Nearly: spend } }, async (stage) => {
				stage.configure({ protocol, sessionBudget: { maxCost: 1 }, loop: { stopAfter: 0 } });
				const rpc = startRpc(stage.world);
				await rpc.prompt(delegate(...Array(8).fill({ agent: "explorer", task: "spend it all" })));
				const runs = rpc.log.toolEnds("subagent").map(runOf);
				assert.deepEqual(
					runs.map(({ outcome }) => outcome),
					Array(8).fill("budget"),
				);
				t.diagnostic(`${label}: billed $${billed.toFixed(4)} of $1.0000, the dearest turn $${dearest.toFixed(4)}`);
				assert.ok(billed <= 1 + dearest + 1e-9, `billed $${billed}, the most expensive turn $${dearest}`);
				const counted = runs.reduce((sum, run) => sum + run.usage.cost, 0);
				assert.ok(Math.abs(counted - billed) < 1e-4, `billed $${billed}, counted $${counted}`);
				const spent = runs.map(({ error }) => /reached: \$(\d\.\d{4}) of \$1\.0000/.exec(error ?? "")?.[1]);
				const last = Math.max(...spent.map(Number));
				assert.ok(Math.abs(last - billed) < 1e-4, `billed $${billed}, the errors state ${spent}`);
			});
		});
	}
});

for (const version of piVersions) {
	test(`an answer under way when others reach 80 % is the result: pi ${version}`, async () => {
		const [writing, crossed] = [makeGate(), makeGate()];
		const costs = (dollars: number) => usage({ input: tokensFor(dollars), output: 0 });
		const lookSteps = [costs(0.01), say("I look."), call("read", { path: "README.md" })];
		const children = {
			async report(request: ModelRequest): Promise<Step[]> {
				if (turnOf(request) === 0) return lookSteps;
				writing.open();
				await crossed.opened;
				return [costs(0.01), say("The report is complete.")];
			},
			cross: (request: ModelRequest): Step[] =>
				turnOf(request) === 0 ? lookSteps : [until(writing.opened), costs(0.85), say("Crossed.")],
			Nearly: () => [say("Hello.")],
		};
		await onStage({ version, children }, async (stage) => {
			stage.configure({ protocol: "rpc", sessionBudget: { maxCost: 1 } });
			const rpc = startRpc(stage.world);
			const prompted = rpc.prompt(
				delegate({ agent: "explorer", task: "cross it" }, { agent: "explorer", task: "report it" }),
			);
			await rpc.log.waitFor(({ type }) => type === "tool_execution_end");
			crossed.open();
			await prompted;
			const answers = rpc.log.toolEnds("subagent").map((end) => runOf(end).output);
			assert.deepEqual(answers, ["Crossed.", "The report is complete."]);
			assert.equal(stage.childRequests().length, 4, "no further turn starts");
		});
	});
}
