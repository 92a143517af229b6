/** What a readonly child's shell reaches in real pi: not the network where that is off, not pi itself, no secrets. */

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";

import type { SingleResult } from "../../index.js";
import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	onStage,
	piVersions,
	runJson,
	runOf,
	type Stage,
	type StageOptions,
	say,
	textOf,
} from "../support/pi.ts";
import { allows, keepsNamespaces, withoutNamespaces } from "../support/warden.ts";

const cannot = allows("landlock") && allows("tools") ? false : "this machine cannot hold what tools start";

/** Says what a command prints, on one line. */
const told = `told() { name=$1; shift; echo "$name: $( (eval "$*") 2>&1 | head -c 400 | tr '\\n\\000' '  ')"; }`;

/** The command line of a process. */
function commandOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8");
	} catch {
		return "";
	}
}

/** What `told` has said of each. */
function answersIn(text: string): Map<string, string> {
	return new Map([...text.matchAll(/^(\w+): (.*)$/gm)].map(([, name = "", said = ""]) => [name, said.trim()]));
}

interface ShellOptions {
	subagents?: Record<string, unknown>;
	command: (stage: Stage) => string;
	/** A program that starts pi. */
	before?: readonly string[];
}

/** One delegation whose child runs a command, and then says that it did. */
async function shellOf(
	options: StageOptions & ShellOptions,
	look: (answers: Map<string, string>, run: SingleResult, requests: ModelRequest[]) => void,
	prepare: (stage: Stage) => void = () => {},
): Promise<void> {
	const { subagents, command, before = [], ...rest } = options;
	let stage: Stage | undefined;
	const script = ({ toolAnswers }: ModelRequest) => {
		assert.ok(stage);
		return toolAnswers.length === 0 ? [call("bash", { command: command(stage) })] : [say("Done.")];
	};
	await onStage({ ...rest, children: { shell: script } }, async (opened) => {
		stage = opened;
		if (subagents) stage.configure(subagents);
		prepare(stage);
		const { log } = await runJson(stage.world, delegate({ agent: "explorer", task: "shell" }), { before });
		const run = runOf(lastEnd(log));
		assert.deepEqual([run.outcome, run.output], ["completed", "Done."], run.error);
		const requests = stage.childRequests();
		const [answer] = requests.at(-1)?.toolAnswers ?? [];
		look(answersIn(answer?.text ?? ""), run, requests);
	});
}

/** A request to the model server, by two programs. */
const reach = (url: string) => `told curl "curl -s -m 10 -o /dev/null -w '%{http_code}' ${url}; echo \\ \\$?"
told fetch "node -e 'fetch(\\"${url}\\").then((r) => console.log(r.status), (e) => console.log(e.cause?.code))'"`;

/** Work that needs no network, some of it over local sockets. */
const work = `told git 'git status --porcelain; git log --format=%s'
told pipe 'seq 3 | sort -r | head -n 1'
told build 'cd "$TMPDIR" && printf "all:\\n\\techo built\\n" >Makefile && { make -s || sh -c "echo built"; }'
told child 'node -e "require(\\"child_process\\").execFile(\\"echo\\", [\\"spawned\\"], (e, out) => console.log(e ?? out))"'
told made 'touch "$TMPDIR/x" && ls "$TMPDIR/x"'`;

function worked(answers: Map<string, string>): void {
	assert.equal(answers.get("git"), "project: begin");
	assert.equal(answers.get("pipe"), "3");
	assert.match(answers.get("build") ?? "", /built$/);
	assert.equal(answers.get("child"), "spawned");
	assert.match(answers.get("made") ?? "", /\/x$/);
}

