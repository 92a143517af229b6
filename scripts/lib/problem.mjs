/** A problem that a user can fix, with the remedy. */
export class SetupProblem extends Error {
	/**
	 * @param {string} what one sentence
	 *
	 * @param {string} how the remedy; may have several lines
	 */
	constructor(what, how) {
		super(`${what}\n${indent(how)}`);
		this.name = "SetupProblem";
	}
}

/** @param {string} text */
function indent(text) {
	return text
		.split("\n")
		.map((line) => `    ${line}`)
		.join("\n");
}

/**
 * Runs a script's main function. A problem that a user can fix is printed without a stack trace, and the exit code is
 * 1.
 *
 * @param {() => Promise<number | undefined>} main resolves with the exit code
 */
export async function runMain(main) {
	try {
		process.exitCode = (await main()) ?? 0;
	} catch (error) {
		const text = error instanceof SetupProblem ? error.message : error instanceof Error ? error.stack : String(error);
		process.stderr.write(`\n✗ ${text}\n`);
		process.exitCode = 1;
	}
}
