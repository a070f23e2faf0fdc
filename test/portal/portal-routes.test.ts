import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, TOKEN, withToken, type ServedPortal } from "./start-portal.ts";
import { recoveryQuestions, toolTurn } from "./scripted-turns.ts";

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
const owner = { id: "local", rights: ["prompt", "approve", "control"] } as const;

async function opened(title = "A talk"): Promise<string> {
  const { sessionId } = await sessions.open({ principal: local, title });
  return sessionId;
}

describe("Sessions of the portal", () => {
  it("Sessions can be opened, found and listed", async () => {
    const made = await portal.post("/api/sessions", { agent: "other", title: "First" });
    expect(made).toMatchObject({ status: 201, headers: { location: "/api/sessions/ses_1" } });
    const record = await sessions.find("ses_1");
    const view = { ...record, cursor: `${record?.incarnation}.1`, page: "/sessions/ses_1" };
    expect(made.json).toEqual(view);
    expect((await portal.get("/api/sessions/ses_1")).json).toEqual({ ...view, rights: ["prompt"] });
    expect((await portal.get("/api/sessions")).json).toEqual({
      sessions: [view],
      nextPage: null,
      agents: ["demo", "other"],
      rights: ["prompt"],
    });
  });

  it("Sessions are listed in pages", async () => {
    for (let at = 0; at < 3; at++) await opened();
    const first = (await portal.get("/api/sessions?limit=2")).json;
    expect(first).toMatchObject({ sessions: [{}, {}], nextPage: expect.any(String) });
    const { nextPage } = Object(first);
    const second = await portal.get(`/api/sessions?limit=2&page=${encodeURIComponent(nextPage)}`);
    expect(second.json).toMatchObject({ sessions: [{}], nextPage: null });
    expect((await portal.get("/api/sessions?limit=0")).status).toBe(400);
  });

  it.each([
    ["GET", "/api/sessions/none", 404, "not_found"],
    ["GET", "/api/sessions/none/events", 404, "not_found"],
    ["GET", "/api/sessions/%zz", 404, "not_found"],
    ["GET", "/nothing", 404, "not_found"],
    ["DELETE", "/api/sessions", 405, "validation_failed"],
    ["PUT", "/", 405, "validation_failed"],
  ])("%s %s is answered with %i", async (method, path, status, code) => {
    const response = await portal.begin(method, path);
    expect(response.statusCode).toBe(status);
    const body = await response.toArray();
    expect(JSON.parse(Buffer.concat(body).toString())).toMatchObject({ error: { code } });
  });

  it("An unknown agent is refused with the list of agents", async () => {
    expect(await portal.post("/api/sessions", { agent: "nobody" })).toMatchObject({
      status: 404,
      json: {
        error: {
          code: "not_found",
          message: 'Agent "nobody" does not exist: expected "demo" or "other"',
        },
      },
    });
  });
});

