import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectLive, readRefusal } from "./live-client.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, TOKEN, withToken, type ServedPortal } from "./start-portal.ts";

let sessions: LoggedSessions;
let portal: ServedPortal;

beforeEach(async () => {
  sessions = loggedSessions();
  portal = await servedPortal(sessions);
});

afterEach(async () => {
  await portal.close();
});

const local = { id: "local", rights: ["prompt"] } as const;
const ada = { id: "ada", rights: ["prompt"] } as const;

async function opened(principal: typeof local | typeof ada = local): Promise<string> {
  return (await sessions.open({ principal })).sessionId;
}

function title(text: string) {
  return { type: "session.title_changed", title: text } as const;
}

/** A cursor as text. The incarnation of a log is random. */
async function cursorAt(sessionId: string, seq: number): Promise<string> {
  return `${(await sessions.find(sessionId))?.incarnation}.${seq}`;
}

describe("A connection to /api/live", () => {
  it("The first frame names the caller, its rights, the agents and the version", async () => {
    const client = await connectLive(portal.port, withToken);
    expect(await client.next("ready")).toEqual({
      type: "ready",
      protocol: 1,
      principal: { id: "local", rights: ["prompt", "approve", "control"] },
      agents: ["demo", "other"],
      version: "1.2.3",
      now: expect.any(Number),
    });
    const guest = await connectLive(portal.port);
    expect((await guest.next("ready")).principal.rights).toEqual(["prompt"]);
  });

  it("An upgrade with a wrong token, Host or Origin is refused", async () => {
    const { port } = portal;
    const unauthorized = { status: 401, code: "unauthorized" };
    const denied = { status: 403, code: "access_denied" };
    expect(await readRefusal(port, { authorization: "Bearer wrong" })).toEqual(unauthorized);
    expect(await readRefusal(port, { host: "evil.example" })).toEqual(denied);
    expect(await readRefusal(port, { origin: "http://evil.example" })).toEqual(denied);
    expect(await readRefusal(port, { "sec-fetch-site": "cross-site" })).toEqual(denied);
    const keyless = await servedPortal(sessions, { keyless: false });
    expect(await readRefusal(keyless.port)).toEqual(unauthorized);
    const cookie = `spanline_${keyless.port}=${TOKEN}`;
    const client = await connectLive(keyless.port, { cookie });
    expect((await client.next("ready")).principal.rights).toContain("approve");
    await keyless.close();
  });

  it("A ping is answered, and invalid or unknown frames are refused without closing the connection", async () => {
    const client = await connectLive(portal.port);
    client.sendText("{");
    client.sendText(JSON.stringify({ type: "subscribe", id: "a" }));
    client.sendText(JSON.stringify({ type: "fly", id: "b" }));
    client.sendText(JSON.stringify({ type: "ping", id: 7, later: true }));
    expect(await client.next("pong")).toEqual({ type: "pong", id: 7 });
    const refused = client.frames.filter(({ type }) => type === "refused");
    const code = "invalid_message";
    expect(refused).toEqual([
      { type: "refused", error: { code, message: expect.stringContaining("not valid JSON") } },
      {
        type: "refused",
        id: "a",
        error: { code, message: 'The frame "subscribe" is not valid: "sessionId" is missing' },
      },
      {
        type: "refused",
        id: "b",
        error: { code, message: expect.stringContaining('Frame "fly" does not exist') },
      },
    ]);
  });
});

