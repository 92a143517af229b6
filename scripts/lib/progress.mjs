/** Progress on standard error: one line when a step starts, one with its time when it is done. */

const terminal = process.stderr.isTTY === true;
const color = terminal && !process.env.NO_COLOR;

/** @param {string} text */
export const dim = (text) => (color ? `\x1b[2m${text}\x1b[22m` : text);
/** @param {string} text */
export const green = (text) => (color ? `\x1b[32m${text}\x1b[39m` : text);
/** @param {string} text */
export const red = (text) => (color ? `\x1b[31m${text}\x1b[39m` : text);
/** @param {string} text */
export const bold = (text) => (color ? `\x1b[1m${text}\x1b[22m` : text);

/** @param {number} milliseconds */
export function seconds(milliseconds) {
	return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** @param {string} text */
export function note(text) {
	process.stderr.write(`${text}\n`);
}

/**
 * Runs a step that takes a while and says so.
 *
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(what, work) {
	const started = performance.now();
	process.stderr.write(terminal ? `  … ${what}` : `  … ${what}\n`);
	const clear = terminal ? "\r\x1b[2K" : "";
	try {
		const result = await work();
		process.stderr.write(`${clear}  ${green("✓")} ${what} ${dim(`(${seconds(performance.now() - started)})`)}\n`);
		return result;
	} catch (error) {
		process.stderr.write(`${clear}  ${red("✗")} ${what}\n`);
		throw error;
	}
}