describe("POST /api/sessions/:id/commands", () => {
  it.each([
    [
      { type: "prompt", text: "Hello" },
      { type: "prompt", content: [{ type: "text", text: "Hello" }] },
    ],
    [
      { type: "answer", approvalId: "appr_1", decision: "deny", reason: "Not now" },
      { type: "decide-approval", approvalId: "appr_1", decision: "deny", reason: "Not now" },
    ],
    [{ type: "cancel" }, { type: "cancel" }],
    [
      { type: "cancel", turnId: "turn_1" },
      { type: "cancel", turnId: "turn_1" },
    ],
    [
      { type: "withdraw", promptId: "prompt_1" },
      { type: "withdraw-prompt", promptId: "prompt_1" },
    ],
    [
      { type: "configure", mode: "ask" },
      { type: "set-mode", mode: "ask" },
    ],
  ])("A command reaches the session: %j", async (body, command) => {
    const sessionId = await opened();
    sessions.onCommand = async () => ({ status: "accepted", turnId: "turn_1" });
    const headers = { ...withToken, "idempotency-key": "once-1" };
    const answer = await portal.post(`/api/sessions/${sessionId}/commands`, body, headers);
    expect([answer.status, answer.json]).toEqual([200, { status: "accepted", turnId: "turn_1" }]);
    const from = { principal: owner, commandId: "portal:once-1" };
    expect(sessions.commanded).toEqual([{ sessionId, command, from }]);
  });

  it("Every approval request can be answered with each of its options", async () => {
    const sessionId = await opened();
    const questions = [...toolTurn(), ...recoveryQuestions()].filter(
      (event) => event.type === "approval.requested",
    );
    const answers = questions.flatMap(({ approvalId, options }) =>
      options.map((decision) => ({ type: "answer", approvalId, decision })),
    );
    for (const answer of answers) {
      const path = `/api/sessions/${sessionId}/commands`;
      expect((await portal.post(path, answer, withToken)).status).toBe(200);
    }
    expect(answers).toHaveLength(8);
    expect(sessions.commanded.map(({ command }) => command)).toEqual(
      answers.map((answer) => ({ ...answer, type: "decide-approval" })),
    );
  });

  it("A refused command is answered with its failure", async () => {
    const sessionId = await opened();
    const failure = { code: "conflict", message: "It is answered", details: { by: "x" } } as const;
    sessions.onCommand = async () => ({ status: "refused", failure });
    const body = { type: "answer", approvalId: "appr_1", decision: "allow" };
    const answer = await portal.post(`/api/sessions/${sessionId}/commands`, body, withToken);
    expect([answer.status, answer.json]).toEqual([409, { error: failure }]);
  });

  it.each([
    ["an unknown session", "none", { type: "cancel" }, 404],
    ["no type", "ses_1", {}, 400],
    ["another type", "ses_1", { type: "attach" }, 400],
    ["no text", "ses_1", { type: "prompt" }, 400],
    ["a text that is not a string", "ses_1", { type: "prompt", text: 5 }, 400],
    ["an empty text", "ses_1", { type: "prompt", text: " \n" }, 400],
    [
      "an unknown decision",
      "ses_1",
      { type: "answer", approvalId: "a", decision: "toString" },
      400,
    ],
    ["an unknown mode", "ses_1", { type: "configure", mode: "yolo" }, 400],
    ["invalid JSON", "ses_1", "{", 400],
    ["a body that is not an object", "ses_1", "[]", 400],
    ["inherited fields", "ses_1", '{"__proto__":{"type":"cancel"}}', 400],
  ])("A command is refused for %s", async (_, sessionId, body, status) => {
    await opened();
    const answer = await portal.post(`/api/sessions/${sessionId}/commands`, body, withToken);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error: { message: expect.any(String) } });
    expect(sessions.commanded).toEqual([]);
  });

  it("A command without the JSON content type is refused, since forms cannot send JSON", async () => {
    const sessionId = await opened();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
      const path = `/api/sessions/${sessionId}/commands`;
      const answer = await portal.post(
        path,
        { type: "prompt", text: "x" },
        { "content-type": type },
      );
      expect(answer.status).toBe(415);
    }
    expect(sessions.commanded).toEqual([]);
  });
});