describe("Subscriptions of /api/live", () => {
  it("The history is sent first, then the live mark, then new events", async () => {
    const sessionId = await opened();
    await sessions.log(sessionId, title("One"), title("Two"));
    const client = await connectLive(portal.port);
    client.send({ type: "subscribe", id: "s", sessionId });
    expect(await client.next("live")).toEqual({
      type: "live",
      id: "s",
      cursor: await cursorAt(sessionId, 3),
    });
    expect(await client.takeSeqs("s", 3)).toEqual([1, 2, 3]);
    const [logged] = await sessions.log(sessionId, title("Three"));
    expect(await client.next("events")).toEqual({
      type: "events",
      id: "s",
      cursor: await cursorAt(sessionId, 4),
      events: [logged],
    });
    const types = client.frames.map(({ type }) => type);
    expect(types).toEqual(["ready", "events", "live", "events"]);
  });

  it("A subscription with a cursor continues after the cursor, and is live at once at the end", async () => {
    const sessionId = await opened();
    await sessions.log(sessionId, title("One"), title("Two"));
    const client = await connectLive(portal.port);
    client.send({ type: "subscribe", id: "a", sessionId, cursor: await cursorAt(sessionId, 2) });
    expect(await client.takeSeqs("a", 1)).toEqual([3]);
    expect((await client.next("live")).id).toBe("a");
    client.send({ type: "subscribe", id: "b", sessionId, cursor: await cursorAt(sessionId, 3) });
    expect((await client.next("live")).id).toBe("b");
  });

  it("Internal events are left out, and the cursor passes them", async () => {
    const sessionId = await opened();
    await sessions.logInternal(sessionId, title("Hidden"));
    const client = await connectLive(portal.port);
    client.send({ type: "subscribe", id: "s", sessionId });
    expect((await client.next("live")).cursor).toBe(await cursorAt(sessionId, 2));
    expect(await client.takeSeqs("s", 1)).toEqual([1]);
  });

  it.each([
    ["an unknown session", "none", undefined, "not_found"],
    ["another principal's session", "ses_1", undefined, "not_found"],
    ["a cursor of another log", "ses_2", "another.1", "cursor_gone"],
    ["a cursor after the end", "ses_2", "end+1", "cursor_ahead"],
  ])("A subscription to %s ends", async (_, sessionId, cursor, code) => {
    await opened(ada);
    const own = await opened();
    const client = await connectLive(portal.port);
    const requestedCursor = cursor === "end+1" ? await cursorAt(own, 2) : cursor;
    client.send({
      type: "subscribe",
      id: "s",
      sessionId,
      ...(requestedCursor && { cursor: requestedCursor }),
    });
    expect((await client.next("ended")).error.code).toBe(code);
    expect(client.frames.map(({ type }) => type)).toEqual(["ready", "ended"]);
  });

  it("A caller with the right to control reads the sessions of every principal", async () => {
    const sessionId = await opened(ada);
    const client = await connectLive(portal.port, withToken);
    client.send({ type: "subscribe", id: "s", sessionId });
    expect((await client.next("live")).id).toBe("s");
  });

  it("A subscription ends when its session is deleted, also if another is created under its id", async () => {
    const sessionId = await opened();
    const client = await connectLive(portal.port);
    client.send({ type: "subscribe", id: "s", sessionId });
    await client.next("live");
    await sessions.delete(sessionId);
    await sessions.open({ principal: ada, sessionId });
    expect((await client.next("ended")).error).toMatchObject({ code: "cursor_gone" });
    expect(await client.takeSeqs("s", 1)).toEqual([1]);
    expect(client.frames.filter(({ type }) => type === "events")).toHaveLength(1);
  });

  it("After unsubscribe no event of the session is sent, and the id can be used again", async () => {
    const sessionId = await opened();
    const client = await connectLive(portal.port);
    client.send({ type: "subscribe", id: "s", sessionId });
    await client.next("live");
    client.send({ type: "subscribe", id: "s", sessionId });
    expect((await client.next("refused")).error.code).toBe("conflict");
    client.send({ type: "unsubscribe", id: "s" });
    client.send({ type: "ping", id: 1 });
    await client.next("pong");
    await sessions.log(sessionId, title("Unseen"));
    client.send({ type: "subscribe", id: "s", sessionId, cursor: await cursorAt(sessionId, 2) });
    await client.next("live");
    expect(await client.takeSeqs("s", 1)).toEqual([1]);
    expect(client.frames.filter(({ type }) => type === "events")).toHaveLength(1);
  });

  it("A connection has at most 200 subscriptions", async () => {
    const sessionId = await opened();
    const client = await connectLive(portal.port);
    for (let at = 0; at < 201; at++) client.send({ type: "subscribe", id: `s${at}`, sessionId });
    expect(await client.next("refused")).toMatchObject({
      id: "s200",
      error: { code: "overloaded", message: expect.stringContaining("200") },
    });
  });

  it("The connection closes when the sessions of the process close, so that the client reconnects", async () => {
    const sessionId = await opened();
    const client = await connectLive(portal.port);
    client.send({ type: "subscribe", id: "s", sessionId });
    await client.next("live");
    await sessions.store.close();
    expect(await client.closed).toBe(1000);
  });
});
