import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PORTAL_LIMITS } from "../../src/surfaces/portal/portal-routes.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, withToken, type ServedPortal } from "./start-portal.ts";

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
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("Commands with content", () => {
  it("A prompt and a message have text and images, and a prompt can have images only", async () => {
    const { sessionId } = await sessions.open({ principal: local });
    sessions.onCommand = async () => ({ status: "accepted", promptId: "prompt_1" });
    const image = { mediaType: "image/png", data: PNG.toString("base64"), name: "a.png" };
    const path = `/api/sessions/${sessionId}/commands`;
    const part = { type: "image", mediaType: "image/png", base64: image.data };
    await portal.post(path, { type: "prompt", text: "See", images: [image] });
    await portal.post(path, { type: "inject", images: [image] });
    await portal.post(`/api/sessions/${sessionId}/prompt`, { text: "See", images: [image] });
    expect(sessions.commanded.map(({ command }) => command)).toEqual([
      { type: "prompt", content: [{ type: "text", text: "See" }, part] },
      { type: "inject", mode: "steer", content: [part] },
      { type: "prompt", content: [{ type: "text", text: "See" }, part] },
    ]);
  });

  it.each([
    ["no text and no image", { images: [] }],
    ["an unknown type", { images: [{ mediaType: "image/svg+xml", data: "AAAA" }] }],
    ["invalid base64", { images: [{ mediaType: "image/png", data: "<>" }] }],
    ["too many images", { images: Array.from({ length: 21 }, () => ({})) }],
    ["images which are not an array", { images: "AAAA" }],
  ])("A prompt with %s is rejected", async (_, body) => {
    const { sessionId } = await sessions.open({ principal: local });
    const answer = await portal.post(`/api/sessions/${sessionId}/commands`, {
      type: "prompt",
      ...body,
    });
    expect(answer.status).toBe(400);
    expect(sessions.commanded).toEqual([]);
  });

  it("A prompt has up to 8 MB, and another request up to 1 MB", async () => {
    const { sessionId } = await sessions.open({ principal: local });
    const text = "x".repeat(2_000_000);
    const path = `/api/sessions/${sessionId}`;
    expect((await portal.post(`${path}/commands`, { type: "prompt", text })).status).toBe(200);
    const title = "x".repeat(1_000_001);
    expect((await portal.post("/api/sessions", { title })).status).toBe(413);
    const limits = [`${path}/commands`, `${path}/prompt`].map((at) => PORTAL_LIMITS.bodyBytes(at));
    expect(limits).toEqual([8_000_000, 8_000_000]);
  });

  it("An approval can replace the arguments, and a session is renamed, with the rights for both", async () => {
    const { sessionId } = await sessions.open({ principal: local });
    const path = `/api/sessions/${sessionId}/commands`;
    const answer = { type: "answer", approvalId: "a", decision: "allow", input: { to: "bob" } };
    const rename = { type: "rename", title: "Tea" };
    expect((await portal.post(path, answer)).status).toBe(403);
    expect((await portal.post(path, rename)).status).toBe(403);
    expect((await portal.post(path, { ...answer, input: [1] }, withToken)).status).toBe(400);
    const long = { type: "rename", title: "x".repeat(201) };
    expect((await portal.post(path, long, withToken)).status).toBe(400);
    expect((await portal.post(path, answer, withToken)).status).toBe(200);
    expect((await portal.post(path, rename, withToken)).status).toBe(200);
    expect(sessions.commanded.map(({ command }) => command)).toEqual([
      { type: "decide-approval", approvalId: "a", decision: "allow", input: { to: "bob" } },
      { type: "set-title", title: "Tea" },
    ]);
  });
});

describe("Sessions as a whole", () => {
  it("A session is deleted with the right to control, and no other principal's session is", async () => {
    const { sessionId } = await sessions.open({ principal: ada });
    const remove = (headers = {}) =>
      portal.begin("DELETE", `/api/sessions/${sessionId}`, { headers });
    expect((await remove()).statusCode).toBe(403);
    expect((await remove(withToken)).statusCode).toBe(200);
    expect(await sessions.find(sessionId)).toBeUndefined();
    expect((await remove(withToken)).statusCode).toBe(404);
  });

  it("Sessions are filtered by state", async () => {
    await sessions.open({ principal: local });
    const count = async (state: string): Promise<unknown> => {
      const { json, status } = await portal.get(`/api/sessions?state=${state}`);
      return status === 200 ? Object(json).sessions.length : status;
    };
    expect([await count("idle"), await count("waiting"), await count("x")]).toEqual([1, 0, 400]);
  });

  it("A fork copies a readable session, once per idempotency key", async () => {
    const opened: unknown[] = [];
    const open = sessions.open.bind(sessions);
    sessions.open = async (options) => {
      opened.push(options);
      return open(options);
    };
    const { sessionId } = await open({ principal: local, title: "Tea", agent: "other" });
    const hidden = await open({ principal: ada });
    const path = `/api/sessions/${sessionId}/fork`;
    const key = { "idempotency-key": "k1" };
    const first = await portal.post(path, { through: 1 }, key);
    expect(first).toMatchObject({ status: 201, json: { title: "Tea (fork)", agent: "other" } });
    expect(opened).toMatchObject([
      { copyOf: sessionId, copyThrough: 1, agent: "other", principal: local },
    ]);
    expect((await portal.post(path, { through: 1 }, key)).json).toEqual(first.json);
    expect((await portal.post(path, { through: 2 }, key)).status).toBe(409);
    expect((await portal.post(path, { through: 0 })).status).toBe(400);
    expect((await portal.post(`/api/sessions/${hidden.sessionId}/fork`, {})).status).toBe(404);
  });

  it("An export has each public event as a line, and ends at the end of the log", async () => {
    const { sessionId } = await sessions.open({ principal: local });
    const event = { type: "session.title_changed", title: "Tea" } as const;
    const events = await sessions.log(sessionId, event, event);
    await sessions.logInternal(sessionId, event);
    const answer = await portal.get(`/api/sessions/${sessionId}/export`);
    expect(answer.headers).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": `attachment; filename="${sessionId}.jsonl"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    const lines = answer.text.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line)).slice(1)).toEqual(events);
    const hidden = await sessions.open({ principal: ada });
    expect((await portal.get(`/api/sessions/${hidden.sessionId}/export`)).status).toBe(404);
  });

  it("An image is served inline by its bytes, and any other content as a download in a sandbox", async () => {
    const { sessionId } = await sessions.open({ principal: local });
    const hidden = await sessions.open({ principal: ada });
    const html = Buffer.from("<script>alert(1)</script>");
    await sessions.store.putBlob(sessionId, "blob_png", PNG);
    await sessions.store.putBlob(sessionId, 'blob_"x\r\n', html);
    await sessions.store.putBlob(hidden.sessionId, "blob_png", PNG);
    const get = (id: string, blobId: string) =>
      portal.get(`/api/sessions/${id}/blobs/${encodeURIComponent(blobId)}`);
    const sandbox = {
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    };
    expect((await get(sessionId, "blob_png")).headers).toMatchObject({
      ...sandbox,
      "content-type": "image/png",
      "content-disposition": "inline",
    });
    const download = await get(sessionId, 'blob_"x\r\n');
    expect(download.text).toBe(html.toString());
    expect(download.headers).toMatchObject({
      ...sandbox,
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="blob__x__.txt"',
    });
    expect((await get(sessionId, "none")).status).toBe(404);
    expect((await get(hidden.sessionId, "blob_png")).status).toBe(404);
  });
});
