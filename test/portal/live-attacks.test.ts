import * as fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../support/fake-clock.ts";
import { runs } from "../support/test-depth.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { connectLive } from "./live-client.ts";
import { loggedSessions } from "./logged-sessions.ts";
import { servedPortal } from "./start-portal.ts";

const local = { id: "local", rights: ["prompt"] } as const;
const title = (text: string) => ({ type: "session.title_changed", title: text }) as const;

/**
 * A portal with a session, which counts the batches read from the log and the open readers. The fake clock of the
 * sockets decides when a stalled client is disconnected.
 */
async function attackedPortal() {
  const sessions = loggedSessions();
  const socketClock = createFakeClock();
  const subscribe = sessions.subscribe.bind(sessions);
  let batches = 0;
  let readers = 0;
  sessions.subscribe = async function* (...args) {
    readers += 1;
    try {
      for await (const batch of subscribe(...args)) {
        batches += 1;
        yield batch;
      }
    } finally {
      readers -= 1;
    }
  };
  const portal = await servedPortal(sessions, { socketClock });
  onTestFinished(() => portal.close());
  const { sessionId } = await sessions.open({ principal: local });
  const counts = { countBatches: () => batches, countReaders: () => readers };
  return { sessions, portal, socketClock, sessionId, ...counts };
}

it("A client that stops reading does not grow the memory or delay others, is disconnected after 60 s, and resumes", async () => {
  const { sessions, portal, sessionId, socketClock, countReaders } = await attackedPortal();
  const slow = await connectLive(portal.port);
  await slow.next("ready");
  slow.socket.pause();
  const ids = Array.from({ length: 50 }, (_, at) => `s${at}`);
  for (const id of ids) slow.send({ type: "subscribe", id, sessionId });
  const text = "x".repeat(100_000);
  for (let at = 0; at < 200; at++) await sessions.log(sessionId, title(text));
  const other = await connectLive(portal.port);
  other.send({ type: "subscribe", id: "s", sessionId });
  expect(await other.takeSeqs("s", 201)).toHaveLength(201);
  // 50 subscriptions to 20 MB would be a gigabyte of frames.
  expect(process.memoryUsage().rss).toBeLessThan(1_000_000_000);
  await waitUntil(() => {
    socketClock.advance(10_000);
    return countReaders() === 1;
  });
  slow.socket.resume();
  await slow.closed;
  const received = slow.frames.flatMap((frame) =>
    frame.type === "events" && frame.id === "s0" ? [frame] : [],
  );
  const cursor = received.at(-1)?.cursor ?? "";
  const again = await connectLive(portal.port);
  again.send({ type: "subscribe", id: "s", sessionId, cursor });
  const count = received.flatMap(({ events }) => events).length;
  const seqs = received.flatMap(({ events }) => events.map(({ seq }) => seq));
  expect([...seqs, ...(await again.takeSeqs("s", 201 - count))]).toEqual(
    Array.from({ length: 201 }, (_, at) => at + 1),
  );
});

it("Reading stops while a client does not accept data, and continues without a gap", async () => {
  const { sessions, portal, sessionId, countBatches } = await attackedPortal();
  const client = await connectLive(portal.port);
  await client.next("ready");
  client.socket.pause();
  client.send({ type: "subscribe", id: "s", sessionId });
  const text = "x".repeat(200_000);
  for (let at = 0; at < 200; at++) await sessions.log(sessionId, title(text));
  const before = countBatches();
  await sessions.log(sessionId, title(text));
  await new Promise((resolve) => setImmediate(resolve));
  expect(countBatches()).toBe(before);
  client.socket.resume();
  const seqs = await client.takeSeqs("s", 202);
  expect(seqs).toEqual(Array.from({ length: 202 }, (_, at) => at + 1));
  const frames = client.frames.filter(({ type }) => type === "events");
  expect(frames.length).toBeGreaterThan(190);
});

it("Ten thousand subscriptions are refused beyond the limit, and the connection stays usable", async () => {
  const { portal, sessionId } = await attackedPortal();
  const client = await connectLive(portal.port);
  for (let batch = 0; batch < 20; batch++) {
    for (let at = 0; at < 500; at++)
      client.send({ type: "subscribe", id: `s${batch}-${at}`, sessionId });
    const refused = batch * 500 + 300;
    await waitUntil(
      () => client.frames.filter(({ type }) => type === "refused").length === refused,
    );
  }
  await waitUntil(() => client.frames.filter(({ type }) => type === "live").length === 200);
  expect(client.frames.filter(({ type }) => type === "ended")).toEqual([]);
  client.send({ type: "unsubscribe", id: "s0-0" });
  client.send({ type: "subscribe", id: "again", sessionId });
  await waitUntil(() =>
    client.frames.some((frame) => frame.type === "live" && frame.id === "again"),
  );
});

it("A message of a megabyte closes only the connection of its sender, and so does a binary message", async () => {
  const { portal } = await attackedPortal();
  const [long, binary, other] = [
    await connectLive(portal.port),
    await connectLive(portal.port),
    await connectLive(portal.port),
  ];
  long.sendText(JSON.stringify({ type: "subscribe", id: "x".repeat(1_000_000), sessionId: "s" }));
  binary.socket.send(new Uint8Array(8));
  expect([await long.closed, await binary.closed]).toEqual([1009, 1003]);
  other.send({ type: "ping", id: 1 });
  await other.next("pong");
});

it("Hostile messages are refused or ignored, and never end another connection or the server", async () => {
  const { portal, sessionId } = await attackedPortal();
  const client = await connectLive(portal.port);
  const field = fc.constantFrom(
    "type",
    "id",
    "sessionId",
    "cursor",
    "topic",
    "mode",
    "name",
    "__proto__",
  );
  const word = fc.constantFrom(
    "subscribe",
    "attach",
    "watch",
    "inbox",
    sessionId,
    "../x",
    "ses_\u0000",
    "x.1",
  );
  const value = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }));
  const message = fc.oneof(
    fc.array(fc.tuple(field, value), { maxLength: 6 }).map((fields) => {
      const members = fields.map(
        ([name, content]) => `${JSON.stringify(name)}:${JSON.stringify(content)}`,
      );
      return `{${members.join(",")}}`;
    }),
    fc.string({ maxLength: 50 }),
  );
  for (const text of fc.sample(message, { numRuns: runs(300), seed: 7 })) client.sendText(text);
  client.send({ type: "ping", id: 99 });
  await waitUntil(() => client.frames.some((frame) => frame.type === "pong" && frame.id === 99));
  expect(portal.bugs).toEqual([]);
});

it("Sessions that are deleted and created again during a subscription never mix their logs", async () => {
  const { sessions, portal } = await attackedPortal();
  const client = await connectLive(portal.port);
  for (let round = 0; round < 20; round++) {
    await sessions.open({ principal: local, sessionId: "same", title: `own ${round}` });
    client.send({ type: "subscribe", id: `r${round}`, sessionId: "same" });
    if (round % 2 === 0) await client.next("live");
    await sessions.delete("same");
    await sessions.open({
      principal: { id: "ada", rights: [] },
      sessionId: "same",
      title: "secret",
    });
    await sessions.delete("same");
  }
  await waitUntil(() => client.frames.filter(({ type }) => type === "ended").length === 20);
  expect(JSON.stringify(client.frames)).not.toContain("secret");
});
