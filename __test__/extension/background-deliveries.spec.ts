/** Each end of a background run reaches its session once, for any behavior of pi. */

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentBeforeSettleEventResult, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { CustomMessage } from "../../extension/host/pi.ts";
import type { DeliveryMessage } from "../../native.js";
import { eventually } from "../support/eventually.ts";
import { announced } from "./announcement-double.ts";
import {
	backgroundRun,
	deliveredEventOf,
	type HostDouble,
	type LoadedExtension,
	PackageCopies,
	type ViewDouble,
} from "./package-copy.ts";

const copies = new PackageCopies();
const file = join(tmpdir(), `pi-subagent-native-deliveries-${process.pid}.jsonl`);
let loaded: LoadedExtension | undefined;

afterEach(async () => {
	await loaded?.host.emit("session_shutdown", { reason: "quit" });
	rmSync(file, { force: true });
});
after(() => copies.remove());

interface Scene {
	host: HostDouble;
	view: ViewDouble;
	addon: LoadedExtension["addon"];
	/** Returns the messages reported to the addon as in the session. */
	confirmed(): string[];
	/** The ids in the session, in order. */
	inSession(): string[];
}

/** A session that is open, in its file from the start unless told otherwise. */
async function open(
	change: (host: HostDouble) => Partial<ExtensionContext> | undefined = () => undefined,
): Promise<Scene> {
	loaded = await copies.load();
	const { host, addon } = loaded;
	host.sessionFile = file;
	writeFileSync(file, "");
	await host.emit("session_start", { reason: "startup" }, host.context(change(host) ?? {}));
	const view = addon.views[0] ?? assert.fail("no session was opened");
	const ids = (details: unknown) => (details as { deliveryIds: string[] }).deliveryIds;
	return {
		host,
		view,
		addon,
		confirmed: () => view.confirmed,
		inSession: () => host.session.flatMap((entry) => ids(entry.details)),
	};
}

function message(id: string, more: Partial<DeliveryMessage> = {}): DeliveryMessage {
	const run = backgroundRun(`run-${id}`, { state: "ended", status: "success", result: `Result of ${id}.` });
	return announced({
		...{ deliveryIds: [id], runIds: [run.runId], text: `Status: success\n${id}`, triggerTurn: true, runs: [run] },
		deliveredEvent: deliveredEventOf([id], [run]),
		questions: [],
		...more,
	});
}

/** The turn that a message starts, from pi's point of view. */
async function turn(host: HostDouble, { customType, details }: CustomMessage): Promise<void> {
	host.idle = false;
	await host.emit("agent_start");
	await host.emit("message_end", { message: { role: "custom", customType } });
	host.append({ customType, details });
	await host.emit("message_end", { message: { role: "assistant", stopReason: "stop" } });
	host.idle = true;
	await host.emit("agent_settled");
}

