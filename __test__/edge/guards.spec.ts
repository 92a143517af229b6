/** The sandbox of a child, and the notices about a weaker one. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";

import { doctor } from "../../native.js";
import { allows, sandboxOf, warden } from "../support/warden.ts";
import { answers, Scene, shape, single, textOf } from "./scene.ts";

const LINUX = { skip: process.platform !== "linux" && "the warden is for Linux" };

/** A child that tries to write outside its project and reports the results. */
const tries = `
cd "$PI_CODING_AGENT_DIR/.." 2>/dev/null
can() { if ( : > "$1" ) 2>/dev/null; then printf '%s ' "$2"; fi; }
begin
said "$(can "$here/outside" outside; can "$TMPDIR/x" temporary; can "$PI_CODING_AGENT_DIR/x" agent; can x run)" stop
settled`;

/** Broken wardens, and the notice about each. */
function broken(scene: Scene): Record<string, [path: string, says: RegExp]> {
	const script = (name: string, text: string) => {
		const path = scene.write(name, text);
		execFileSync("chmod", ["+x", path]);
		return path;
	};
	return {
		missing: [scene.path("nowhere"), /nowhere.*does not exist/],
		"not executable": [scene.write("plain", "#!/bin/sh\n"), /plain.*may not be executed/],
		"something else": [script("other", "#!/bin/sh\necho hello\n"), /other.*not a working warden/],
		"one that fails": [script("fails", "#!/bin/sh\necho no luck >&2; exit 1\n"), /fails.*no luck/],
		"of another version": [script("old", "#!/bin/sh\necho warden 0.0.1\n"), /old.*version 0\.0\.1.*install/],
	};
}

describe("a warden that is unavailable", LINUX, () => {
	it("is an error in doctor and a lower level for a run, never a crash", async (t) => {
		const scene = new Scene(t, answers);
		for (const [name, [path, says]] of Object.entries(broken(scene))) {
			const env = { PI_SUBAGENT_WARDEN: path };
			const piCommand = scene.pi("version.sh", "echo 1.6.0");
			const { cwd, agentDir } = scene.options;
			const { ok, checks } = await doctor({ cwd, env, piCommand, ...(agentDir && { agentDir }) });
			const [supervision] = checks.filter(({ area }) => area === "supervision");
			assert.deepEqual([ok, supervision?.status], [false, "error"], name);
			assert.match(supervision?.message ?? "", says, name);
			assert.match(supervision?.message ?? "", /^process-group: /, name);
			const result = await scene.run({ env: { ...scene.options.env, ...env }, config: { sandbox: "auto" } });
			const { supervision: level, sandbox, resources, diagnostics } = single(result);
			assert.deepEqual([shape(result)[2], level, resources], ["completed", "process-group", undefined], name);
			assert.equal(sandbox?.enforced, false, name);
			assert.match(sandbox?.reason ?? "", says, name);
			assert.ok(
				diagnostics?.some((text) => text.includes("`bash` was dropped")),
				name,
			);
		}
	});

	it("prevents the start of a run that requires a sandbox, and names the inactive limits", async (t) => {
		const scene = new Scene(t, answers, { env: { PI_SUBAGENT_WARDEN: "" } });
		const refused = await scene.run({ config: { sandbox: "required" } });
		assert.match(single(refused).error ?? "", /^the required sandbox is unavailable: .*warden/);
		assert.equal(scene.wasStarted, false);
		const limited = await scene.run({ config: { limits: { processes: 3 }, pidNamespace: true } });
		const notes = single(limited).diagnostics?.join("\n") ?? "";
		assert.match(notes, /`limits` are not enforced: .*\n?.*`pidNamespace` is not active/s);
	});
});

