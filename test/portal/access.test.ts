import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Right } from "../../src/domain/actor.ts";
import { COMMAND_TYPES, type CommandType } from "../../src/surfaces/portal/read-command.ts";
import type { LiveRequest } from "../../src/wire/live/live-frames.ts";
import { connectLive, readRefusal } from "./live-client.ts";
import { loggedSessions } from "./logged-sessions.ts";
import { servedPortal, TOKEN, withToken, type ServedPortal } from "./start-portal.ts";

const KEY = "sk-eve-for-tests-only-1";
const withKey = { authorization: `Bearer ${KEY}` };
const OWNER = { id: "ada", rights: ["prompt", "approve", "control"] } as const;
const SECRET = "the plan of ada";

/** A session of Ada, and a portal with a key of Eve. */
async function servePortal(options: {
  readonly keyless: boolean;
  readonly rights?: readonly Right[];
}) {
  const sessions = loggedSessions();
  const { keyless, rights = ["prompt"] } = options;
  const keys = [{ name: "eve", key: KEY, rights }];
  const portal = await servedPortal(sessions, { keyless, keys });
  onTestFinished(() => portal.close());
  const { sessionId } = await sessions.open({ principal: OWNER, title: SECRET });
  return { sessions, portal, sessionId };
}

/** Routes for callers without a key: the pages, which contain no data, and the way to become a caller. */
const PUBLIC_ROUTES: ReadonlySet<string> = new Set([
  ...["GET", "HEAD"].flatMap((method) =>
    ["/", "/inbox", "/sessions", "/sessions/:id", "/login", "/portal/assets/:file"].map(
      (path) => `${method} ${path}`,
    ),
  ),
  "POST /api/login",
  "POST /api/logout",
]);

/** A valid body for each route which reads one before the session. A new route without an entry fails the tests below. */
const BODIES: { readonly [route: string]: object } = {
  "POST /api/login": { key: "unknown" },
  "POST /api/sessions/:id/commands": { type: "prompt", text: "Hello" },
  "POST /api/sessions/:id/prompt": { text: "Hello" },
};

async function request(
  portal: ServedPortal,
  [method, path]: readonly [method: string, path: string],
  sessionId: string,
  headers: { readonly [name: string]: string },
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const target = path
    .replace(":id", sessionId)
    .replace(":blobId", "blob")
    .replace(":file", "index.js");
  const body = JSON.stringify(BODIES[`${method} ${path}`] ?? {});
  const response = await portal.begin(method, target, {
    headers: { ...headers, "content-type": "application/json" },
    ...(method === "POST" && { body }),
  });
  const { statusCode: status } = response;
  // A stream of events has no end.
  if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
    response.destroy();
    return { status, text: "" };
  }
  return { status, text: Buffer.concat(await response.toArray()).toString() };
}

describe("Every route of the portal", () => {
  it("A route that is not public refuses callers without a token or key, and public routes contain no data", async () => {
    const { portal, sessions, sessionId } = await servePortal({ keyless: false });
    const open = new Set<string>();
    for (const route of portal.routes) {
      for (const headers of [{}, { cookie: `spanline_${portal.port}=x` }, withBearer("x")]) {
        const { status, text } = await request(portal, route, sessionId, headers);
        if (status !== 401) open.add(route.join(" "));
        expect(text).not.toContain(SECRET);
      }
    }
    // The login itself refuses an unknown key.
    expect(open).toEqual(
      new Set([...PUBLIC_ROUTES].filter((route) => route !== "POST /api/login")),
    );
    expect(sessions.commanded).toEqual([]);
  });

  it.each([
    ["another Host", { host: "evil.example" }],
    ["another Origin", { origin: "http://evil.example" }],
    ["a null Origin", { origin: "null" }],
  ])("Every route refuses %s, also with the token", async (_, headers) => {
    const { portal, sessionId } = await servePortal({ keyless: true });
    const cookie = `spanline_${portal.port}=${TOKEN}; spanline_80=${TOKEN}`;
    const accepted: string[] = [];
    for (const route of portal.routes) {
      for (const identity of [{}, withToken, { cookie }]) {
        const { status } = await request(portal, route, sessionId, { ...identity, ...headers });
        if (status !== 403) accepted.push(`${route.join(" ")}: ${status}`);
      }
    }
    expect(accepted).toEqual([]);
    expect(await readRefusal(portal.port, { ...withToken, ...headers })).toEqual({
      status: 403,
      code: "access_denied",
    });
  });

  it.each([
    ["a key without the right to control", withKey, false],
    ["no key on this machine", {}, true],
  ])(
    "No route reads or changes the session of another principal with %s",
    async (_, headers, keyless) => {
      const { portal, sessions, sessionId } = await servePortal({ keyless });
      const found: string[] = [];
      for (const route of portal.routes.filter(([, path]) => path.startsWith("/api/"))) {
        const { status, text } = await request(portal, route, sessionId, headers);
        const isHidden = status === 404 || (status === 403 && route[0] === "DELETE");
        if (route[1].includes(":id") && !isHidden) found.push(`${route.join(" ")}: ${status}`);
        if (text.includes(SECRET)) found.push(`${route.join(" ")}: ${text}`);
      }
      expect(found).toEqual([]);
      expect(sessions.commanded).toEqual([]);
      expect(await sessions.find(sessionId)).toMatchObject({ title: SECRET });
    },
  );
});

