/** Runs the steps of a test run in lanes. The lanes run in parallel, the steps of a lane one after the other. */

/**
 * The outcome of a step; `why` is the reason of a failure.
 *
 * @typedef {{ why?: string, output: Buffer[] }} Outcome
 * @typedef {{ lane: string, name: string }} Step
 * @typedef {import("./table.mjs").Row} Row
 */

/**
 * Runs steps and returns a row for each, in their order. After a failure, no further step starts unless `keepGoing` is
 * set. Steps in other lanes finish, because they clean up what they have started.
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
