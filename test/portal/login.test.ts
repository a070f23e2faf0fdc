import { describe, expect, it, onTestFinished } from "vitest";
import type { AccessKey } from "../../src/http/access/access-keys.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { advanceUntil, createFakeClock } from "../support/fake-clock.ts";
import { createPolicy } from "../support/session/create-policy.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../support/session/session-world.ts";
import { connectLive } from "./live-client.ts";
import { loggedSessions } from "./logged-sessions.ts";
import { servedPortal, TOKEN, withToken, type ServedPortal } from "./start-portal.ts";

const ADA = "sk-ada-for-tests-only-1";
const BOB = "sk-bob-for-tests-only-1";
const ALL = ["prompt", "approve", "control"] as const;
const KEYS: readonly AccessKey[] = [
  { name: "ada", key: ADA, rights: ALL },
  { name: "bob", key: BOB, rights: ALL },
  { name: "eve", key: "sk-eve-for-tests-only-1", rights: ["prompt"], agents: ["other"] },
];

/** A portal which requires a key or the token, like a portal on a public address. */
async function keyedPortal(options: Parameters<typeof servedPortal>[1] = {}) {
  const sessions = loggedSessions();
  const portal = await servedPortal(sessions, { keyless: false, keys: KEYS, ...options });
  onTestFinished(() => portal.close());
  return { sessions, portal };
}

/** Logs in and returns the cookie. */
async function login(portal: ServedPortal, key: string): Promise<{ readonly cookie: string }> {
  const answer = await portal.post("/api/login", { key });
  expect(answer.status).toBe(200);
  return { cookie: answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? "" };
}

