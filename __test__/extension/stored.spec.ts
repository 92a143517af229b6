/** What is read back from a session: what this release and 0.1 have written, and nothing else. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deliveredIn } from "../../extension/background/deliveries.ts";
import { agentsIn, receiptIn, runDetailsIn } from "../../extension/host/details.ts";
import { answer } from "./package-copy.ts";

const run = answer("found").details;
const agents = {
	agents: [{ id: "explorer", description: "Finds code", source: "builtin", readonly: true }],
	defaultAgent: "explorer",
};

const throwing = {
	get() {
		throw new Error("looked at");
	},
};

const kinds = [
	{ kind: "subagent-run", decode: runDetailsIn, sample: run, broken: { mode: "single", results: [{ agent: "a" }] } },
	{ kind: "subagent-receipt", decode: receiptIn, sample: { status: "accepted", runId: "a" }, broken: { status: 1 } },
	{ kind: "subagent-agents", decode: agentsIn, sample: agents, broken: { agents: [{}], defaultAgent: "a" } },
];

for (const { kind, decode, sample, broken } of kinds) {
	describe(kind, () => {
		const { kind: _kind, version: _version, ...bare } = sample as Record<string, unknown>;

		it("is read with its kind and version, and as 0.1 has written it", () => {
			const stamped = { kind, version: 1, ...bare };
			assert.equal(decode(stamped), stamped);
			assert.equal(decode(bare), bare);
			assert.ok(decode({ ...stamped, more: "of a later patch" }));
		});

		it("is nothing of another version, of another kind, or broken", () => {
			const others = [
				...[
					{ ...bare, kind, version: 2 },
					{ ...bare, kind },
					{ ...bare, version: 1 },
					{ ...bare, kind: "x", version: 1 },
				],
				...[broken, { kind, version: 1, ...broken }, undefined, null, "text", 1, [], [bare], new Proxy({}, throwing)],
			];
			for (const other of others) assert.equal(decode(other), undefined);
		});
	});
}

describe("the ids of deliveries", () => {
	it("count in whatever has brought them, so that nothing is delivered twice", () => {
		const entry = (details: unknown) => ({ type: "custom_message", customType: "subagent-announcement", details });
		const entries = [
			entry({ kind: "subagent-announcement", version: 2, deliveryIds: ["newer", 7, null] }),
			entry({ deliveryIds: ["cut"], runs: "…" }),
			...[entry(null), entry({ deliveryIds: "x" }), null as never, { type: "custom_message" }],
		];
		assert.deepEqual([...deliveredIn(entries)], ["newer", "cut"]);
	});
});
