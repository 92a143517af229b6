import assert from "node:assert/strict";
import { test } from "node:test";

import { ModelServer, type Rule } from "./model-server.ts";
import { call, drop, fail, finish, hang, makeGate, say, until, usage } from "./steps.ts";

interface Chunk {
	choices: { delta: { content?: string; tool_calls?: { function: { name?: string; arguments?: string } }[] } }[];
	usage?: { prompt_tokens: number; completion_tokens: number };
}

async function ask(server: ModelServer, text = "hello"): Promise<Response> {
	const messages = [{ role: "user", content: text }];
	return await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify({ messages }) });
}

async function chunks(response: Response): Promise<Chunk[]> {
	const events = (await response.text()).trim().split("\n\n");
	assert.equal(events.pop(), "data: [DONE]");
	return events.map((event) => JSON.parse(event.slice("data: ".length)) as Chunk);
}

async function withServer(script: Rule["answer"], work: (server: ModelServer) => Promise<void>): Promise<void> {
	const server = await ModelServer.start([{ when: () => true, answer: script }]);
	try {
		await work(server);
	} finally {
		await server.close();
	}
}

test("text is split into deltas of the requested size, and never inside a character", async () => {
	await withServer([say("ab😀cd", { size: 3 }), usage({ input: 7, output: 3 })], async (server) => {
		const got = await chunks(await ask(server));
		const deltas = got.map(({ choices }) => choices[0]?.delta.content).filter((text) => text !== undefined);
		assert.deepEqual(deltas, ["ab😀", "cd"]);
		assert.deepEqual(got.at(-1)?.usage?.prompt_tokens, 7);
	});
});

test("a tool call gives its name first and ends the turn as a tool call", async () => {
	await withServer([call("ls", { path: "." }, { size: 4 })], async (server) => {
		const got = await chunks(await ask(server));
		const calls = got.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []).map((part) => part.function);
		assert.equal(calls[0]?.name, "ls");
		assert.equal(calls.map((part) => part.arguments).join(""), '{"path":"."}');
		assert.match(JSON.stringify(got), /"finish_reason":"tool_calls"/);
	});
});

test("the script sets the reason of the end", async () => {
	await withServer([say("cut"), finish("length")], async (server) => {
		const text = JSON.stringify(await chunks(await ask(server)));
		assert.match(text, /"finish_reason":"length"/);
		assert.doesNotMatch(text, /"finish_reason":"stop"/);
	});
});

test("an HTTP error has its status, its body and the time of the next try", async () => {
	await withServer([fail(429, { retryAfter: 3 })], async (server) => {
		const response = await ask(server);
		assert.equal(response.status, 429);
		assert.equal(response.headers.get("retry-after"), "3");
		assert.match(await response.text(), /scripted error 429/);
	});
});

test("a dropped connection breaks the response in the middle", async () => {
	await withServer([say("half"), drop()], async (server) => {
		const response = await ask(server);
		await assert.rejects(response.text());
		assert.equal(await server.requests[0]?.ended, true);
	});
});

test("a response waits until the test releases it", async () => {
	const gate = makeGate();
	await withServer([say("before"), until(gate.opened), say("after")], async (server) => {
		const response = await ask(server);
		const body = response.body?.getReader();
		const first = await body?.read();
		assert.match(Buffer.from(first?.value ?? []).toString(), /before/);
		assert.equal(server.requests[0]?.disconnected, undefined);
		gate.open();
		const second = await body?.read();
		assert.match(Buffer.from(second?.value ?? []).toString(), /after/);
	});
});

test("closing the server ends a response that hangs", async () => {
	const server = await ModelServer.start([{ when: () => true, answer: [hang()] }]);
	const response = await ask(server);
	await server.close();
	await assert.rejects(response.text());
});

test("a request without a matching rule is refused and recorded", async () => {
	const server = await ModelServer.start([{ when: () => true, times: 1, answer: [say("once")] }]);
	try {
		assert.equal((await ask(server)).status, 200);
		assert.equal((await ask(server)).status, 400);
		assert.match(server.problems.join(), /no rule fits/);
	} finally {
		await server.close();
	}
});

test("waiting for a missing request rejects and lists the received ones", async () => {
	await withServer([say("ok")], async (server) => {
		await (await ask(server, "find the needle")).text();
		await assert.rejects(
			server.waitFor(() => false, 50),
			/find the needle/,
		);
		const found = await server.waitFor((request) => request.userText.includes("needle"));
		assert.equal(found.index, 0);
	});
});
