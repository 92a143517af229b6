/** The places where a writing child may write, and the notices about its leftovers. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";

import { doctor } from "../../native.js";
import { allows, sandboxOf } from "../support/warden.ts";
import { Scene, single, textOf, until } from "./scene.ts";

/** Says which of its attempts worked. */
const tries = `
can() { if ( eval "$1" ) >/dev/null 2>&1; then printf '%s ' "$2"; fi; }
begin
said "$(
	can ': > new' tree; can 'mkdir -p deep/down && : > deep/down/file' below; can 'cd .. && : > beside' parent
	can ': > "$here/outside"' outside; can ': > "$HOME/.planted"' home; can ': > "$TMPDIR/x"' temporary
	can ': > "$PI_CODING_AGENT_DIR/x"' agent; can ': > .git/hooks/pre-commit' hook; can 'echo x >> .git/config' config
	can ': > .pi/settings.json' pi; can 'mv .pi old' renamed; can 'chmod 777 .git' mode; can ': > "$here/cache/x"' cache
	can ': > link/x' link; can 'git -c user.name=a -c user.email=b commit -q --allow-empty -m x' commit
	can 'git status && git diff && git log' read
)" stop
settled`;

const needsBoth = (!allows("landlock") && "no Landlock here") || (!allows("mount-ns") && "no mount namespaces here");

function sceneOf(t: TestContext, script = tries): Scene {
	const scene = new Scene(t, script);
	scene.options.agent = "writer";
	scene.options.env = { ...scene.options.env, HOME: scene.path("home") };
	scene.write("agent/agents/writer.md", "---\nname: writer\ntools: read, write, bash\n---\nWrite.");
	const git = ["-c", "user.name=a", "-c", "user.email=b", "-c", "commit.gpgsign=false"];
	execFileSync("git", ["init", "-q", scene.project]);
	scene.write("project/kept.txt", "kept");
	scene.write("project/.pi/agents/x.md", "---\nname: x\n---\n");
	execFileSync("git", [...git, "-C", scene.project, "add", "-A"]);
	execFileSync("git", [...git, "-C", scene.project, "commit", "-qm", "first"]);
	for (const name of ["home", "cache", "elsewhere"]) mkdirSync(scene.path(name));
	symlinkSync(scene.path("elsewhere"), scene.path("project/link"));
	return scene;
}

const inTree = "tree below temporary agent";

