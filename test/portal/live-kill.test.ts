import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { connectLive, type LiveClient } from "./live-client.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

interface Bridge {
  readonly url: string;
  readonly headers: { readonly authorization: string };
  kill(): Promise<void>;
  connect(): Promise<LiveClient>;
  post(path: string, body: object): Promise<unknown>;
}

/** `spanline up` with the demo agent. The first process of a directory owns the sessions, later ones join it. */
async function up(directory: string): Promise<Bridge> {
  const process = command.start(["up", "--port", "0", "--json", "--data-dir", directory]);
  const { url, link } = JSON.parse(await waitForOutput(process.stdout, "}\n"));
  const headers = { authorization: `Bearer ${new URL(link).searchParams.get("token")}` };
  return {
    url,
    headers,
    connect: () => connectLive(Number(new URL(url).port), headers),
    async kill() {
      const gone = new Promise((resolve) => process.once("exit", resolve));
      process.kill("SIGKILL");
      await gone;
    },
    async post(path, body) {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return response.json();
    },
  };
}

/** Positions of all received events, in the order of their arrival. */
function seqsOf(...clients: readonly LiveClient[]): readonly number[] {
  return clients.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "events" ? frame.events.map(({ seq }) => seq) : [])),
  );
}

/** Waits for an event of a type, and returns it. */
async function waitForEvent(client: LiveClient, type: string): Promise<unknown> {
  let found: unknown;
  await waitUntil(
    () => {
      for (const frame of client.frames)
        if (frame.type === "events")
          found ??= frame.events.find(({ event }) => event.type === type)?.event;
      return found !== undefined;
    },
    () => client.frames,
  );
  return found;
}

it("A page gets every event once while the owner of the sessions and then its own bridge are killed during a turn", async () => {
  const directory = join(command.folder, "live-kill");
  const owner = await up(directory);
  const joined = await up(directory);
  const { sessionId } = Object(await joined.post("/api/sessions", {}));
  const client = await joined.connect();
  client.send({ type: "subscribe", id: "s", sessionId });
  client.send({ type: "watch", topic: "inbox" });
  client.send({ type: "attach", id: "s", name: "Tab", mode: "controller" });
  const { clientId } = await client.next("attached");
  await joined.post(`/api/sessions/${sessionId}/prompt`, { text: "Please save a note: buy milk" });
  const { approvalId } = Object(await waitForEvent(client, "approval.requested"));
  await waitUntil(() =>
    client.frames.some((frame) => frame.type === "inbox" && frame.items.length === 1),
  );

  await owner.kill();
  await waitForEvent(client, "session.recovered");
  const cursor = client.frames.findLast((frame) => frame.type === "events")?.cursor;
  const before = seqsOf(client).length;

  await joined.kill();
  await client.closed;
  const next = await up(directory);
  const again = await next.connect();
  again.send({ type: "subscribe", id: "s", sessionId, ...(cursor !== undefined && { cursor }) });
  again.send({ type: "attach", id: "s", name: "Tab", mode: "controller", clientId });
  expect((await again.next("attached")).role).toBe("controller");
  const allow = { type: "answer", approvalId, decision: "allow" };
  expect(await next.post(`/api/sessions/${sessionId}/commands`, allow)).toMatchObject({
    status: "accepted",
  });
  await waitForEvent(again, "turn.finished");
  const seqs = [...seqsOf(client).slice(0, before), ...seqsOf(again)];
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, at) => at + 1));
  await next.kill();
});
