// The least that any gateway does: each request goes to the upstream as it is, and its answer back.

import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

const [, , upstream = ""] = process.argv;
const server = createServer((incoming, outgoing) => {
  const onward = send(upstream, { method: "POST" }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
  });
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