describe("a child that may write", { skip: needsBoth }, () => {
	it("writes in its tree, its own directories and nowhere else", async (t) => {
		const scene = sceneOf(t);
		for (const sandbox of ["auto", "required"]) {
			const result = await scene.run({ config: { sandbox, allowWrite: true } });
			assert.equal(single(result).output?.trim(), `${inTree} read`, textOf(result));
			const { enforced, mechanism, reason } = single(result).sandbox ?? {};
			assert.deepEqual([enforced, mechanism?.toSorted()], [true, sandboxOf()]);
			assert.ok(!reason?.includes(".git"), reason);
		}
		assert.equal(existsSync(scene.path("home/.planted")), false);
	});

	it("may write to the whole tree of its repository", async (t) => {
		const scene = sceneOf(t, "(: > ../../above) && (: > ../../../beside) 2>/dev/null; begin; said Done.; settled");
		mkdirSync(scene.path("project/a/b"), { recursive: true });
		await scene.run({ cwd: scene.path("project/a/b"), config: { sandbox: "auto", allowWrite: true } });
		assert.deepEqual([existsSync(scene.path("project/above")), existsSync(scene.path("beside"))], [true, false]);
	});

	it("writes to listed paths, and reports impossible ones", async (t) => {
		const scene = sceneOf(t);
		const listed = [scene.path("cache"), scene.path("missing"), "~/"];
		const config = { allowWrite: true, sandbox: { mode: "auto", writable: listed } };
		const result = await scene.run({ config });
		assert.equal(single(result).output?.trim(), `${inTree} cache read`);
		const notes = single(result).diagnostics?.join("\n") ?? "";
		assert.match(notes, /`[^`]*missing` \(`sandbox.writable`\): it does not exist; create it first/);
		assert.match(notes, /`~\/` \(`sandbox.writable`\): it contains files that the child must not change/);
	});

	it("writes wherever the user can with `all`, and the result says so, unless a sandbox is required", async (t) => {
		const scene = sceneOf(t);
		const refused = await scene.run({ config: { sandbox: "required", allowWrite: "all" } });
		assert.match(
			textOf(refused),
			/the required sandbox is unavailable: .*; set `allowWrite` to `true`, or `sandbox` to `auto`/,
		);
		const result = await scene.run({ config: { sandbox: "auto", allowWrite: "all" } });
		assert.match(single(result).output ?? "", /parent outside home .*hook config .*commit/);
		assert.deepEqual([single(result).sandbox?.enforced, single(result).sandbox?.mechanism], [false, []]);
		assert.match(single(result).sandbox?.reason ?? "", /may write wherever you can \(`allowWrite` is `all`\)/);
		assert.ok(single(result).diagnostics?.includes("the agent may write wherever you can"));
		assert.ok(single(result).flagged?.includes(".git/hooks/pre-commit"), textOf(result));
	});

	it("reports unprotected paths without a mount namespace, and does not run if protection is required", async (t) => {
		const scene = sceneOf(t);
		const run = (mode: string) => scene.run({ config: { allowWrite: true, sandbox: { mode, metadata: false } } });
		const result = await run("auto");
		assert.equal(single(result).output?.trim(), `${inTree} hook config pi renamed mode commit read`);
		assert.match(single(result).sandbox?.reason ?? "", /`\.git` and `\.pi` are writable/);
		const files = "`.git/config`, `.git/hooks/pre-commit`";
		assert.ok(textOf(result).includes(`Check these first`) && textOf(result).includes(files), textOf(result));
		const refused = await run("required");
		assert.match(textOf(refused), /the required sandbox is unavailable: `\.git` and `\.pi` are writable/);
	});

	it("sees no private tree except its own", async (t) => {
		const scene = sceneOf(t, "echo secret > note; gate go; begin; said Done.; settled");
		for (const [name, isolation] of Object.entries({ isolated: "private", inplace: "none" })) {
			const head = `name: ${name}\ndescription: d\ntools: read, write, bash\nisolation: ${isolation}`;
			scene.write(`agent/agents/${name}.md`, `---\n${head}\n---\nWrite.`);
		}
		const trees = scene.path("agent/subagent-trees");
		// The sandbox of its tools hides the trees without a mount namespace, too.
		const probeScript = `
begin
trees="$here/agent/subagent-trees"
shell=$(sed -n 's/.*"shellPath": *"\\([^"]*\\)".*/\\1/p' "$PI_CODING_AGENT_DIR/settings.json")
in_shell() { "$shell" -c "cat '$trees'/*/project/$1" 2>/dev/null; }
in_pi() { cat "$trees"/*/project/$1 2>/dev/null; }
said "pi: $(in_pi note) $(in_pi kept.txt); shell: $(in_shell note) $(in_shell kept.txt); here: $(cat kept.txt)" stop
settled`;
		const config = (metadata: boolean) => ({ allowWrite: true, sandbox: { mode: "auto", metadata } });
		const first = scene.start({ agent: "isolated", config: config(true) });
		const noted = () =>
			existsSync(trees) && readdirSync(trees).some((id) => existsSync(join(trees, id, "project/note")));
		await until(noted, "the note in the private tree");
		const probe = async (agent: string, metadata: boolean) => {
			const result = await scene.run({ agent, config: config(metadata), piCommand: scene.pi("looks.sh", probeScript) });
			return single(result).output?.trim() ?? textOf(result);
		};
		assert.equal(await probe("inplace", true), "pi:  ; shell:  ; here: kept");
		assert.equal(await probe("isolated", true), "pi:  kept; shell:  kept; here: kept");
		assert.match(await probe("inplace", false), /shell: {2}; here: kept$/);
		assert.match(await probe("isolated", false), /shell: {2}kept; here: kept$/);
		scene.open();
		await first.result();
	});

	it("is not started if its tree would be larger than a project", async (t) => {
		const scene = sceneOf(t);
		for (const cwd of [scene.agentDir, scene.root]) {
			const refused = await scene.run({ cwd, config: { sandbox: "auto", allowWrite: true } });
			assert.match(textOf(refused), /the agent may write, and `.*` contains `.*`/, cwd);
			assert.equal(scene.wasStarted, false);
		}
	});

	it("is flagged for files that run code later, even if git ignores them", async (t) => {
		const files = "sub/.pi/settings.json .mcp.new .vscode/tasks.json .envrc ignored/.husky/pre-push plain.txt";
		const make = `for f in ${files}; do mkdir -p $(dirname $f); echo x > $f; done`;
		const scene = sceneOf(t, `${make}; begin; said Done.; settled`);
		scene.write("project/.gitignore", "ignored\n.envrc\n");
		const result = await scene.run({ config: { sandbox: "auto", allowWrite: true } });
		const expected = ["sub/.pi", ".envrc", "ignored/.husky/pre-push", ".vscode/tasks.json", "sub/.pi/settings.json"];
		assert.deepEqual(single(result).flagged, expected);
		assert.match(textOf(result), /Check these first: .*: `sub\/\.pi`, `\.envrc`, /);
		const again = await scene.run({
			config: { sandbox: "auto", allowWrite: true },
			piCommand: scene.pi("no.sh", "begin; said Done.; settled"),
		});
		assert.equal(single(again).flagged, undefined);
	});

	it("is flagged for files that run code later, with any number of ignored files before them", async (t) => {
		const ignored = ["zzz/.pi/agents/explorer.md", "zzz/.vscode/tasks.json", "zzz/x/.mcp.json"];
		const files = ["pkg/.envrc", "pkg/.vscode/tasks.json", "pkg/deep/.husky/pre-commit", ...ignored];
		const make = `for f in ${files.join(" ")} new/.git/hooks/pre-push; do mkdir -p $(dirname $f); echo x > $f; done`;
		const scene = sceneOf(t, `${make}; begin; said Done.; settled`);
		scene.write("project/.gitignore", "aaa/\nzzz/\nnew/\n");
		mkdirSync(scene.path("project/aaa"));
		// Names of few files: a new file costs far more than a new name.
		for (let number = 0; number < 210_000; number++) {
			const file = scene.path(`project/aaa/${Math.floor(number / 50_000)}.file`);
			if (number % 50_000 === 0) writeFileSync(file, "");
			linkSync(file, scene.path(`project/aaa/${number}`));
		}
		const result = await scene.run({ config: { sandbox: "auto", allowWrite: true } });
		const expected = ["new/.git", "new/.git/hooks/pre-push", ...files, "zzz/.pi"].toSorted();
		assert.deepEqual(single(result).flagged?.toSorted(), expected);
	});

	it("shows flagged files before any number of harmless files", async (t) => {
		const make =
			"i=0; while [ $i -lt 60 ]; do mkdir -p a$i; echo x > a$i/AGENTS.md; i=$((i + 1)); done; mkdir z; echo x > z/.envrc";
		const scene = sceneOf(t, `${make}; begin; said Done.; settled`);
		const result = await scene.run({ config: { sandbox: "auto", allowWrite: true } });
		const { flagged = [] } = single(result);
		assert.deepEqual([flagged[0], flagged.length, flagged.at(-1)], ["z/.envrc", 51, "and 11 more"]);
		assert.match(textOf(result), /Check these first: .*: `z\/\.envrc`, .*, and 11 more/);
	});

	it("has a result that says so if a directory cannot be searched", async (t) => {
		// Deeper than a path may be long.
		const dig = `const d = "d".repeat(250); process.chdir("ignored"); for (let i = 0; i < 20; i++) { fs.mkdirSync(d); process.chdir(d); } fs.writeFileSync(".envrc", "x")`;
		const scene = sceneOf(t, `"${process.execPath}" -e '${dig}'; begin; said ANNOUNCE_SKIP; settled`);
		scene.write("project/.gitignore", "ignored/\n");
		scene.write("project/ignored/x", "x");
		try {
			const result = await scene.run({ config: { sandbox: "auto", allowWrite: true } });
			const gap = single(result).flaggedGap ?? "";
			assert.match(gap, /^directories that could not be read: `ignored\/d{250}\/d+…`$/);
			assert.ok(
				textOf(result).includes(`Not all files were checked for code that runs later: ${gap}. Check`),
				textOf(result),
			);
		} finally {
			execFileSync("rm", ["-rf", scene.path("project/ignored")]);
		}
		const whole = await scene.run({
			config: { sandbox: "auto", allowWrite: true },
			piCommand: scene.pi("no.sh", "begin; said Done.; settled"),
		});
		assert.equal(single(whole).flaggedGap, undefined);
	});

	it("has no shell without an effective sandbox", async (t) => {
		const scene = sceneOf(t, "begin; said Done.; settled");
		scene.write("project/.pi/settings.json", '{ "shellPath": "/bin/zsh" }');
		const dropped = async (config: Record<string, unknown>) =>
			single(await scene.run({ config })).diagnostics?.find((text) => text.includes("`bash` was dropped"));
		assert.match((await dropped({ sandbox: "auto", allowWrite: true })) ?? "", /shellPath/);
		assert.equal(await dropped({ sandbox: "auto", allowWrite: "all" }), undefined);
	});

	it("cannot be freed by a project", async (t) => {
		const scene = sceneOf(t);
		scene.write("agent/subagents.json", JSON.stringify({ subagents: { allowWrite: true } }));
		const writable = [scene.path("cache")];
		scene.write(
			"project/.pi/subagents.json",
			JSON.stringify({ subagents: { allowWrite: "all", sandbox: { writable } } }),
		);
		const { checks } = await doctor({ cwd: scene.project, agentDir: scene.agentDir });
		const messages = checks.map(({ message }) => message).join("\n");
		assert.match(
			messages,
			/`allowWrite` is `"all"` and is ignored: a project file may only make it stricter than `true`/,
		);
		assert.match(messages, /`sandbox\.writable` is ignored: a project file may not set it/);
		assert.match(messages, /agents that are not readonly may write in .*project/);
	});
});
