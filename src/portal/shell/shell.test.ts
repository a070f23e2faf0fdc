import { describe, expect, it } from "vitest";
import type { SessionSummary } from "../../wire/live/live-frames.ts";
import { describeConnection } from "./describe-connection.ts";
import { filterSessions, groupSessions, isFiltering, NO_FILTER } from "./filter-sessions.ts";
import { formatSessionPath, parseRoute } from "./route.ts";
import { createToasts } from "./toasts.ts";

describe("Addresses of the portal", () => {
  it.each([
    ["/", { page: "inbox" }],
    ["/inbox", { page: "inbox" }],
    ["/sessions", { page: "sessions" }],
    ["/sessions/", { page: "sessions" }],
    ["/sessions/ses_1", { page: "session", sessionId: "ses_1" }],
    ["/sessions/a%2Fb", { page: "session", sessionId: "a/b" }],
    ["/sessions/%zz", { page: "unknown" }],
    ["/sessions/a/b", { page: "unknown" }],
    ["/login", { page: "login" }],
    ["/elsewhere", { page: "unknown" }],
  ])("The address %s is read as its page", (path, route) => {
    expect(parseRoute(path)).toEqual(route);
  });

  it("The path of a session is read as the same session", () => {
    const path = formatSessionPath("../a b?#", 7);
    expect(path).toBe("/sessions/..%2Fa%20b%3F%23#7");
    expect(parseRoute(path.slice(0, -2))).toEqual({ page: "session", sessionId: "../a b?#" });
  });
});

describe("The banner of the connection", () => {
  const at = { now: 100_000, startedAt: 0 };
  const state = { lastFrameAt: 88_000, error: null };

  it("A live connection has no banner, and an outage has the age of the last event", () => {
    expect(describeConnection({ ...state, status: "live" }, at)).toBeUndefined();
    expect(describeConnection({ ...state, status: "reconnecting" }, at)).toEqual({
      tone: "warning",
      text: "Reconnecting, last event 12 s ago",
      action: "retry",
    });
  });

  it("The first connection has a banner only if it takes long", () => {
    const connecting = { ...state, status: "connecting", lastFrameAt: null } as const;
    expect(describeConnection(connecting, { now: 1000, startedAt: 0 })).toBeUndefined();
    expect(describeConnection(connecting, { now: 2000, startedAt: 0 })?.text).toBe(
      "Connecting to the bridge …",
    );
  });

  it("A refused page offers the sign-in, and an outdated page the reload", () => {
    const error = { code: "unauthorized", message: "This server requires its token" };
    expect(describeConnection({ ...state, status: "refused", error }, at)).toEqual({
      tone: "danger",
      text: "This server requires its token",
      action: "sign-in",
    });
    expect(describeConnection({ ...state, status: "outdated" }, at)?.action).toBe("reload");
  });
});

describe("The list of sessions", () => {
  const session = (sessionId: string, fields: Partial<SessionSummary>): SessionSummary => ({
    sessionId,
    agent: "demo",
    principal: "ada",
    title: null,
    workingDirectory: null,
    state: "idle",
    createdAt: 0,
    updatedAt: 0,
    cursor: "k1.1",
    ...fields,
  });
  const sessions = [
    session("ses_1", { title: "Fix the tests", state: "running", updatedAt: 9 * 86_400_000 }),
    session("ses_2", { title: "Tea", agent: "cook", updatedAt: 8 * 86_400_000 }),
    session("ses_3", { workingDirectory: "/srv/tests", state: "waiting" }),
  ];
  const search = (filter: Partial<typeof NO_FILTER>): string[] =>
    filterSessions(sessions, { ...NO_FILTER, ...filter }).map(({ sessionId }) => sessionId);

  it("Sessions are found by words of their title, agent, folder and id, by state and by agent", () => {
    expect(search({})).toEqual(["ses_1", "ses_2", "ses_3"]);
    expect(search({ search: " TESTS " })).toEqual(["ses_1", "ses_3"]);
    expect(search({ search: "fix tests" })).toEqual(["ses_1"]);
    expect(search({ search: "SES_2" })).toEqual(["ses_2"]);
    expect(search({ state: "running" })).toEqual(["ses_1"]);
    expect(search({ agent: "cook" })).toEqual(["ses_2"]);
    expect([isFiltering(NO_FILTER), isFiltering({ ...NO_FILTER, search: "a" })]).toEqual([
      false,
      true,
    ]);
  });

  it("Sessions are grouped by age, and waiting sessions come first", () => {
    const groups = groupSessions(sessions, 9 * 86_400_000 + 1000);
    expect(groups.map(({ label, sessions: [first] }) => [label, first?.sessionId])).toEqual([
      ["Waiting for you", "ses_3"],
      ["Today", "ses_1"],
      ["Last 7 days", "ses_2"],
    ]);
  });
});

describe("Errors of commands", () => {
  const failure = (code: string) =>
    Promise.resolve({ ok: false, error: { code, message: "No" } } as const);
  const success = Promise.resolve({ ok: true, value: undefined } as const);

  it("An error is shown until the same command succeeds, is dismissed, or the bridge is back", async () => {
    const toasts = createToasts();
    const keys = (): string[] => toasts.store.get().map(({ key }) => key);
    await toasts.watch("rename", "The session was not renamed", failure("conflict"));
    await toasts.watch("mode", "The mode was not changed", failure("connect_failed"));
    await toasts.watch("rename", "The session was not renamed", failure("conflict"));
    expect(keys()).toEqual(["mode", "rename"]);
    toasts.dismissOutages();
    expect(keys()).toEqual(["rename"]);
    await toasts.watch("rename", "The session was not renamed", success);
    expect(keys()).toEqual([]);
    await toasts.watch("fork", "The session was not forked", failure("conflict"));
    toasts.dismiss("fork");
    expect(keys()).toEqual([]);
  });
});
