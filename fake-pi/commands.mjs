/** Answers the commands of pi's RPC mode. */

/**
 * @typedef {import("./rpc.mjs").Session} Session
 * @typedef {import("./rpc.mjs").Command} Command
 */

/** Known commands that succeed here without an effect. */
const idle = new Set(
	`clear_queue set_model cycle_model get_available_models set_thinking_level cycle_thinking_level
	get_available_thinking_levels set_steering_mode set_follow_up_mode compact set_auto_compaction set_auto_retry
	abort_retry bash abort_bash get_session_stats export_html switch_session fork clone get_fork_messages get_entries
	get_tree set_session_name get_commands`.split(/\s+/),
);

const busy = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";

/**
 * Returns the answer of each command, or nothing if it is answered later.
 *
 * @type {Record<string, (session: Session, command: Command) => unknown>}
 */
const commands = {
	prompt: (session, command) => {
		if (!session.isBusy) return session.prompt(command);
		if (!command.streamingBehavior) return { success: false, error: busy };
		return queued(session, command.streamingBehavior === "steer" ? "steering" : "followUp", command);
	},
	steer: (session, command) => queued(session, "steering", command),
	follow_up: (session, command) => queued(session, "followUp", command),
	abort: async (session) => {
		await session.abort();
		return { success: true };
	},
	new_session: async (session) => {
		await session.abort();
		session.forget();
		return data({ cancelled: false });
	},
	get_state: ({ id, isBusy, queue, messages, sessionFile }) =>
		data({
			model: { provider: "fake", id: "fake-model", name: "Fake model" },
			thinkingLevel: "off",
			isStreaming: isBusy,
			isCompacting: false,
			steeringMode: "one-at-a-time",
			followUpMode: "one-at-a-time",
			...(sessionFile ? { sessionFile } : {}),
			sessionId: id,
			autoCompactionEnabled: true,
			messageCount: messages.length,
			pendingMessageCount: queue.steering.length + queue.followUp.length,
		}),
	get_messages: ({ messages }) => data({ messages }),
	get_last_assistant_text: ({ messages }) => {
		const last = messages.findLast(({ role }) => role === "assistant");
		const parts = last?.content.filter((/** @type {any} */ part) => part.type === "text");
		return data({ text: parts?.map((/** @type {any} */ part) => part.text).join("\n") ?? null });
	},
};

/** @param {Session} session @param {Command} command @returns {Promise<any>} */
export async function answerTo(session, command) {
	if (Object.hasOwn(commands, command.type)) return await commands[command.type]?.(session, command);
	if (idle.has(command.type)) return { success: true };
	return { success: false, error: `Unknown command: ${command.type}` };
}

/** @param {object | null} value */
const data = (value) => ({ success: true, data: value });

/** @param {Session} session @param {"steering" | "followUp"} kind @param {Command} command */
async function queued(session, kind, command) {
	await session.enqueue(kind, command);
	return session.disposition("queued");
}
