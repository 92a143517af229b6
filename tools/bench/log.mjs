/** Measures the cost of the log while it is off. */

import { step } from "../../scripts/lib/progress.mjs";
import { alternate, median, spread } from "./run.mjs";

/** The maximum cost of an event, in nanoseconds. */
const maxNs = 5;

/** @param {import("./run.mjs").Setting} setting @returns {Promise<import("./table.mjs").Section>} */
export async function log({ programs: { children }, quick }) {
	const { events } = await step("log", () => alternate({ events: [children, "log"] }, quick ? 1 : 5));
	const [ours, theirs] = ["ns", "withoutNs"].map((name) => events.map((/** @type {any} */ one) => one[name]));
	const nanoseconds = (/** @type {number} */ ns) => `${ns.toFixed(2)} ns`;
	const row = {
		what: "an event while the log is off",
		ours: spread(ours, nanoseconds),
		baseline: spread(theirs, nanoseconds),
		target: `≤ ${maxNs} ns more`,
		reached: median(ours) - median(theirs) <= maxNs,
	};
	const about = "A loop with one event of the log in each round. Baseline: the same loop without the event.";
	return { title: "Log", about, rows: [row] };
}
