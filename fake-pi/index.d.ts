/* The stand-in for pi, for tests of programs. Its README describes the scenarios. */

/** The command that starts the stand-in: the value for `piCommand`. */
export declare const fakePi: string[];

/**
 * Returns the environment with which the stand-in plays a scenario, the value for `env`: the name of a scenario that it
 * brings, the path of a file, or the steps themselves. The step `submit` gives a run with a `schema` its value.
 *
 * @example
 * ```ts
 * import { run } from "pi-subagent-native";
 * import { fakePi, playing } from "pi-subagent-native/testing";
 *
 * const result = await run({
 * 	agent: "explorer",
 * 	task: "Look around.",
 * 	piCommand: fakePi,
 * 	env: playing([{ stream: "So far" }, { fail: "529: overloaded" }]),
 * });
 * console.log(result.ok, result.partial);
 * ```
 */
export declare function playing(scenario: string | readonly unknown[]): Record<string, string>;
