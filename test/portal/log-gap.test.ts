import { expect, it, onTestFinished } from "vitest";
import { createSessions, type RunningSessions } from "../../src/session/runtime/create-sessions.ts";
import type { Store } from "../../src/store/store.ts";
import { opened, tamper, temporaryFile } from "../store/sqlite-support.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createScriptedProvider, says } from "../support/session/scripted-provider.ts";
import { createAgent, ME } from "../support/session/session-world.ts";
import { sseClient } from "./sse-client.ts";
import { servedPortal, withToken } from "./start-portal.ts";

function sessionsOn(store: Store): RunningSessions {
  const agent = createAgent({ provider: createScriptedProvider([says("Yes.")]) });
  const sessions = createSessions({
    store,
    agents: [agent],
    clock: createFakeClock(),
    owner: "test",
  });
  onTestFinished(() => sessions.close());
  return sessions;
}

/** The portal over a session whose log of `count` events was damaged by SQL. */
async function damagedBy(sql: (count: number) => string) {
  const file = temporaryFile();
  const store = await opened({ file });
  const before = sessionsOn(store);
  const { sessionId } = await before.open({ principal: ME });
  for (let count = 0; count < 8; count++)
    await before.command(sessionId, { type: "set-title", title: `T${count}` }, { principal: ME });
  const { seq, incarnation } = (await before.find(sessionId)) ?? { seq: 0, incarnation: "" };
  await before.close();
  await store.close();
  await tamper(file, (database) => database.exec(sql(seq)));
  const portal = await servedPortal(sessionsOn(await opened({ file })));
  onTestFinished(() => portal.close());
  /** Reads events from a cursor: the position of each event, or the range of a gap. */
  const read = async (after: number, count: number): Promise<readonly unknown[]> => {
    const cursor = after === 0 ? "" : `?cursor=${incarnation}.${after}`;
    const client = await sseClient(portal, `/api/sessions/${sessionId}/events${cursor}`, withToken);
    const seen = await client.take(count);
    client.close();
    return seen.map(({ id, name, data }) => {
      const number = Number(id.slice(incarnation.length + 1));
      if (name !== "gap") return number;
      const { error } = JSON.parse(data) as { error: { message: string; details: object } };
      return [number, error];
    });
  };
  return { read, last: seq };
}

const gap = (seq: number, through: number, message: string) => [
  through,
  { code: "store_damaged", message: expect.stringContaining(message), details: { seq, through } },
];

it("The stream of a damaged log has a gap event for each gap and continues after it", async () => {
  const { read } = await damagedBy(
    () => `DELETE FROM events WHERE seq IN (4, 5); UPDATE events SET body = '{' WHERE seq = 7`,
  );
  const first = gap(4, 5, "Events 4 to 5 of the log are missing or cannot be read");
  const second = gap(7, 7, "Event 7 of the log is missing or cannot be read");
  const events = (await read(0, 7)).filter((item) => typeof item !== "number" || item > 2);
  expect(events.slice(0, 5)).toEqual([3, first, 6, second, 8]);
  expect(await read(3, 4)).toEqual([first, 6, second, 8]);
  expect(await read(5, 3)).toEqual([6, second, 8]);
});

it("The stream of a log whose end is missing says so and stays open", async () => {
  const { read, last } = await damagedBy((count) => `DELETE FROM events WHERE seq > ${count - 2}`);
  const message = `Events ${last - 1} to ${last} of the log are missing`;
  expect(await read(last - 3, 2)).toEqual([last - 2, gap(last - 1, last, message)]);
  expect(await read(last - 2, 1)).toEqual([gap(last - 1, last, message)]);
});
