/** Something that a user can mend: what is missing, and how to get it. */
export class SetupProblem extends Error {
	/**
	 * @param {string} what one sentence
	 * @param {string} how what to do about it; may have several lines
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
 * Runs a script's main function: what a user can mend is printed without a stack, and ends it with exit code 1.
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
