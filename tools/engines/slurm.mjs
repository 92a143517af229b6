/**
 * The Slurm engine: munge, a controller and three nodes on a host of their own, with their own key and directories. Its
 * daemons and `srun` listen on every address of the machine, so that host is a network namespace that no other machine
 * can reach.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";

import { launcherOf } from "./guide.mjs";
import { hostAlone } from "./hosts.mjs";
import { libraries, unpack } from "./packages.mjs";
import { command, Servers, wrap } from "./programs.mjs";

const nodes = ["node1", "node2", "node3"];
/** The controller's port; the nodes use the following ports. The host has no other programs. */
const firstPort = 6817;
/** The number of parallel jobs on one node: more than the benchmark runs on all three. */
const slots = 20;

/** The folder of Slurm's own programs and plugins in Debian's packages. */
const own = join(libraries, "slurm-wlm");
const clients = ["srun", "scancel", "scontrol", "sinfo", "squeue"];

/** @type {import("./main.mjs").Engine} */
export const slurm = {
	page: "slurm.md",
	programs: clients,
	async start(place) {
		const unpacked = unpack("slurm", ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge"]);
		const program = (/** @type {string} */ name) => join(unpacked, "usr", "sbin", name);
		const paths = [libraries, own].map((folder) => join(unpacked, folder)).join(":");
		const env = { LD_LIBRARY_PATH: paths, SLURM_CONF: join(place, "slurm.conf") };
		// Tests and benchmarks run within that host already. The commands that start and stop the cluster do not.
		for (const name of clients) wrap(place, name, [join(unpacked, "usr", "bin", name)], env);
		for (const name of ["munge", "state", "tmp", ...nodes]) mkdirSync(join(place, name), { mode: 0o700 });
		const munge = (/** @type {string} */ name) => join(place, "munge", name);
		const all = { ...process.env, ...env };
		command(program("mungekey"), ["--create", `--keyfile=${munge("key")}`], { env: all });
		writeFileSync(env.SLURM_CONF, configuration(place, unpacked));
		// Slurm adds its output to the environment of a task. The directories of killed scripts stay there.
		writeFileSync(join(place, "prolog"), `#!/bin/sh\necho "export TMPDIR=${place}/tmp"\n`, { mode: 0o700 });
		const servers = new Servers();
		try {
			const within = await hostAlone(servers);
			const client = (/** @type {string} */ name, /** @type {string[]} */ ...args) =>
				outputOf([...within, join(place, "bin", name), ...args]);
			const stop = async () => {
				// The jobs on a node outlive its daemon.
				client("scancel", `--user=${userInfo().username}`);
				try {
					await servers.until("jobs are left", () => client("squeue", "--noheader") === "");
				} finally {
					await servers.stop();
				}
			};
			const files = ["key", "socket", "pid", "log", "seed"].map(
				(name) => `--${name}${name === "socket" ? "" : "-file"}=${munge(name)}`,
			);
			// `force`: munged refuses a socket whose folder other users cannot enter, but no other user needs it here.
			servers.start([...within, program("munged"), "--foreground", "--force", ...files], all);
			await servers.until(
				"munged has no socket",
				() => spawnSync(program("../bin/munge"), ["-n", "-S", munge("socket")], { env: all }).status === 0,
			);
			servers.start([...within, program("slurmctld-wlm"), "-D", "-i"], all, { again: true });
			for (const node of nodes)
				servers.start([...within, program("slurmd-wlm"), "-D", "-N", node, "-d", program("slurmstepd-wlm")], all);
			const idle = () =>
				client("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N").split("\n").length >= nodes.length;
			await servers.until("the nodes are not idle", idle);
			return {
				launcher: launcherOf("slurm.md", "cluster"),
				first: { launcher: "cluster" },
				tests: ["launchers_slurm", "launcher_survivors"],
				env: { PI_SUBAGENT_TEST_SLURM: nodes.join(",") },
				within,
				stop,
			};
		} catch (error) {
			await servers.stop();
			throw error;
		}
	},
};

/**
 * Returns the output of a client, or an empty string if it fails.
 *
 * @param {string[]} argv
 */
function outputOf([program = "", ...args]) {
	return spawnSync(program, args, { encoding: "utf8", timeout: 10_000 }).stdout?.trim() ?? "";
}

/**
 * @param {string} place
 * @param {string} unpacked
 */
function configuration(place, unpacked) {
	const user = userInfo().username;
	const machine = hostname().split(".")[0];
	const each = nodes.map(
		(name, at) =>
			`NodeName=${name} NodeAddr=127.0.0.1 NodeHostname=${machine} Port=${firstPort + 1 + at} CPUs=${slots} RealMemory=1000000`,
	);
	return `${[
		"ClusterName=test",
		`SlurmctldHost=${machine}(127.0.0.1)`,
		`SlurmctldPort=${firstPort}`,
		`SlurmUser=${user}`,
		`SlurmdUser=${user}`,
		"AuthType=auth/munge",
		"CredType=cred/munge",
		`AuthInfo=socket=${join(place, "munge", "socket")}`,
		`PluginDir=${join(unpacked, own)}`,
		`PlugStackConfig=${join(place, "plugstack.conf")}`,
		`StateSaveLocation=${join(place, "state")}`,
		`SlurmdSpoolDir=${join(place, "%n")}`,
		`SlurmctldPidFile=${join(place, "slurmctld.pid")}`,
		`SlurmdPidFile=${join(place, "%n.pid")}`,
		`SlurmctldLogFile=${join(place, "slurmctld.log")}`,
		`SlurmdLogFile=${join(place, "%n.log")}`,
		`TaskProlog=${join(place, "prolog")}`,
		"MailProg=/bin/true",
		// No control groups, because they belong to the machine.
		"ProctrackType=proctrack/linuxproc",
		"TaskPlugin=task/none",
		"JobAcctGatherType=jobacct_gather/none",
		"AccountingStorageType=accounting_storage/none",
		"MpiDefault=none",
		"SelectType=select/cons_tres",
		"SelectTypeParameters=CR_CPU",
		"SlurmdParameters=config_overrides",
		"ReturnToService=2",
		"KillWait=5",
		"SchedulerParameters=sched_min_interval=1000,batch_sched_delay=0",
		// A job in `urgent` preempts a job in `main`, which starts again later if it can.
		"PreemptType=preempt/partition_prio",
		"PreemptMode=REQUEUE",
		...each,
		`PartitionName=main Nodes=${nodes} Default=YES PriorityTier=1 MaxTime=INFINITE State=UP`,
		`PartitionName=urgent Nodes=${nodes} PriorityTier=10 MaxTime=INFINITE State=UP`,
	].join("\n")}\n`;
}