describe("a machine without free descriptors during the probe", LINUX, () => {
	/** The warden, which has too few descriptors the first times that it is asked. */
	const short = (scene: Scene, times: number) => {
		const counted = `echo >> "$0.asked"; test $(wc -l < "$0.asked") -gt ${times} || ulimit -n 5`;
		const path = scene.write("short", `#!/bin/sh\nif test "$1" = --probe; then ${counted}; fi\nexec ${warden} "$@"\n`);
		execFileSync("chmod", ["+x", path]);
		return { ...scene.options.env, PI_SUBAGENT_WARDEN: path };
	};

	it("is probed again, and nothing is weaker afterwards", async (t) => {
		const scene = new Scene(t, answers);
		const env = short(scene, 2);
		for (let run = 0; run < 2; run += 1) {
			const result = await scene.run({ env, config: { sandbox: "auto" } });
			const { sandbox, outcome } = single(result);
			assert.equal(outcome, "completed", textOf(result));
			// Without Landlock there is no sandbox.
			const layers = allows("landlock") ? (["landlock", "mount-ns"] as const) : [];
			const expected = layers.filter((layer) => allows(layer));
			assert.deepEqual(
				sandbox?.mechanism.filter((layer) => /landlock|mount-ns/.test(layer)),
				expected,
			);
		}
		assert.equal(scene.read("short.asked").length, 3, "the probe runs until it succeeds, and then no more");
	});

	it("fails a run while it lasts, and the next run works", async (t) => {
		const scene = new Scene(t, answers);
		// Each run asks seven times.
		const env = short(scene, 7);
		const failed = await scene.run({ env, config: { sandbox: "auto" } });
		assert.deepEqual(shape(failed), ["SUBAGENT_FAILED", 1, "failed", true], textOf(failed));
		assert.match(single(failed).error ?? "", /^warden: this machine cannot be probed now: .*`ulimit -n`/);
		assert.equal(scene.wasStarted, false);
		const result = await scene.run({ env, config: { sandbox: "auto" } });
		assert.deepEqual([single(result).outcome, single(result).sandbox?.enforced], ["completed", allows("landlock")]);
	});
});

describe("a warden that hangs", LINUX, () => {
	it("fails the run at the start with its name, and leaves nothing", async (t) => {
		const scene = new Scene(t, answers);
		const path = scene.write("hangs", `#!/bin/sh\ntest "$1" = --probe && exec ${warden} --probe\nexec sleep 60\n`);
		execFileSync("chmod", ["+x", path]);
		const result = await scene.run({ env: { ...scene.options.env, PI_SUBAGENT_WARDEN: path } });
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true], textOf(result));
		assert.match(single(result).error ?? "", /^warden: .*hangs.*reported no start/);
		assert.deepEqual([single(result).supervision, single(result).sandbox?.mechanism], [undefined, []]);
	});

	it("that a process of its tree has stopped is abandoned, and the tree is ended", async (t) => {
		// The parent of an orphan is the warden.
		const stops = `trap "" TERM; sleep 0.2; read _ _ _ warden _ < /proc/$$/stat; kill -STOP $warden; sleep 60`;
		const script = `begin; setsid sh -c '${stops}' > /dev/null 2>&1 & said ok; settled`;
		const result = await new Scene(t, script).run();
		assert.equal(single(result).outcome, "completed", textOf(result));
		// The scene checks for remaining processes when it closes.
	});
});

describe("a child that may not write", { skip: !allows("landlock") && "no Landlock here" }, () => {
	it("writes only its own directories, and the result names the sandbox", async (t) => {
		const scene = new Scene(t, "");
		const piCommand = scene.pi("tries.sh", tries);
		const all = sandboxOf();
		for (const [metadata, mechanism] of [
			[true, all],
			[false, all.filter((name) => name !== "mount-ns")],
		] as const) {
			const result = await scene.run({ piCommand, config: { sandbox: { mode: "required", metadata } } });
			assert.equal(single(result).output?.trim(), "temporary agent", textOf(result));
			assert.deepEqual(single(result).sandbox?.mechanism.toSorted(), mechanism);
			assert.equal(single(result).sandbox?.enforced, true);
			const level = allows("pid-ns") ? "warden+pid-ns" : allows("cgroup") ? "warden+cgroup" : "warden";
			assert.equal(single(result).supervision, level);
		}
		assert.deepEqual([...new Set(scene.remainingFiles())], ["session.jsonl"]);
	});

	it("is sandboxed even if other agents may write", async (t) => {
		const scene = new Scene(t, "");
		const piCommand = scene.pi("tries.sh", tries);
		for (const sandbox of ["auto", "required"]) {
			const result = await scene.run({ piCommand, config: { sandbox, allowWrite: true } });
			assert.equal(single(result).sandbox?.enforced, true, sandbox);
			assert.equal(single(result).output?.trim(), "temporary agent", sandbox);
		}
	});

	it("runs unsandboxed if it may write everywhere, and its result says so", async (t) => {
		const scene = new Scene(t, "");
		scene.write("agent/agents/writer.md", "---\nname: writer\ntools: bash\n---\nWrite.");
		const piCommand = scene.pi("tries.sh", tries);
		const config = { sandbox: "auto", allowWrite: "all" };
		const result = await scene.run({ agent: "writer", piCommand, config });
		assert.match(single(result).output ?? "", /outside/);
		assert.deepEqual([single(result).sandbox?.enforced, single(result).sandbox?.mechanism], [false, []]);
		assert.match(single(result).sandbox?.reason ?? "", /may write/);
	});
});

