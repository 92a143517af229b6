/** The stand-in for pi, for tests of programs: `pi-subagent-native/testing`. */

const { join } = require("node:path");

/** The command that starts the stand-in: the value for `piCommand`. */
exports.fakePi = [process.execPath, join(__dirname, "fake-pi.mjs")];

/**
 * Returns the environment with which the stand-in plays a scenario: the value for `env`.
 *
 * @param {string | readonly unknown[]} scenario
 */
exports.playing = (scenario) => ({
	FAKE_PI_SCENARIO: typeof scenario === "string" ? scenario : JSON.stringify(scenario),
});
