/**
 * Shows progress on standard error: a line when a step starts, with a clock on a terminal, and a line with its duration
 * when it is done.
 */

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
 * Runs a step and shows its progress.
 *
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(what, work) {
	const started = performance.now();
	const clear = terminal ? "\r\x1b[2K" : "";
	process.stderr.write(terminal ? `  … ${what}` : `  … ${what}\n`);
	const draw = () => process.stderr.write(clear + underWay(what, performance.now() - started, process.stderr.columns));
	const clock = terminal ? setInterval(draw, 1000) : undefined;
	try {
		const result = await work();
		process.stderr.write(`${clear}  ${green("✓")} ${what} ${dim(`(${seconds(performance.now() - started)})`)}\n`);
		return result;
	} catch (error) {
		process.stderr.write(`${clear}  ${red("✗")} ${what}\n`);
		throw error;
	} finally {
		clearInterval(clock);
	}
}

/**
 * Returns the progress of a step on one line. A line that wraps could not be overwritten.
 *
 * @param {string} what
 * @param {number} milliseconds
 * @param {number} columns
 */
export function underWay(what, milliseconds, columns) {
	const time = ` ${Math.floor(milliseconds / 1000)} s`;
	const room = columns - time.length - 1;
	const text = `  … ${what}`;
	return (text.length <= room ? text : `${text.slice(0, Math.max(room - 1, 0))}…`) + time;
}
