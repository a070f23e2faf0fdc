// The minimum work of any gateway: requests and responses are forwarded unchanged. With a file, each request is first
// inserted into SQLite and synced: the minimum work of a gateway which loses no prompt.

import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { loadEngine } from "../../src/store/sqlite/file/engine.ts";

const [, , upstream = "", file] = process.argv;
const append = file === undefined ? () => undefined : await createSyncedAppend(file);
const server = createServer((incoming, outgoing) => {
  append();
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

async function createSyncedAppend(path: string): Promise<() => void> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(path, { readOnly: false });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT)");
  const insert = database.prepare("INSERT INTO events (body) VALUES (?)");
  const body = JSON.stringify({ type: "prompt.accepted", text: "x".repeat(300) });
  return () => void insert.run(body);
}
