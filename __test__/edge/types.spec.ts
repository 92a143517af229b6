/** The values that only the edge builds have the declared fields. `tests/types.rs` compares the other values. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

import { describeTools, discoverAgents, doctor, loadConfig, prepareArguments, type Question } from "../../native.js";
import { declaredIn } from "../support/declarations.ts";
import { Scene } from "./scene.ts";
import { playing } from "./stand-in.ts";

const { declarations } = declaredIn(readFileSync(new URL("../../native.d.ts", import.meta.url), "utf8"));

/** Asserts that the values together have all fields of an interface except `others`, and that each has the required ones. */
function compare(name: string, values: readonly unknown[], others: readonly string[] = []): void {
	const { members } = declarations.get(name) ?? assert.fail(`${name} is not declared`);
	const keys = values.map((value) => Object.keys(value as object));
	const declared = members.map((member) => member.name.replace("?", ""));
	assert.deepEqual([...new Set([...keys.flat(), ...others])].sort(), declared.sort(), `all fields of ${name}`);
	const required = members.flatMap((member) => (member.name.endsWith("?") ? [] : [member.name]));
	for (const found of keys) {
		const missing = required.filter((field) => !found.includes(field));
		assert.deepEqual(missing, [], `the fields of ${name} that are always there`);
	}
}

it("the surfaces have the declared fields", async (t) => {
	const scene = new Scene(t, "");
	const place = { cwd: scene.project, agentDir: scene.agentDir };
	const surfaces = await describeTools(place);
	const bare = { injectDelegationPolicy: false, background: { key: "none" } };
	compare("ToolSurfaces", [surfaces, await describeTools({ ...place, config: bare })]);
	compare("ToolSurface", surfaces.tools);
	compare("ScriptToolSurface", [surfaces.scriptTool]);
	compare(
		"ToolAnnotations",
		surfaces.tools.flatMap(({ annotations }) => annotations ?? []),
	);
	const sent = ['{"agent":"explorer","task":"Look."}', "{}"];
	compare(
		"PreparedArguments",
		sent.map((json) => prepareArguments("subagent", json)),
	);
	compare("AgentCatalog", [await discoverAgents(place)]);
	compare("DoctorReport", [await doctor({ ...place, config: { piCommand: [scene.path("none")] } })]);
	const loaded = await loadConfig(place);
	scene.write("agent/subagents.json", "{");
	compare("LoadedConfig", [loaded, await loadConfig(place)]);
});

it("the requests to a host have the declared fields", async (t) => {
	const requests: Record<string, unknown[]> = {};
	const note =
		<Reply>(name: string, reply: Reply) =>
		(request: object): Reply => {
			requests[name] = [...(requests[name] ?? []), request];
			return reply;
		};
	const steps = [
		{ ask: "select", title: "Which?", options: ["one"] },
		{ ask: "confirm", title: "Go on?", message: "It takes long." },
		{ ask: "input", title: "Name?", placeholder: "a name" },
		{ ask: "editor", title: "Text?", prefill: "first" },
		{ say: "Done." },
	];
	const scene = playing(t, steps, { agent: "local" });
	scene.write("project/.pi/agents/local.md", "---\nname: local\nreadonly: true\nmodel: other/m2\n---\nLook.");
	const result = await scene.run({}, undefined, {
		confirm: note("ConfirmRequest", true),
		model: note("ModelRequest", { model: "fake/m1", hasLogin: true }),
		ask: note("Question", { value: "one" }),
	});
	assert.equal(result.details.error, undefined);
	const { Question: questions = [], ...others } = requests;
	assert.deepEqual(Object.keys(others), ["ModelRequest", "ConfirmRequest"]);
	for (const [name, values] of Object.entries(others)) compare(name, values);
	// A run in the background has these two.
	compare("Question", questions, ["label", "forConversation"]);
	compare(
		"Choice",
		(questions as Question[]).flatMap(({ choices }) => choices),
	);
});