describe("the resources of a tree", LINUX, () => {
	it("do not fail a run whose work was settled before the limit", async (t) => {
		const many = "i=0; while [ $i -lt 30 ]; do sleep 20 & i=$((i+1)); done; wait";
		const scene = new Scene(t, `begin; said Done.; settled; ${many}`);
		const result = await scene.run({ config: { limits: { processes: 10 } } });
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("appear in every result", async (t) => {
		// Three processes at once; one of them spins for a while.
		const script = `begin; sleep 1 & sleep 1 & i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; wait; said ok; settled`;
		const { resources } = single(await new Scene(t, script).run());
		assert.ok(resources, "the result reports the resources");
		assert.ok(resources.processes >= 3 && resources.processes <= 5, JSON.stringify(resources));
		assert.ok(resources.cpuMs >= 10 && resources.cpuMs < 10_000, JSON.stringify(resources));
		assert.ok(resources.peakRssBytes > 1 << 20 && resources.peakRssBytes < 64 << 20, JSON.stringify(resources));
	});
});

describe("a mount namespace that only the probe gets", { skip: gapless() }, () => {
	/** A warden that never gets one, and is otherwise the real one. */
	function withoutView(scene: Scene): string {
		const path = scene.write(
			"warden.bash",
			`#!/bin/bash
case $0 in */shell) exec -a "$0" '${warden}' "$@" ;; esac
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do [ "$1" = --metadata ] || options+=("$1"); shift; done
exec '${warden}' "\${options[@]}" "$@"
`,
		);
		execFileSync("chmod", ["+x", path]);
		return path;
	}

	/** Shows what a child's shell can read of a hidden file and of a server's socket. */
	const probeScript = (scene: Scene) => `
head -n1 > /dev/null
shell=$(sed -n 's/.*"shellPath": *"\\([^"]*\\)".*/\\1/p' "$PI_CODING_AGENT_DIR/settings.json")
seen=$("$shell" -c '"${process.execPath}" "${scene.path("look.cjs")}"' 2>&1 | tr '\\n' ' ')
begin; said "Seen: $seen" stop; settled`;

	for (const [label, gets] of [
		["is closed by the shell's own sandbox if possible, and reported", false],
		["is not reported if the child gets it", true],
	] as const) {
		it(label, async (t) => {
			const scene = new Scene(t, "");
			scene.write("secrets/key", "made-up-key");
			const read = `require("fs").readFile("${scene.path("secrets/key")}", "utf8", (e, key) => console.log(key ?? "none"))`;
			const connect = 'require("net").connect("/nowhere").on("error", ({ code }) => console.log(code))';
			scene.write("look.cjs", `${read};\n${connect};\n`);
			const env = { ...scene.options.env, ...(gets ? {} : { PI_SUBAGENT_WARDEN: withoutView(scene) }) };
			const sandbox = { mode: "auto", hidden: [scene.path("secrets")] };
			const change = { piCommand: scene.pi("looks.sh", probeScript(scene)), config: { protocol: "rpc", sandbox }, env };
			const result = await scene.run(change);
			const report = single(result).sandbox;
			assert.equal(shape(result)[2], "completed", textOf(result));
			assert.equal(report?.mechanism.includes("mount-ns"), gets);
			assert.match(textOf(result), /^Seen: .*none/);
			if (gets) {
				assert.match(textOf(result), /ENOENT/);
				assert.doesNotMatch(report?.reason ?? "", /mount namespace/);
			} else {
				assert.match(textOf(result), /EPERM|EACCES/);
				assert.match(report?.reason ?? "", /sockets of your programs are not hidden: the mount namespace was refused/);
			}
		});
	}

	it("ends a run that requires it before its task", async (t) => {
		const scene = new Scene(t, "");
		const script = "IFS= read -r line && { begin; said Done.; settled; }";
		const env = { ...scene.options.env, PI_SUBAGENT_WARDEN: withoutView(scene) };
		const config = { protocol: "rpc", sandbox: "required" };
		const result = await scene.run({ piCommand: scene.pi("pi.sh", script), config, env });
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
		assert.match(
			single(result).error ?? "",
			/^the required sandbox is unavailable: .*the mount namespace was refused$/,
		);
	});

	it("hides no extension that the child must load", async (t) => {
		const scene = new Scene(t, answers);
		scene.write("agent/extensions/gate.ts", "export default () => {};");
		for (const place of ["agent/extensions/gate.ts", "agent/extensions", "agent"]) {
			const sandbox = { mode: "auto", hidden: [scene.path(place)] };
			const result = await scene.run({ config: { sandbox, inheritExtensions: "all" } });
			assert.deepEqual([result.isError, result.details.error?.code], [true, "INVALID_INPUT"], textOf(result));
			assert.match(textOf(result), /hides extensions in `.*agent\/extensions`/);
		}
		assert.equal(scene.wasStarted, false);
	});

	it("does not lead to a question in an invisible directory: the run is refused", async (t) => {
		const scene = new Scene(t, answers);
		const sandbox = { mode: "auto", hidden: [scene.project] };
		const result = await scene.run({ config: { sandbox } });
		assert.deepEqual([result.isError, result.details.error?.code], [true, "INVALID_INPUT"]);
		assert.match(textOf(result), /the working directory `.*` is in `.*`, which agents in a sandbox cannot see/);
		const writing = await scene.run({ config: { sandbox: "off" } });
		assert.equal(shape(writing)[2], "completed", "without a sandbox the child sees the directory");
	});
});

describe("git in the work tree of a writing agent", {
	skip: !allows("landlock") && "no Landlock here",
}, () => {
	for (const [where, isSandboxed] of [
		["is sandboxed like a readonly child", true],
		["is not sandboxed without a warden", false],
	] as const) {
		it(where, async (t) => {
			const scene = new Scene(t, "echo new > added.txt; begin; said Done.; settled");
			execFileSync("git", ["init", "-q", scene.project]);
			scene.write("agent/agents/writer.md", "---\nname: writer\ntools: bash\n---\nWrite.");
			const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
			const traps = `(: >> '${scene.path("written")}'); (: >> '${scene.project}/written')`;
			execFileSync("chmod", [
				"+x",
				scene.write("bin/git", `#!/bin/sh\n{ ${traps}; } 2>/dev/null\nexec '${git}' "$@"\n`),
			]);
			const env = { ...scene.options.env, PATH: `${scene.path("bin")}:${process.env.PATH}` };
			if (!isSandboxed) Object.assign(env, { PI_SUBAGENT_WARDEN: "" });
			const result = await scene.run({ agent: "writer", env, config: { allowWrite: true } });
			assert.equal(shape(result)[2], "completed", textOf(result));
			assert.match(textOf(result), /Files changed: `added\.txt`/);
			assert.equal(
				existsSync(scene.path("written")),
				!isSandboxed,
				"a sandboxed git writes no file outside the project",
			);
			assert.equal(
				existsSync(`${scene.project}/written`),
				!isSandboxed,
				"a sandboxed git writes no file in the project",
			);
		});
	}
});

/** Returns the reason if nothing can be guaranteed here. */
function gapless(): string | false {
	const promises = allows("landlock") && allows("tools") && allows("mount-ns");
	return promises ? false : "this machine promises none";
}
