/** The limits of a sandboxed child's shell in real pi: no network if it is off, no access to pi itself, no secrets. */

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { SingleResult } from "../../native.js";
import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	newestPi,
	onStage,
	piVersions,
	type RpcSession,
	runJson,
	runOf,
	Stage,
	say,
	startRpc,
	type ToolEnd,
	textOf,
	type World,
} from "../support/pi.ts";
import { allows, keepsNamespaces, withoutNamespaces } from "../support/warden.ts";

const cannot = allows("landlock") && allows("tools") ? false : "this machine cannot hold what tools start";

/** Prints the output of a command on one line. */
const reportFunction = `told() { name=$1; shift; echo "$name: $( (eval "$*") 2>&1 | head -c 400 | tr '\\n\\000' '  ')"; }`;

/** The command line of a process. */
function commandOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8");
	} catch {
		return "";
	}
}

/** Returns the output of each `told`. */
function answersIn(text: string): Map<string, string> {
	return new Map([...text.matchAll(/^(\w+): (.*)$/gm)].map(([, name = "", output = ""]) => [name, output.trim()]));
}

/** The result of a child that ran commands. */
interface Seen {
	/** The output of its first command. */
	answers: Map<string, string>;
	run: SingleResult;
	end: ToolEnd;
	requests: ModelRequest[];
}

/** Made-up secrets, in the environment and in files, and servers for the host. */
const tokens = { DEPLOY_TOKEN: "made-up-deploy-value", KEPT_TOKEN: "made-up-kept-value" };
const servers = '{"mcpServers":{"made-up":{"url":"http://localhost:9","headers":{"X":"made-up-key"}}}}';