describe("Rights", () => {
  const answering = { type: "answer", approvalId: "appr_1", decision: "allow" };

  it.each([[answering], [{ type: "cancel" }]])("Without the token, %j is refused", async (body) => {
    const sessionId = await opened();
    const answer = await portal.post(`/api/sessions/${sessionId}/commands`, body);
    expect(answer).toMatchObject({
      status: 403,
      json: { error: { code: "access_denied", hint: expect.stringContaining("spanline up") } },
    });
    expect(sessions.commanded).toEqual([]);
  });

  it("Prompting and reading on the loopback interface need no token", async () => {
    const sessionId = await opened();
    const body = { type: "prompt", text: "Hi" };
    expect((await portal.post(`/api/sessions/${sessionId}/commands`, body)).status).toBe(200);
    expect(sessions.commanded[0]?.from).toEqual({ principal: local });
  });

  it("Choosing a working directory needs the token", async () => {
    const body = { workingDirectory: tmpdir() };
    expect((await portal.post("/api/sessions", body)).status).toBe(403);
    expect((await portal.post("/api/sessions", body, withToken)).json).toMatchObject(body);
  });

  it.each([
    ["does not exist", join(tmpdir(), "spanline-no-such-folder")],
    ["is a file", import.meta.filename],
    ["is relative", "."],
  ])("A working directory that %s is refused, and no session is opened", async (_, path) => {
    const count = async () => (await sessions.list({ limit: 100 })).sessions.length;
    const before = await count();
    const answer = await portal.post("/api/sessions", { workingDirectory: path }, withToken);
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { code: "validation_failed", message: expect.stringContaining(path) } },
    });
    expect(await count()).toBe(before);
  });

  it("The token of the link becomes a cookie and is removed from the address", async () => {
    const sessionId = await opened();
    const link = await portal.get(`/sessions/${sessionId}?token=${TOKEN}&x=1`);
    const name = `spanline_${portal.port}`;
    expect(link).toMatchObject({
      status: 303,
      headers: { location: `/sessions/${sessionId}?x=1` },
    });
    expect(link.headers["set-cookie"]).toEqual([
      `${name}=${TOKEN}; Path=/; HttpOnly; SameSite=Strict`,
    ]);
    const cookie = `a=b; ${name}=${TOKEN}`;
    const path = `/api/sessions/${sessionId}/commands`;
    expect((await portal.post(path, answering, { cookie })).status).toBe(200);
    expect(sessions.commanded[0]?.from).toEqual({ principal: owner });
  });

  it("A wrong token gives no rights", async () => {
    const sessionId = await opened();
    const path = `/api/sessions/${sessionId}/commands`;
    expect((await portal.get("/?token=wrong")).status).toBe(403);
    const authorization = "Bearer wrong";
    expect((await portal.get("/api/sessions", { authorization })).status).toBe(401);
    const cookie = `spanline_${portal.port}=wrong`;
    expect((await portal.post(path, answering, { cookie })).status).toBe(403);
    expect((await portal.get("/api/sessions", { cookie })).json).toMatchObject({
      rights: ["prompt"],
    });
  });

  it("Every request needs a key where keys are required", async () => {
    const remote = await servedPortal(sessions, { keyless: false });
    const refused = await remote.get("/api/sessions");
    expect(refused).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    expect((await remote.get("/api/sessions", withToken)).status).toBe(200);
    await remote.close();
  });

  it.each([
    ["a request for another host name", { host: "evil.example" }],
    ["a page of another site", { origin: "http://evil.example" }],
    ["a page of another port", { origin: "http://localhost:3000" }],
    ["a page with a null origin", { origin: "null" }],
    ["a script of another site", { "sec-fetch-site": "cross-site" }],
    ["a script of another port", { "sec-fetch-site": "same-site" }],
  ])("Rights do not apply to %s, with or without a cookie", async (_, headers) => {
    const sessionId = await opened();
    const cookie = `spanline_${portal.port}=${TOKEN}; spanline_80=${TOKEN}`;
    const sent = { ...headers, cookie };
    const answers = [
      await portal.get("/api/sessions", sent),
      await portal.get(`/api/sessions/${sessionId}/events`, sent),
      await portal.post(`/api/sessions/${sessionId}/commands`, answering, sent),
      await portal.post("/api/sessions", {}, sent),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(answers[0]?.json).toMatchObject({ error: { code: "access_denied" } });
    expect(sessions.commanded).toEqual([]);
  });
});

describe("Internal errors", () => {
  it("An internal error is reported, and its details are not sent", async () => {
    const sessionId = await opened();
    const bug = new Error("a secret");
    sessions.onCommand = async () => Promise.reject(bug);
    const answer = await portal.post(`/api/sessions/${sessionId}/commands`, {
      type: "prompt",
      text: "x",
    });
    expect(answer).toMatchObject({ status: 500, json: { error: { code: "service_failed" } } });
    expect(answer.text).not.toContain("secret");
    expect(portal.bugs.splice(0)).toEqual([bug]);
  });
});
