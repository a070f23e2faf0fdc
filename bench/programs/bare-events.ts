// The minimum work of any fan-out: each event is formatted once and sent to every listener.

import { createServer, request as send, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const [, , upstream = ""] = process.argv;
const listeners = new Set<ServerResponse>();
const server = createServer((incoming, outgoing) => {
  if (incoming.url === "/cpu") {
    const { user, system } = process.cpuUsage();
    outgoing.end(String((user + system) / 1e6));
    return;
  }
  if (incoming.method === "GET") {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.flushHeaders();
    listeners.add(outgoing);
    outgoing.on("close", () => listeners.delete(outgoing));
    return;
  }
  let count = 0;
  const onward = send(upstream, { method: "POST" }, (answer) => {
    answer.on("data", (piece: Buffer) => {
      const [said] = /"text":"[^"]*"/.exec(piece.toString("latin1")) ?? [];
      if (said === undefined) return;
      count += 1;
      const event = { type: "delta", ...EVENT_FIELDS, sequence_number: count, said };
      const frame = `event: delta\ndata: ${JSON.stringify(event)}\n\n`;
      for (const listener of listeners) listener.write(frame);
    });
    answer.on("end", () => {
      for (const listener of listeners) listener.end();
      outgoing.end();
    });
  });
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

/** The size of an event's other fields in spanline. */
const EVENT_FIELDS = {
  item_id: "msg_ses_0123456789abcdef0123456789abcdef_8-0",
  output_index: 0,
  content_index: 0,
  logprobs: [],
};
