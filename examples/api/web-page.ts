/** Shows a live run on a web page, with a server-sent event for each update. Exits when the run has ended. */

import { createServer } from "node:http";
import { startRun } from "pi-subagent-native";

const page = `<!doctype html><pre id="said"></pre><script>
const events = new EventSource("/events");
events.onmessage = ({ data }) => { said.textContent = JSON.parse(data).text; };
events.addEventListener("end", () => events.close());
</script>`;

const server = createServer(async (request, response) => {
	if (request.url !== "/events") {
		response.setHeader("content-type", "text/html").end(page);
		return;
	}
	response.setHeader("content-type", "text/event-stream");
	const send = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`);
	const run = startRun({ agent: "explorer", task: "Look around.", cwd: process.cwd() }, ({ content, details }) =>
		send({ text: content[0]?.text, state: details.streaming?.state }),
	);
	response.on("close", () => run.abort("the page was closed"));
	const { content } = await run.result();
	send({ text: content[0]?.text, state: "ended" });
	response.end("event: end\ndata: {}\n\n");
	server.close();
});

server.listen(0, "127.0.0.1", () => {
	const address = server.address();
	if (address && typeof address === "object") console.log(`http://127.0.0.1:${address.port}/`);
});
