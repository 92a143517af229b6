/** Runs the steps of a test run in lanes: side by side, each lane one step after the other. */

/**
 * What comes of a step; `why` is there when it failed.
 *
 * @typedef {{ why?: string, output: Buffer[] }} Outcome
 * @typedef {{ lane: string, name: string }} Step
 * @typedef {import("./table.mjs").Row} Row
 */

/**
 * Runs steps and returns a row for each, in their order. After a failure no step starts that has not started, unless
 * `keepGoing`; those that run in other lanes come to their end, because what they started ends with them.
 *
 * @template {Step} S
 * @param {S[]} steps
 * @param {object} how
 * @param {boolean} how.keepGoing
 * @param {(step: S) => Promise<Outcome>} how.run must not reject
 * @param {(step: S) => void} how.started
 * @param {(row: Row, output: Buffer[]) => void} how.ended
 * @returns {Promise<Row[]>}
 */
export async function runLanes(steps, { keepGoing, run, started, ended }) {
	/** @type {Row[]} */
	const rows = steps.map(({ name }) => ({ name, state: "not run" }));
	let failed = false;
	/** @param {string} lane */
	const runLane = async (lane) => {
		for (const [index, step] of steps.entries()) {
			if (step.lane !== lane) continue;
			if (failed && !keepGoing) return;
			started(step);
			const began = performance.now();
			const { why, output } = await run(step);
			failed ||= why !== undefined;
			/** @type {Row} */
			const row = { name: step.name, ms: performance.now() - began, state: "passed" };
			rows[index] = why === undefined ? row : { ...row, state: "failed", why };
			ended(rows[index], output);
		}
	};
	await Promise.all([...new Set(steps.map(({ lane }) => lane))].map(runLane));
	return rows;
}