function hideSecrets(world: World): void {
	chmodSync(world.writeAgentDir("auth.json", '{"other":{"type":"api_key","key":"made-up-key-value"}}'), 0o600);
	world.writeAgentDir("../../.ssh/id_made_up", "made-up-private-key");
	world.writeAgentDir("subagents/auth/nobody.json", '{"made-up":1}');
	world.writeAgentDir("mcp.json", servers);
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
		// Settings count from the next call on, so one pi does for all that needs no pi of its own.
		let stage: Stage;
		let rpc: RpcSession;
		let commands: readonly string[];
		/** Decided without pi, or denied by the same means as without namespaces. */
		const once = { skip: version !== newestPi && "one pi is as good as another" };
		before(async () => {
			const shell = ({ toolAnswers }: ModelRequest) => {
				const command = commands[toolAnswers.length];
				return command === undefined ? [say("Done.")] : [call("bash", { command })];
			};
			const env = { ...tokens, PLAIN: "plain", NODE_COMPILE_CACHE: "" };
			stage = await Stage.open({ version, env, children: { shell } });
			hideSecrets(stage.world);
			rpc = startRpc(stage.world);
		});
		after(() => stage.close());

		/** One delegation, of a pi of its own or of the one for all, whose child runs these commands and says that it did. */
		async function shellOf(
			script: readonly string[],
			subagents: Record<string, unknown> = {},
			program?: readonly string[],
		): Promise<Seen> {
			commands = script;
			stage.configure(subagents);
			const from = stage.server.requests.length;
			const prompt = delegate({ agent: "explorer", task: "shell" });
			if (!program) await rpc.prompt(prompt);
			const log = program ? (await runJson(stage.world, prompt, { before: program })).log : rpc.log;
			const end = lastEnd(log);
			const run = runOf(end);
			assert.deepEqual([run.outcome, run.output], ["completed", "Done."], run.error);
			const requests = stage.childRequests(from);
			return { answers: answersIn(requests.at(-1)?.toolAnswers[0]?.text ?? ""), run, end, requests };
		}

		/** Loaded extensions count from the next session on. */
		const renew = () => rpc.send({ type: "new_session" });

		test("reaches no network if it is off, while pi still reaches its model", async () => {
			const command = `${reportFunction}\n${reach(stage.server.baseUrl)}\n${work}`;
			const { answers, run, requests } = await shellOf([command], { sandbox: { network: "off" } });
			assert.match(answers.get("curl") ?? "", /^000 [1-9]/);
			assert.match(answers.get("fetch") ?? "", /^E[A-Z]+$/);
			worked(answers);
			assert.equal(requests.length, 2, "the model was asked again after the shell");
			assert.equal(run.sandbox?.network, "off");
			assert.ok(run.sandbox?.mechanism.includes("tool-sandbox"));
		});

		test("reports in its result what the kernel has refused", async () => {
			const refused = /^\[A shell command failed with "(?:Read-only file system|Permission denied)": the sandbox/;
			const rows: [string[], RegExp | undefined][] = [
				[["echo new > README.md"], refused],
				[["mkdir made"], refused],
				// One of them is reported only together with the other.
				[["cat missing", "echo 'Permission denied'"], undefined],
			];
			for (const [script, expected] of rows) {
				const { end, requests } = await shellOf(script);
				assert.equal(requests.at(-1)?.toolAnswers.length, script.length);
				const [output, note] = textOf(end).split("\n\n");
				assert.equal(output, "Done.");
				if (expected) assert.match(note ?? "", expected, script.join());
				else assert.equal(note, undefined, script.join());
			}
		});

		test("reaches it by default, and its own work works", async () => {
			const { answers, run } = await shellOf([`${reportFunction}\n${reach(stage.server.baseUrl)}\n${work}`]);
			assert.match(answers.get("curl") ?? "", /^[2-5]\d\d 0$/);
			assert.match(answers.get("fetch") ?? "", /^[2-5]\d\d$/);
			worked(answers);
			assert.equal(run.sandbox?.network, "on");
		});

		test("reads no credentials, not pi's memory, environment or descriptors, and none of our files", async () => {
			const command = `${reportFunction}
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
			const { answers, run } = await shellOf([command], { sandbox: { env: ["KEPT_*"] } });
			const keys = ["own_auth", "own_models", "users_models", "servers", "servers_by_link"];
			const denied = [...keys, "device", "environ", "mem", "fds", "stdout", "settings", "options"];
			const hidden = ["users_auth", "ssh", "store"];
			for (const name of [...denied, ...(allows("mount-ns") ? hidden : [])]) {
				assert.ok(answers.has(name), name);
				assert.doesNotMatch(answers.get(name) ?? "", /made-up|baseUrl|auth$|runs\.db|opened|written|^\d/, name);
			}
			assert.equal(answers.get("variables"), ",made-up-kept-value,plain");
			assert.equal(answers.get("compiled"), "", "the code that pi loads later is not writable for tools");
			assert.match(answers.get("project") ?? "", /A project/);
			if (allows("pid-ns")) {
				assert.ok(Number(answers.get("processes")) < 12, answers.get("processes"));
				assert.equal(run.supervision, "warden+pid-ns");
			}
		});

		test("reads nothing hidden without a private view, and its own work works", once, async () => {
			const command = `${reportFunction}\n${work}
told users_auth 'cat "$HOME/.pi/agent/auth.json"'
told ssh 'cat "$HOME/.ssh/id_made_up"'
told store 'cat "$HOME/.pi/agent/subagents/auth/nobody.json"'`;
			const { answers, run } = await shellOf([command], { sandbox: { metadata: false } });
			worked(answers);
			for (const name of ["users_auth", "ssh", "store"]) {
				assert.match(answers.get(name) ?? "", /denied$/, name);
			}
			assert.match(run.sandbox?.reason ?? "", /not hidden \(`sandbox\.metadata` is off\)/);
		});

		test("is sandboxed without namespaces, and its remaining processes are ended", {
			skip: keepsNamespaces(),
		}, async () => {
			const command = `${reportFunction}\n${work}
told users_auth 'cat "$HOME/.pi/agent/auth.json"'
told own_auth 'cat "$PI_CODING_AGENT_DIR/auth.json"'
told store 'cat "$HOME/.pi/agent/subagents/auth/nobody.json"'
told socket 'node -e "require(\\"net\\").createServer().on(\\"error\\", (e) => console.log(e.code)).listen(process.env.TMPDIR + \\"/s\\", () => console.log(\\"opened\\"))"'
told limit 'prlimit --pid $PPID --nofile=0:0 && echo opened'
told limit_of_warden 'prlimit --pid $(sed -n "s/^PPid:.//p" /proc/$PPID/status) --nofile=0:0 && echo opened'
told environ 'cat /proc/$PPID/environ'
told project 'echo made-up >README.md'
setsid env -i sleep 30171 >/dev/null 2>&1 &`;
			const { answers, run } = await shellOf([command], {}, withoutNamespaces);
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
			const remaining = readdirSync("/proc").filter((pid) => commandOf(pid) === "sleep\x0030171\x00");
			assert.deepEqual(remaining, []);
		});

		test("is the user's own, and permission extensions and transcripts see the command as it is", async () => {
			const extension = `export default (pi) => {
	pi.on("tool_call", ({ toolName, input }) => {
		if (toolName === "bash" && input.command.includes("forbidden")) return { block: true, reason: "seen<" + input.command + ">" };
	});
};`;
			const { world } = stage;
			const settings = join(world.agentDir, "settings.json");
			const before = readFileSync(settings, "utf8");
			writeFileSync(settings, JSON.stringify({ ...JSON.parse(before), shellPath: "~/bin/own-shell" }));
			const own = world.writeAgentDir("../../bin/own-shell", '#!/bin/sh\nexport OWN_SHELL=yes\nexec /bin/sh "$@"\n');
			chmodSync(own, 0o755);
			const permissions = world.writeAgentDir("extensions/permissions.ts", extension);
			try {
				await renew();
				const script = ['echo "shell: $0"; echo forbidden', 'echo "own: $OWN_SHELL"'];
				const { run, requests } = await shellOf(script, { inheritExtensions: "all" });
				const answers = requests.at(-1)?.toolAnswers ?? [];
				assert.match(answers[0]?.text ?? "", /seen<echo "shell: \$0"; echo forbidden>/);
				assert.equal(answers[1]?.text.trim(), "own: yes");
				assert.match(JSON.stringify(run.displayItems), /echo forbidden/);
			} finally {
				writeFileSync(settings, before);
				rmSync(permissions);
				await renew();
			}
		});

		/** Returns the tools of a child that would have a shell, and the notice about them. */
		async function ask(): Promise<[tools: string[] | undefined, why: string]> {
			stage.configure({});
			stage.world.writeAgentDir(
				"agents/looker.md",
				"---\nname: looker\nreadonly: true\ntools: read, bash\n---\nLook.\n",
			);
			await rpc.prompt(delegate({ agent: "looker", task: "say x" }));
			const run = runOf(lastEnd(rpc.log));
			assert.equal(run.outcome, "completed", run.error);
			return [stage.childRequests().at(-1)?.toolNames, run.diagnostics?.join() ?? ""];
		}

		test("does not exist if the project provides it", once, async () => {
			const [before] = await ask();
			assert.deepEqual(before, ["read", "bash"]);
			const settings = stage.world.write(".pi/settings.json", '{"shellPath":"/bin/sh"}');
			const [byProject, why] = await ask();
			writeFileSync(settings, "{}");
			assert.deepEqual(byProject, ["read"]);
			assert.match(why, /`bash` was dropped: the project's settings name another shell/);
		});

		test("does not exist if an extension provides it", async () => {
			const fake = `export default (pi) => pi.registerTool({
	name: "bash", label: "bash", description: "bash", promptSnippet: "bash",
	parameters: { type: "object", properties: {} },
	execute: async () => ({ content: [{ type: "text", text: "ran" }], details: {} }),
});`;
			const file = stage.world.writeAgentDir("extensions/fake.ts", fake);
			try {
				await renew();
				const [byExtension, because] = await ask();
				assert.deepEqual(byExtension, ["read"]);
				assert.match(because, /`bash` was dropped: an extension provides it/);
			} finally {
				rmSync(file);
				await renew();
			}
		});
	});

	for (const metadata of [true, false]) {
		const view = metadata ? "" : ", without a private view";
		test(`a writing child of pi ${version} cannot loosen the sandbox of its shell${view}`, {
			skip: cannot || (!metadata && version !== newestPi && "one pi is as good as another"),
		}, async () => {
			const key = { scripted: { type: "api_key", key: '!touch "$TMPDIR/ran"; echo scripted-key' } };
			const open = "shell\0/bin/bash\0network\0on\0unix-sockets\0on\0";
			let directory = "";
			const probe = `${reportFunction}
told curl "curl -s -m 10 -o /dev/null -w '%{http_code}' $URL; echo \\ \\$?"
told own_auth 'cat "$PI_CODING_AGENT_DIR/auth.json"'
told variable 'echo "$DEPLOY_TOKEN"'
told ran 'ls "$TMPDIR"'
told directory 'echo "$PI_CODING_AGENT_DIR"'
ln -sfn "$PI_CODING_AGENT_DIR" out; ln -sf "$PI_CODING_AGENT_DIR/bin/rg" rg`;
			const attempts = (): [name: string, input: Record<string, unknown>][] => [
				["write", { path: `${directory}/shell.options`, content: open }],
				["write", { path: `${directory}/shell/shell.options`, content: open }],
				["write", { path: `${directory}/settings.json`, content: '{"shellPath":"/bin/bash"}' }],
				["edit", { path: `${directory}/settings.json`, edits: [{ oldText: '"shellPath"', newText: '"other"' }] }],
				["write", { path: `${directory}/auth.json`, content: JSON.stringify(key) }],
				["write", { path: "out/auth.json", content: JSON.stringify(key) }],
				["write", { path: "@out/models.json", content: "{}" }],
				["write", { path: "rg", content: "#!/bin/sh\ntouch $TMPDIR/ran\n" }],
			];
			const loosen = ({ toolAnswers }: ModelRequest) => {
				const { length } = toolAnswers;
				directory ||= answersIn(toolAnswers[0]?.text ?? "").get("directory") ?? "";
				const attempt = attempts()[length - 1];
				if (length === 0 || length === attempts().length + 1) return [call("bash", { command: probe })];
				return [attempt ? call(...attempt) : say("Done.")];
			};
			await onStage({ version, env: tokens, children: { loosen } }, async (stage) => {
				hideSecrets(stage.world);
				stage.world.writeAgentDir(
					"agents/writer.md",
					"---\nname: writer\ntools: read, write, edit, bash\nisolation: none\n---\nWrite.\n",
				);
				const sandbox = { mode: metadata ? "required" : "auto", metadata, network: "off" };
				stage.configure({ allowWrite: true, sandbox, env: { URL: stage.server.baseUrl } });
				const { log } = await runJson(stage.world, delegate({ agent: "writer", task: "loosen" }));
				const run = runOf(lastEnd(log));
				assert.deepEqual([run.outcome, run.output], ["completed", "Done."], run.error);
				const answers = stage.childRequests().at(-1)?.toolAnswers ?? [];
				assert.equal(answers.length, attempts().length + 2);
				for (const { text } of answers.slice(1, -1)) assert.match(text, /is in pi's agent directory/);
				for (const probed of [answers[0], answers.at(-1)]) {
					const told = answersIn(probed?.text ?? "");
					assert.match(told.get("curl") ?? "", /^000 [1-9]/, probed?.text);
					assert.match(told.get("own_auth") ?? "", /denied$/);
					assert.deepEqual([told.get("variable"), /\bran\b/.test(told.get("ran") ?? "")], ["", false]);
				}
			});
		});
	}
}