describe("deliveries", () => {
	it("start a turn of an idle pi, and count once they are in the session and its file", async () => {
		const { host, view, confirmed } = await open();
		let begun: CustomMessage | undefined;
		host.onSend = (sent) => {
			begun = sent;
			host.idle = false;
		};
		rmSync(file);
		view.send({ deliveries: message("a") });
		assert.equal(host.messages.length, 0, "no message is sent while the first prompt may arrive");
		await eventually(() => begun !== undefined, "the message after the wait for a prompt");
		const [sent] = host.messages;
		assert.deepEqual([sent?.triggerTurn, sent?.deliverAs, sent?.content], [true, "followUp", "Status: success\na"]);
		await turn(host, sent ?? assert.fail());
		assert.deepEqual(confirmed(), [], "no delivery is confirmed before pi has written the session");
		writeFileSync(file, "");
		await eventually(() => confirmed().length > 0, "the confirmation once the session has a file");
		assert.deepEqual([confirmed(), host.messages.length], [["a"], 1]);
		assert.deepEqual(
			host.emitted
				.filter(({ channel }) => channel === "subagent:delivered")
				.map(({ data }) => (data as { deliveryIds: string[] }).deliveryIds),
			[["a"]],
		);
	});

	it("join a run before it would end, and never pi's own queue", async () => {
		const { host, view, confirmed, inSession } = await open();
		host.idle = false;
		await host.emit("agent_start");
		view.send({ deliveries: message("a") });
		view.send({ deliveries: message("b", { triggerTurn: false }) });
		view.send({ deliveries: message("a") });
		const [result] = (await host.emit("agent_before_settle", { entries: [{ type: "foreign" }], continue: false })) as [
			Required<AgentBeforeSettleEventResult>,
		];
		assert.deepEqual([result.entries.length, result.continue, host.messages.length], [3, true, 0]);
		assert.deepEqual(result.entries[0], { type: "foreign" }, "entries of other extensions are kept");
		for (const draft of result.entries.slice(1)) host.append(draft as CustomMessage);
		assert.deepEqual(await host.emit("agent_before_settle", { entries: [], continue: false }), [undefined]);
		await host.emit("agent_settled", { aborted: false });
		assert.deepEqual([inSession(), confirmed(), host.messages.length], [["a", "b"], ["a", "b"], 0]);
	});

	it("arrive once if pi begins a session twice, and never if the session ends before its start", async () => {
		const { host, view: first, addon, inSession } = await open();
		first.send({ deliveries: message("a") });
		// One after the other, as pi does it where a client has opened another session, and both at once.
		const begin = () => host.emit("session_start", { reason: "resume" }, host.context({}));
		await begin();
		await Promise.all([begin(), begin()]);
		const last = addon.views.at(-1) ?? assert.fail("no session was opened");
		assert.deepEqual(
			addon.views.map(({ closed }) => closed),
			addon.views.map((view) => view !== last),
		);
		last.send({ deliveries: message("a") });
		await host.emit("before_agent_start", { systemPrompt: "You are pi." });
		assert.deepEqual([inSession(), host.messages.length], [["a"], 1]);

		const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<typeof addon.surfaces>()];
		addon.describeTools = () => {
			asked.resolve();
			return answered.promise;
		};
		const late = begin();
		await asked.promise;
		await host.emit("session_shutdown", { reason: "new" });
		answered.resolve(addon.surfaces);
		await late;
		assert.ok(addon.views.every(({ closed }) => closed));
	});

	it("are appended without a turn after an abort, and if another extension has dropped them", async () => {
		const { host, view, inSession } = await open();
		const controller = new AbortController();
		host.idle = false;
		await host.emit("agent_start", {}, host.context({ signal: controller.signal }));
		view.send({ deliveries: message("a") });
		controller.abort();
		host.idle = true;
		await host.emit("agent_settled");
		assert.deepEqual([host.messages[0]?.triggerTurn, inSession()], [false, ["a"]]);

		host.idle = false;
		await host.emit("agent_start");
		view.send({ deliveries: message("b") });
		// Another handler returns entries of its own and leaves out ours.
		await host.emit("agent_before_settle", { entries: [], continue: false });
		host.idle = true;
		await host.emit("agent_settled");
		assert.deepEqual([host.messages.at(-1)?.triggerTurn, inSession()], [true, ["a", "b"]]);
	});

	it("wait for a compaction", async () => {
		const { host, view } = await open();
		host.idle = false;
		view.send({ deliveries: message("a") });
		// Longer than pi takes to start a turn. Nothing but time shows that no message follows.
		await delay(1_500);
		assert.equal(host.messages.length, 0);
		host.idle = true;
		await eventually(() => host.messages.length === 1, "the message once the model is idle");
	});

	it("are sent before a prompt that is being sent", async () => {
		const { host, view, inSession } = await open();
		await host.emit("input", {});
		view.send({ deliveries: message("a") });
		assert.equal(host.messages.length, 0);
		await host.emit("before_agent_start", { systemPrompt: "You are pi." });
		assert.deepEqual([host.messages[0]?.triggerTurn, inSession()], [false, ["a"]]);
	});

	it("are left to the next opening if pi accepts none of them", async () => {
		const { host, view, confirmed } = await open();
		host.onSend = () => {};
		view.send({ deliveries: message("a") });
		for (let round = 0; round < 6; round++) await host.emit("agent_settled");
		assert.deepEqual(
			host.messages.map(({ triggerTurn }) => triggerTurn),
			[true, true, false],
		);
		assert.deepEqual(confirmed(), []);
	});

	it("are offered again by the addon exactly if they were rejected", async () => {
		const { host, view, inSession } = await open();
		host.events.emit = () => assert.fail("another extension failed");
		const untaken = { ...message("a"), deliveryIds: undefined as unknown as string[] };
		assert.throws(() =>
			view.send({ deliveries: untaken, runEvents: [{ event: "subagent:started", run: backgroundRun("run-b") }] }),
		);
		const runEvents = [{ event: "subagent:ended" as const, run: backgroundRun("run-a") }];
		view.send({ deliveries: message("a"), runs: [backgroundRun("run-b")], runEvents });
		await eventually(() => inSession().includes("a"), "the result that was offered again in the session");
	});

	it("are kept while pi fails to accept them", async () => {
		const { host, view, inSession, confirmed } = await open();
		let failures = 0;
		host.onSend = (sent) => {
			if (failures++ === 0) throw new Error("not now");
			host.append(sent);
		};
		host.idle = false;
		for (const id of ["a", "b", "c"]) view.send({ deliveries: message(id) });
		await host.emit("agent_settled");
		host.idle = true;
		await host.emit("agent_settled");
		assert.deepEqual(
			[inSession(), confirmed()],
			[
				["a", "b", "c"],
				["a", "b", "c"],
			],
		);
	});

	it("report the session's deliveries to the addon at every opening", async () => {
		const { host, view } = await open(({ session }) => {
			session.push(
				{ type: "custom_message", customType: "subagent-announcement", details: { deliveryIds: ["old"] } },
				{ type: "custom_message", customType: "foreign", details: { deliveryIds: ["foreign"] } },
				{ type: "custom_message", customType: "subagent-announcement", details: null },
			);
			return undefined;
		});
		assert.deepEqual(view.options.delivered, ["old"]);
		view.send({ deliveries: message("old") });
		await host.emit("agent_settled");
		assert.deepEqual(host.messages, []);
	});

	it("wait for the runs without a user, and let the model continue with them", async () => {
		const headless = { mode: "print", hasUI: false } as const;
		const { host, view } = await open(() => headless);
		const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
		view.runsEnded = () => {
			asked.resolve();
			return ended.promise;
		};
		const settling = host.emit("agent_before_settle", { entries: [], continue: false }, host.context(headless));
		await asked.promise;
		view.send({ deliveries: message("a", { triggerTurn: false }) });
		ended.resolve();
		const [result] = (await settling) as [Required<AgentBeforeSettleEventResult>];
		assert.deepEqual([result.entries.length, result.continue], [1, true]);
	});

	it("are ended with pi, and wait in the store if only the session ends", async () => {
		for (const [reason, ended, closed] of [
			["quit", 1, false],
			["new", 0, true],
			["reload", 0, false],
		] as const) {
			const { host, view, addon, inSession } = await open();
			view.send({ runs: [backgroundRun("run-a")] });
			view.send({ deliveries: message("early", { triggerTurn: false }) });
			// From now on messages are delivered at once.
			await eventually(() => inSession().length === 1, "the early message in the session");
			await host.emit("session_shutdown", { reason });
			assert.deepEqual([addon.ended, view.closed], [ended, closed], reason);
			view.send({ deliveries: message("late", { triggerTurn: false }) });
			// A held message is checked again after a quarter of a second.
			await delay(400);
			assert.deepEqual(inSession(), ["early"], "a closed session keeps only its earlier messages");
			host.session = [];
		}
	});
});
