/** Shows a live run on a web page, with a server-sent event for each update. Exits when the run has ended. */

import { createServer } from "node:http";
import { run } from "pi-subagent-native";

const page = `<!doctype html><pre id="said"></pre><script>
const events = new EventSource("/events");
events.onmessage = ({ data }) => { said.textContent += JSON.parse(data).text ?? ""; };
events.addEventListener("end", () => events.close());
</script>`;

const server = createServer(async (request, response) => {
	if (request.url !== "/events") {
		response.setHeader("content-type", "text/html").end(page);
		return;
	}
	response.setHeader("content-type", "text/event-stream");
	const task = run({ agent: "explorer", task: "Look around." });
	response.on("close", () => task.abort("the page was closed"));
	for await (const { type, state, text } of task) {
		response.write(`data: ${JSON.stringify({ type, state, text })}\n\n`);
	}
	response.end("event: end\ndata: {}\n\n");
	server.close();
});

server.listen(0, "127.0.0.1", () => {
	const address = server.address();
	if (address && typeof address === "object") console.log(`http://127.0.0.1:${address.port}/`);
});