it("The documentation of the portal lists every route, command and frame of /api", async () => {
  const { portal } = await servePortal({ keyless: true });
  const text = readFileSync(join(import.meta.dirname, "../../docs/portal.md"), "utf8");
  const routes = portal.routes.filter(([, path]) => path.startsWith("/api/"));
  const names = [
    ...routes.map(([method, path]) => `\`${method} ${path.replace(/:(\w+)/g, "{$1}")}`),
    ...COMMAND_TYPES.map((type) => `\`${type}\``),
    ...Object.keys(createFrames("ses_1")).map((type) => `\`${type}\``),
  ];
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
});

const COMMANDS: {
  readonly [Type in CommandType]: { readonly right: Right; readonly body: object };
} = {
  prompt: { right: "prompt", body: { text: "Hello" } },
  inject: { right: "prompt", body: { mode: "steer", text: "Hello" } },
  "replace-inject": { right: "prompt", body: { messageId: "m", text: "Hello" } },
  "revoke-inject": { right: "prompt", body: { messageId: "m" } },
  remind: { right: "prompt", body: { reminder: { body: "Look" } } },
  "revoke-reminder": { right: "prompt", body: { reminderId: "r" } },
  "resume-daemon": { right: "prompt", body: {} },
  "cancel-tool-call": { right: "prompt", body: { toolCallId: "t" } },
  compact: { right: "prompt", body: {} },
  delegate: { right: "prompt", body: { task: "Count the files" } },
  "trigger-worker": { right: "prompt", body: { workerId: "w", payload: "Again" } },
  "close-worker": { right: "control", body: { workerId: "w" } },
  "watch-files": { right: "prompt", body: {} },
  "unwatch-files": { right: "prompt", body: { subscriptionId: "f" } },
  answer: { right: "approve", body: { approvalId: "a", decision: "allow" } },
  cancel: { right: "control", body: {} },
  withdraw: { right: "prompt", body: { promptId: "p" } },
  revoke: { right: "approve", body: { grantId: "g" } },
  configure: { right: "prompt", body: { mode: "ask" } },
  rename: { right: "control", body: { title: "Tea" } },
};

it.each(COMMAND_TYPES)("The command %s needs its right", async (type) => {
  const { right, body } = COMMANDS[type];
  const others = (["prompt", "approve", "control"] as const).filter((other) => other !== right);
  for (const rights of [others, [right]]) {
    const { portal, sessions } = await servePortal({ keyless: false, rights });
    const { sessionId } = await sessions.open({ principal: { id: "eve", rights } });
    const path = `/api/sessions/${sessionId}/commands`;
    const { status } = await portal.post(path, { type, ...body }, withKey);
    expect([rights, status]).toEqual([rights, rights.includes(right) ? 200 : 403]);
    expect(sessions.commanded).toHaveLength(rights.includes(right) ? 1 : 0);
  }
});

/** A frame of each type about a session. A new type is a compile error here. */
function createFrames(sessionId: string): { readonly [Type in LiveRequest["type"]]: LiveRequest } {
  const id = "s";
  return {
    subscribe: { type: "subscribe", id, sessionId },
    attach: { type: "attach", id, name: "Eve", mode: "controller", takeOver: true },
    detach: { type: "detach", id },
    unsubscribe: { type: "unsubscribe", id },
    watch: { type: "watch", topic: "sessions" },
    unwatch: { type: "unwatch", topic: "sessions" },
    ping: { type: "ping", id: 1 },
  };
}

it.each([
  ["a key without the right to control", withKey, false],
  ["no key on this machine", {}, true],
])(
  "No frame of /api/live reads or changes the session of another principal with %s",
  async (_, headers, keyless) => {
    const { portal, sessions, sessionId } = await servePortal({ keyless });
    const client = await connectLive(portal.port, headers);
    client.send({ type: "watch", topic: "inbox" });
    for (const frame of Object.values(createFrames(sessionId))) client.send(frame);
    await client.next("pong");
    await sessions.log(sessionId, { type: "session.title_changed", title: SECRET });
    client.send({ type: "subscribe", id: "t", sessionId });
    expect((await client.next("ended")).error.code).toBe("not_found");
    expect((await client.next("ended")).error.code).toBe("not_found");
    expect(JSON.stringify(client.frames)).not.toContain(SECRET);
    expect(client.frames.map(({ type }) => type)).not.toContain("attached");
    expect(sessions.commanded).toEqual([]);
  },
);

it("An upgrade without a token or key is refused", async () => {
  const { portal } = await servePortal({ keyless: false });
  expect(await readRefusal(portal.port)).toEqual({ status: 401, code: "unauthorized" });
  expect(await readRefusal(portal.port, withBearer("x"))).toEqual({
    status: 401,
    code: "unauthorized",
  });
});

function withBearer(key: string): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` };
}