for (const version of piVersions) {
	describe(`the shell of a readonly child of pi ${version}`, { skip: cannot }, () => {
		test("reaches no network where that is off, while pi goes on talking to its model", async () => {
			const command = ({ server }: Stage) => `${told}\n${reach(server.baseUrl)}\n${work}`;
			await shellOf({ version, subagents: { sandbox: { network: "off" } }, command }, (answers, run, requests) => {
				assert.match(answers.get("curl") ?? "", /^000 [1-9]/);
				assert.match(answers.get("fetch") ?? "", /^E[A-Z]+$/);
				worked(answers);
				assert.equal(requests.length, 2, "the model was asked again after the shell");
				assert.equal(run.sandbox?.network, "off");
				assert.ok(run.sandbox?.mechanism.includes("tool-sandbox"));
			});
		});

		test("says in its result what the kernel has refused it", async () => {
			const rows: [string, RegExp | undefined][] = [
				[
					"echo new > README.md",
					/^\[A shell command failed with "(?:Read-only file system|Permission denied)": the sandbox/,
				],
				["mkdir made", /^\[A shell command failed with "(?:Read-only file system|Permission denied)": the sandbox/],
				["cat missing", undefined],
				["echo 'Permission denied'", undefined],
			];
			for (const [command, expected] of rows) {
				const script = ({ toolAnswers }: ModelRequest) =>
					toolAnswers.length === 0 ? [call("bash", { command })] : [say("Done.")];
				await onStage({ version, children: { shell: script } }, async (stage) => {
					const { log } = await runJson(stage.world, delegate({ agent: "explorer", task: "shell" }));
					const [said, note] = textOf(lastEnd(log)).split("\n\n");
					assert.equal(said, "Done.");
					if (expected) assert.match(note ?? "", expected, command);
					else assert.equal(note, undefined, command);
				});
			}
		});

		test("reaches it by default, and its work works", async () => {
			const command = ({ server }: Stage) => `${told}\n${reach(server.baseUrl)}\n${work}`;
			await shellOf({ version, command }, (answers, run) => {
				assert.match(answers.get("curl") ?? "", /^[2-5]\d\d 0$/);
				assert.match(answers.get("fetch") ?? "", /^[2-5]\d\d$/);
				worked(answers);
				assert.equal(run.sandbox?.network, "on");
			});
		});

		test("reads no credentials, not pi's memory, environment or descriptors, and none of our files", async () => {
			const tokens = { DEPLOY_TOKEN: "made-up-deploy-value", KEPT_TOKEN: "made-up-kept-value" };
			const env = { ...tokens, PLAIN: "plain", NODE_COMPILE_CACHE: "" };
			const command = () => `${told}
told own_auth 'cat "$PI_CODING_AGENT_DIR/auth.json"'
told own_models 'cat "$PI_CODING_AGENT_DIR/models.json"'
told users_models 'cat "$HOME/.pi/agent/models.json"'
told servers 'cat "$HOME/.pi/agent/mcp.json"'
told servers_by_link 'cat "$PI_CODING_AGENT_DIR/mcp.json"'
told device 'for name in vda sda nvme0n1 kmsg tty0 vcs; do head -c 1 "/dev/$name" >/dev/null && echo opened; done'
told users_auth 'cat "$HOME/.pi/agent/auth.json"'
told ssh 'cat "$HOME/.ssh/id_made_up"'
told store 'ls "$HOME/.pi/agent/subagents"'
told environ 'cat /proc/$PPID/environ'
told mem 'exec 3</proc/$PPID/mem && echo opened'
told fds 'readlink /proc/$PPID/fd/0 && echo opened'
told stdout 'echo forged >/proc/$PPID/fd/1 && echo written'
told variables 'echo "$DEPLOY_TOKEN,$KEPT_TOKEN,$PLAIN"'
told settings 'echo "{}" >"$PI_CODING_AGENT_DIR/settings.json" && echo written'
told options 'echo >"$PI_CODING_AGENT_DIR/shell.options" && echo written'
told compiled 'find "$TMPDIR" -name "*compile-cache*"; echo "$NODE_COMPILE_CACHE$NODE_DISABLE_COMPILE_CACHE"'
told processes 'ls /proc | grep -c "^[0-9]"'
told project 'cat README.md'`;
			const prepare = ({ world }: Stage) => {
				const auth = world.writeAgentDir("auth.json", '{"other":{"type":"api_key","key":"made-up-key-value"}}');
				chmodSync(auth, 0o600);
				world.writeAgentDir("../../.ssh/id_made_up", "made-up-private-key");
				world.writeAgentDir("subagents/auth/nobody.json", "{}");
				world.writeAgentDir(
					"mcp.json",
					'{"mcpServers":{"made-up":{"url":"http://localhost:9","headers":{"X":"made-up-key"}}}}',
				);
			};
			const subagents = { sandbox: { env: ["KEPT_*"] } };
			await shellOf(
				{ version, env, subagents, command },
				(answers, run) => {
					const keys = ["own_auth", "own_models", "users_models", "servers", "servers_by_link"];
					const denied = [...keys, "device", "environ", "mem", "fds", "stdout", "settings", "options"];
					const hidden = ["users_auth", "ssh", "store"];
					for (const name of [...denied, ...(allows("mount-ns") ? hidden : [])]) {
						assert.ok(answers.has(name), name);
						assert.doesNotMatch(answers.get(name) ?? "", /made-up|baseUrl|auth$|runs\.db|opened|written|^\d/, name);
					}
					assert.equal(answers.get("variables"), ",made-up-kept-value,plain");
					assert.equal(answers.get("compiled"), "", "what pi loads late is not where its tools write");
					assert.match(answers.get("project") ?? "", /A project/);
					if (allows("pid-ns")) {
						assert.ok(Number(answers.get("processes")) < 12, answers.get("processes"));
						assert.equal(run.supervision, "warden+pid-ns");
					}
				},
				prepare,
			);
		});

		test("reads nothing hidden where the child has no view of its own, and its work works", async () => {
			const command = () => `${told}\n${work}
told users_auth 'cat "$HOME/.pi/agent/auth.json"'
told ssh 'cat "$HOME/.ssh/id_made_up"'
told store 'cat "$HOME/.pi/agent/subagents/auth/nobody.json"'`;
			const prepare = ({ world }: Stage) => {
				chmodSync(world.writeAgentDir("auth.json", '{"other":{"type":"api_key","key":"made-up-key-value"}}'), 0o600);
				world.writeAgentDir("../../.ssh/id_made_up", "made-up-private-key");
				world.writeAgentDir("subagents/auth/nobody.json", '{"made-up":1}');
			};
			const subagents = { sandbox: { metadata: false } };
			await shellOf(
				{ version, subagents, command },
				(answers, run) => {
					worked(answers);
					for (const name of ["users_auth", "ssh", "store"]) {
						assert.match(answers.get(name) ?? "", /denied$/, name);
					}
					assert.match(run.sandbox?.reason ?? "", /not hidden \(`sandbox\.metadata` is off\)/);
				},
				prepare,
			);
		});

		test("is held where no namespaces can be had, and what it leaves behind is ended", {
			skip: keepsNamespaces(),
		}, async () => {
			const command = () => `${told}\n${work}
told users_auth 'cat "$HOME/.pi/agent/auth.json"'
told own_auth 'cat "$PI_CODING_AGENT_DIR/auth.json"'
told store 'cat "$HOME/.pi/agent/subagents/auth/nobody.json"'
told socket 'node -e "require(\\"net\\").createServer().on(\\"error\\", (e) => console.log(e.code)).listen(process.env.TMPDIR + \\"/s\\", () => console.log(\\"opened\\"))"'
told limit 'prlimit --pid $PPID --nofile=0:0 && echo opened'
told limit_of_warden 'prlimit --pid $(sed -n "s/^PPid:.//p" /proc/$PPID/status) --nofile=0:0 && echo opened'
told environ 'cat /proc/$PPID/environ'
told project 'echo made-up >README.md'
setsid env -i sleep 30171 >/dev/null 2>&1 &`;
			const prepare = ({ world }: Stage) => {
				chmodSync(world.writeAgentDir("auth.json", '{"other":{"type":"api_key","key":"made-up-key-value"}}'), 0o600);
				world.writeAgentDir("subagents/auth/nobody.json", '{"made-up":1}');
			};
			await shellOf(
				{ version, command, before: withoutNamespaces },
				(answers, run) => {
					worked(answers);
					for (const name of [
						"users_auth",
						"own_auth",
						"store",
						"socket",
						"limit",
						"limit_of_warden",
						"environ",
						"project",
					]) {
						assert.match(answers.get(name) ?? "", /denied$|EACCES|not permitted/, name);
					}
					assert.deepEqual(run.sandbox?.mechanism.toSorted(), ["landlock", "seccomp", "tool-sandbox"]);
					assert.match(run.sandbox?.reason ?? "", /namespaces/);
					assert.match(run.supervision ?? "", /^warden(\+cgroup)?$/);
					const left = readdirSync("/proc").filter((pid) => commandOf(pid) === "sleep\x0030171\x00");
					assert.deepEqual(left, []);
				},
				prepare,
			);
		});

		test("is the user's own, and permission extensions and transcripts see the command as it is", async () => {
			const extension = `export default (pi) => {
	pi.on("tool_call", ({ toolName, input }) => {
		if (toolName === "bash" && input.command.includes("forbidden")) return { block: true, reason: "seen<" + input.command + ">" };
	});
};`;
			const command = 'echo "shell: $0"; echo forbidden';
			const settings = { shellPath: "~/bin/own-shell" };
			const children = {
				ask: ({ toolAnswers }: ModelRequest) => {
					if (toolAnswers.length === 0) return [call("bash", { command })];
					if (toolAnswers.length === 1) return [call("bash", { command: 'echo "own: $OWN_SHELL"' })];
					return [say("Done.")];
				},
			};
			await onStage({ version, children, settings }, async (stage) => {
				const { world } = stage;
				const own = world.writeAgentDir("../../bin/own-shell", '#!/bin/sh\nexport OWN_SHELL=yes\nexec /bin/sh "$@"\n');
				chmodSync(own, 0o755);
				world.writeAgentDir("extensions/permissions.ts", extension);
				stage.configure({ inheritExtensions: "all" });
				const { log } = await runJson(world, delegate({ agent: "explorer", task: "ask" }));
				const run = runOf(lastEnd(log));
				assert.equal(run.outcome, "completed", run.error);
				const answers = stage.childRequests().at(-1)?.toolAnswers ?? [];
				assert.match(answers[0]?.text ?? "", /seen<echo "shell: \$0"; echo forbidden>/);
				assert.equal(answers[1]?.text.trim(), "own: yes");
				assert.match(JSON.stringify(run.displayItems), /echo forbidden/);
			});
		});

		test("is none where an extension or the project provides it", async () => {
			const fake = `export default (pi) => pi.registerTool({
	name: "bash", label: "bash", description: "bash", promptSnippet: "bash",
	parameters: { type: "object", properties: {} },
	execute: async () => ({ content: [{ type: "text", text: "ran" }], details: {} }),
});`;
			await onStage({ version }, async (stage) => {
				const { world } = stage;
				world.writeAgentDir("agents/looker.md", "---\nname: looker\nreadonly: true\ntools: read, bash\n---\nLook.\n");
				const ask = async () => {
					const { log } = await runJson(world, delegate({ agent: "looker", task: "say x" }));
					const run = runOf(lastEnd(log));
					assert.equal(run.outcome, "completed", run.error);
					return [stage.childRequests().at(-1)?.toolNames, run.diagnostics?.join() ?? ""] as const;
				};
				const [before] = await ask();
				assert.deepEqual(before, ["read", "bash"]);
				world.write(".pi/settings.json", '{"shellPath":"/bin/sh"}');
				const [byProject, why] = await ask();
				assert.deepEqual(byProject, ["read"]);
				assert.match(why, /`bash` was dropped: the project's settings name another shell/);
				world.write(".pi/settings.json", "{}");
				world.writeAgentDir("extensions/fake.ts", fake);
				const [byExtension, because] = await ask();
				assert.deepEqual(byExtension, ["read"]);
				assert.match(because, /`bash` was dropped: an extension provides it/);
			});
		});
	});
}
