/** An npm registry on the loopback interface, and the packages in it. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../../scripts/lib/bundle.mjs";
import { fillPlatformPackages } from "../../scripts/lib/packages.mjs";
import { setupDir } from "../../scripts/lib/places.mjs";
import { npm, packageProgram } from "../../scripts/lib/programs.mjs";
import { packageDir } from "../support/versions.ts";

/** The time that the registry has to answer. It takes about two seconds. */
const listeningMs = 60_000;

/** The platform whose addon and warden this machine has built. */
export const platform = "linux-x64-gnu";

/** The content of a package, as `npm pack` reports it. */
export interface Packed {
	filename: string;
	/** Bytes that are downloaded. */
	size: number;
	/** Bytes on the disk. */
	unpackedSize: number;
	files: { path: string; mode: number; size: number }[];
}

/** The registry, with a folder of its own for everything. */
export class Registry {
	readonly root: string;
	readonly url: string;
	readonly #server: ChildProcess;

	private constructor(root: string, url: string, server: ChildProcess) {
		this.root = root;
		this.url = url;
		this.#server = server;
	}

	static async start(): Promise<Registry> {
		const root = mkdtempSync(join(tmpdir(), "psn-registry-"));
		const port = await freePort();
		const url = `http://127.0.0.1:${port}/`;
		// No uplink: a package that is not published here does not exist.
		const config = {
			storage: join(root, "storage"),
			uplinks: {},
			packages: { "**": { access: "$anonymous", publish: "$anonymous", unpublish: "$anonymous" } },
			log: { type: "stdout", format: "json", level: "warn" },
			max_body_size: "100mb",
			web: { enable: false },
		};
		// JSON is YAML as well.
		writeFileSync(join(root, "config.yaml"), JSON.stringify(config));
		// The user's npm, with a cache of its own, so that nothing comes from another source, and a token that is not
		// checked.
		const settings = [`registry=${url}`, `//127.0.0.1:${port}/:_authToken=nobody`, `cache=${join(root, "cache")}`];
		writeFileSync(
			join(root, "npmrc"),
			`${[...settings, "update-notifier=false", "audit=false", "fund=false"].join("\n")}\n`,
		);
		const script = join(setupDir, "verdaccio-6.10.4", "node_modules", "verdaccio", "bin", "verdaccio");
		const args = [script, "--config", join(root, "config.yaml"), "--listen", `127.0.0.1:${port}`];
		const server = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
		let output = "";
		for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => (output += chunk));
		const registry = new Registry(root, url, server);
		const deadline = performance.now() + listeningMs;
		while (
			!(await fetch(`${url}-/ping`).then(
				({ ok }) => ok,
				() => false,
			))
		) {
			if (server.exitCode === null && performance.now() < deadline) {
				await new Promise((resolve) => setTimeout(resolve, 50));
				continue;
			}
			await registry.stop();
			throw new Error(`the registry does not answer (${server.exitCode ?? server.signalCode}): ${output}`);
		}
		return registry;
	}

	async stop(): Promise<void> {
		const ended = new Promise((resolve) => this.#server.once("exit", resolve));
		if (this.#server.kill("SIGKILL")) await ended;
		rmSync(this.root, { recursive: true, force: true });
	}

	/** Returns the environment variables that make npm, pnpm and pi use this registry and none of this user's settings. */
	get env(): Record<string, string> {
		return { NPM_CONFIG_USERCONFIG: join(this.root, "npmrc"), NPM_CONFIG_REGISTRY: this.url };
	}

	/** Runs npm here, and returns its output. */
	npm(cwd: string, ...args: string[]): string {
		const [program, ...first] = npm();
		const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
		const env = { ...Object.fromEntries(inherited), ...this.env };
		return execFileSync(program, [...first, ...args], {
			cwd,
			env,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "pipe"],
		});
	}

	/** Makes the packages of a version ready for publishing, as a release does, and returns the folder of the main one. */
	prepare(version: string): string {
		const folder = join(this.root, version);
		mkdirSync(folder);
		const [{ filename }] = JSON.parse(
			this.npm(packageDir, "pack", "--json", "--ignore-scripts", "--pack-destination", folder),
		);
		execFileSync("tar", ["-xzf", join(folder, filename), "-C", folder]);
		const main = join(folder, "package");
		cpSync(join(packageDir, "npm"), join(main, "npm"), { recursive: true });
		for (const name of readdirSync(join(main, "npm"))) {
			const built = join(folder, "built", name);
			mkdirSync(built, { recursive: true });
			const addon = `pi-subagent-native.${name}.node`;
			for (const file of [addon, "pi-subagent-warden"]) {
				// A release has all. A platform that was not built here must not be installed either.
				if (name === platform) cpSync(join(packageDir, file), join(built, file));
				else writeFileSync(join(built, file), `not built for ${name}`);
				// A build service's archive loses the mode.
				chmodSync(join(built, file), 0o644);
			}
			cpSync(join(built, addon), join(main, "npm", name, addon));
		}
		fillPlatformPackages(join(folder, "built"), join(main, "npm"));
		for (const place of [main, ...readdirSync(join(main, "npm")).map((name) => join(main, "npm", name))]) {
			const path = join(place, "package.json");
			writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), version }, null, 2));
		}
		const changelog = join(main, "CHANGELOG.md");
		const news = `# Changelog\n\n## [${version}]\n\n- What version ${version} brings.\n`;
		writeFileSync(changelog, readFileSync(changelog, "utf8").replace(/^# Changelog\n/, news));
		// The build of that version would name it here.
		const module = join(main, bundle);
		const built = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")).version;
		const text = readFileSync(module, "utf8");
		const [, id] = /^\S+ \S+ \S+ (\w+)\./.exec(text) ?? [];
		writeFileSync(module, text.replaceAll(`${built} ${id}`, `${version} ${id}`));
		const [node, napi] = packageProgram("@napi-rs/cli", "napi");
		const args = ["prepublish", "-t", "npm", "--skip-optional-publish", "--no-gh-release", "--cwd", main];
		execFileSync(node, [napi, ...args], { stdio: "pipe" });
		return main;
	}

	/** Publishes the prepared packages. */
	publish(main: string): void {
		for (const name of readdirSync(join(main, "npm"))) this.npm(join(main, "npm", name), "publish", "--ignore-scripts");
		this.npm(main, "publish", "--ignore-scripts");
	}

	/** Returns the content that a package would ship. */
	packed(folder: string): Packed {
		return JSON.parse(this.npm(folder, "pack", "--dry-run", "--json", "--ignore-scripts"))[0] as Packed;
	}

	/** An empty project of a user. */
	project(name: string): string {
		const folder = join(this.root, name);
		mkdirSync(folder);
		writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
		return folder;
	}
}

function freePort(): Promise<number> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const { port } = server.address() as { port: number };
			server.close(() => resolve(port));
		});
	});
}