describe("Logging in to the portal", () => {
  it("A key is exchanged for a cookie that scripts cannot read and other sites cannot send", async () => {
    const { portal } = await keyedPortal();
    const answer = await portal.post("/api/login", { key: ` ${ADA}\n` });
    expect(answer.json).toEqual({ principal: { id: "ada", rights: ALL } });
    const [cookie = ""] = answer.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(
      new RegExp(
        `^spanline_${portal.port}=login\\.[\\w-]{32}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Strict$`,
      ),
    );
    const headers = await login(portal, ADA);
    expect((await portal.get("/api/me", headers)).json).toEqual({
      principal: { id: "ada", rights: ALL },
      agents: ["demo", "other"],
    });
    const made = await portal.post("/api/sessions", {}, headers);
    expect(made.json).toMatchObject({ principal: "ada" });
    const live = await connectLive(portal.port, headers);
    expect((await live.next("ready")).principal.id).toBe("ada");
  });

  it("The token and a key are also accepted as bearer, and the token as a key for the login", async () => {
    const { portal } = await keyedPortal();
    const me = async (headers: { readonly [name: string]: string }): Promise<unknown> =>
      Object((await portal.get("/api/me", headers)).json).principal?.id;
    expect(await me(withToken)).toBe("local");
    expect(await me({ authorization: `Bearer ${BOB}` })).toBe("bob");
    expect(await me(await login(portal, TOKEN))).toBe("local");
    expect(await me({ authorization: "Bearer wrong" })).toBeUndefined();
    expect(await me({})).toBeUndefined();
  });

  it("The store has neither the key nor the secret of a login", async () => {
    const { portal, sessions } = await keyedPortal();
    const { cookie } = await login(portal, ADA);
    const secret = cookie.split("login.")[1] ?? "";
    const { records } = await sessions.store.listRecords({ scope: "portal-login", limit: 10 });
    expect(records).toMatchObject([{ value: { principal: "ada" } }]);
    const text = JSON.stringify(records);
    expect([secret.length, text.includes(secret), text.includes(ADA)]).toEqual([32, false, false]);
  });

  it("A login ends with a logout, also for its open connections", async () => {
    const { portal } = await keyedPortal();
    const [first, second] = [await login(portal, ADA), await login(portal, ADA)];
    const [live, other] = [
      await connectLive(portal.port, first),
      await connectLive(portal.port, second),
    ];
    const answer = await portal.post("/api/logout", {}, first);
    expect(answer.headers["set-cookie"]).toEqual([
      `spanline_${portal.port}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
    ]);
    expect(await live.closed).toBe(1000);
    expect((await portal.get("/api/me", first)).status).toBe(401);
    expect((await portal.get("/api/me", second)).status).toBe(200);
    other.send({ type: "ping", id: 1 });
    await other.next("pong");
  });

  it("A login ends when its key leaves the configuration, and when it expires", async () => {
    const clock = createFakeClock();
    const sessions = loggedSessions(createMemoryStore({ clock }));
    const [first, second] = [
      await servedPortal(sessions, { keyless: false, clock, keys: KEYS }),
      await servedPortal(sessions, { keyless: false, clock, keys: KEYS.slice(1) }),
    ];
    onTestFinished(async () => {
      await first.close();
      await second.close();
    });
    const { cookie } = await login(first, ADA);
    const there = { cookie: cookie.replace(`_${first.port}`, `_${second.port}`) };
    expect((await second.get("/api/me", there)).status).toBe(401);
    const live = await connectLive(first.port, { cookie });
    await live.next("ready");
    clock.advance(14 * 86_400_000);
    await advanceUntil(clock, live.closed);
    expect(await live.closed).toBe(1000);
    expect((await first.get("/api/me", { cookie })).status).toBe(401);
  });

  it("Wrong keys are limited by address, and a locked address cannot try the right key", async () => {
    const clock = createFakeClock();
    const { portal } = await keyedPortal({ clock });
    const attempt = async (key: string) => (await portal.post("/api/login", { key })).status;
    for (let at = 0; at < 10; at++) expect(await attempt(`wrong-${at}`)).toBe(401);
    const locked = await portal.post("/api/login", { key: ADA });
    expect([locked.status, locked.headers["retry-after"]]).toEqual([429, "300"]);
    clock.advance(300_000);
    expect(await attempt(ADA)).toBe(200);
  });

  it.each([
    ["of another origin", { origin: "http://evil.example" }, 403],
    ["of another site", { "sec-fetch-site": "cross-site" }, 403],
    ["of another port of this machine", { "sec-fetch-site": "same-site" }, 403],
    ["with another Host", { host: "evil.example" }, 403],
    ["of a form", { "content-type": "text/plain" }, 415],
  ])("A login or logout %s is refused", async (_, headers, status) => {
    const { portal } = await keyedPortal();
    expect((await portal.post("/api/login", { key: ADA }, headers)).status).toBe(status);
    expect((await portal.post("/api/logout", {}, headers)).status).toBe(status);
  });

  it("A key which is limited to some agents sees and opens only their sessions", async () => {
    const { portal, sessions } = await keyedPortal();
    const eve = { id: "eve", rights: ["prompt"] } as const;
    const hidden = await sessions.open({ principal: eve, agent: "demo" });
    const own = await sessions.open({ principal: eve, agent: "other" });
    const headers = await login(portal, "sk-eve-for-tests-only-1");
    expect((await portal.get("/api/sessions", headers)).json).toMatchObject({
      sessions: [{ sessionId: own.sessionId }],
      agents: ["other"],
    });
    expect((await portal.get(`/api/sessions/${hidden.sessionId}`, headers)).status).toBe(404);
    expect((await portal.post("/api/sessions", {}, headers)).json).toMatchObject({
      agent: "other",
    });
    expect((await portal.post("/api/sessions", { agent: "demo" }, headers)).status).toBe(404);
    const live = await connectLive(portal.port, headers);
    expect((await live.next("ready")).agents).toEqual(["other"]);
    live.send({ type: "subscribe", id: "s", sessionId: hidden.sessionId });
    expect((await live.next("ended")).error.code).toBe("not_found");
    live.send({ type: "watch", topic: "sessions" });
    expect((await live.next("sessions")).sessions).toMatchObject([
      { agent: "other" },
      { agent: "other" },
    ]);
  });
});

describe("People as principals", () => {
  it("Two people fill a quorum, one person cannot, and the log names who decided", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "pay" }), says("Paid.")]);
    const pay = createTool({ name: "pay" }, () => "paid");
    const policy = createPolicy([["pay", "ask", 2]]);
    const world = await openWorld(createAgent({ provider, tools: [pay], policy }));
    const portal = await servedPortal(world.sessions, { keyless: false, keys: KEYS });
    onTestFinished(() => portal.close());
    await world.prompt("Pay.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const path = `/api/sessions/${world.sessionId}/commands`;
    const allow = { type: "answer", approvalId, decision: "allow" };
    const ada = await login(portal, ADA);
    expect((await portal.post(path, allow)).status).toBe(401);
    expect((await portal.post(path, allow, ada)).status).toBe(200);
    expect((await portal.post(path, allow, ada)).status).toBe(409);
    expect(await world.listEvents("approval.resolved")).toEqual([]);
    expect((await portal.post(path, allow, await login(portal, BOB))).status).toBe(200);
    await world.waitForEvent("turn.finished");
    const log = await world.readLog();
    const deciders = log.flatMap(({ event, actor }) =>
      event.type === "approval.voted" || event.type === "approval.resolved"
        ? [[event.type, actor?.principal]]
        : [],
    );
    expect(deciders.at(0)).toEqual(["approval.voted", "ada"]);
    expect(deciders.at(-1)).toEqual(["approval.resolved", "bob"]);
  });
});
