/** Stored data of a session: the formats of this release and of 0.1, and nothing else. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deliveryEntries } from "../../extension/background/deliveries.ts";
import { loadAddon } from "../../extension/host/native.ts";
import { asJson } from "../../extension/host/stored.ts";
import { announcementOf } from "./announcement-double.ts";
import { backgroundRun, deliveredEventOf } from "./package-copy.ts";

const { native } = loadAddon();
assert.ok(native);
const palette = new native.Palette("{}");

const message = {
	...{ deliveryIds: ["d1"], runIds: ["a"], text: "ended", triggerTurn: true },
	runs: [backgroundRun("a", { state: "ended", status: "success" })],
	deliveredEvent: deliveredEventOf(["d1"]),
};
const report = { isError: false, title: "Runs", lines: [{ mark: "ok" as const, text: "a" }], text: "Runs\n\n✓ a" };

const throwing = {
	get() {
		throw new Error("looked at");
	},
};

const kinds = [
	{
		kind: "subagent-announcement",
		draw: (value: unknown) => native.drawAnnouncement(palette, 80, asJson(value), true),
		sample: announcementOf(message).details,
		broken: { deliveryIds: ["d1"], runIds: ["a"], runs: [{ runId: "a" }] },
	},
	{
		kind: "subagents-report",
		draw: (value: unknown) => native.drawReport(palette, 80, asJson(value)),
		sample: report,
		broken: { title: "t", lines: [{}], text: "" },
	},
];

for (const { kind, draw, sample, broken } of kinds) {
	describe(kind, () => {
		const { kind: _kind, version: _version, ...bare } = sample as Record<string, unknown>;

		it("is drawn with its kind and version, and in the format of 0.1", () => {
			const stamped = { kind, version: 1, ...bare };
			assert.ok(draw(stamped));
			assert.ok(draw(bare));
			assert.ok(draw({ ...stamped, more: "of a later patch" }));
		});

		it("ignores data of another version, of another kind, or broken data", () => {
			const others = [
				...[
					{ ...bare, kind, version: 2 },
					{ ...bare, kind },
					{ ...bare, version: 1 },
					{ ...bare, kind: "x", version: 1 },
				],
				...[broken, { kind, version: 1, ...broken }, undefined, null, "text", 1, [], [bare], new Proxy({}, throwing)],
			];
			for (const other of others) assert.equal(draw(other), null, asJson(other));
		});
	});
}

describe("the ids of deliveries", () => {
	it("count in every message with them, so that nothing is delivered twice", () => {
		const entry = (details: unknown) => ({ type: "custom_message", customType: "subagent-announcement", details });
		const entries = [
			entry({ kind: "subagent-announcement", version: 2, deliveryIds: ["newer", 7, null] }),
			entry({ deliveryIds: ["cut"], runs: "…" }),
			...[entry(null), entry({ deliveryIds: "x" }), null as never, { type: "custom_message" }],
		];
		assert.deepEqual(native?.deliveredIn(deliveryEntries(entries)), ["newer", "cut"]);
	});
});
