import { createHash } from "node:crypto";
import { text as textOf } from "node:stream/consumers";
import { parseSync } from "oxc-parser";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ERROR_CODES } from "../../src/domain/errors.ts";
import { EVENT_MANIFEST } from "../../src/domain/events/event-manifest.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { pageInVm } from "./page-in-vm.ts";
import { servedPortal, withToken, type ServedPortal } from "./start-portal.ts";
import { beforeApproval, HOSTILE, hostileTurn, riskyQuestion } from "./scripted-turns.ts";

let sessions: LoggedSessions;
let portal: ServedPortal;

beforeEach(async () => {
  sessions = loggedSessions();
  portal = await servedPortal(sessions);
});

afterEach(async () => {
  await portal.close();
});

function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start) + start.length;
  return text.slice(from, text.indexOf(end, from));
}

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

describe.each(["/", "/sessions/ses_1"])("The page %s", (path) => {
  it("A page lets the browser run and load only its inline content", async () => {
    const { text, headers, status } = await portal.get(path);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = String(headers["content-security-policy"]).split("; ");
    expect(policy).toEqual([
      "default-src 'none'",
      `script-src ${hash(between(text, "<script>", "</script>"))}`,
      `style-src ${hash(between(text, "<style>", "</style>"))}`,
      "img-src data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(text).not.toMatch(/https?:\/\/|style=|\son\w+=/);
  });

  it("A page's script can be parsed and never turns text into markup", async () => {
    const script = between((await portal.get(path)).text, "<script>", "</script>");
    expect(parseSync("page.js", script, { sourceType: "script" }).errors).toEqual([]);
    expect(script).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|eval\(|new Function/,
    );
  });

  it("HEAD is answered like GET, without the body", async () => {
    const whole = await portal.get(path);
    const head = await portal.begin("HEAD", path);
    expect([head.statusCode, await textOf(head)]).toEqual([200, ""]);
    expect(head.headers["content-length"]).toBe(whole.headers["content-length"]);
  });

  it("A page contains no data of a session", async () => {
    const empty = await portal.get(path);
    const principal = { id: "local", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal, title: HOSTILE });
    await sessions.log(sessionId, ...hostileTurn());
    expect((await portal.get(path)).text).toBe(empty.text);
  });
});

describe("The session page", () => {
  it("The session page handles only event types that exist", async () => {
    const { text } = await portal.get("/sessions/ses_1");
    const named = [...text.matchAll(/^ {2}"([a-z]+\.[a-z.]+)": /gm)].map((match) => match[1] ?? "");
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((type) => !(type in EVENT_MANIFEST))).toEqual([]);
  });
});

describe("Approval requests on the session page", () => {
  it("An approval request is shown as text with the details that its rule defines", async () => {
    const principal = { id: "local", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal });
    const page = await pageInVm(portal, `/sessions/${sessionId}`);
    await eventually(() => {
      page.opened();
      expect(page.element("connection").textContent).toBe("live");
    });
    page.show(riskyQuestion(HOSTILE, "high"));
    const said = page.elements("p").map(({ textContent }) => textContent);
    expect(said).toEqual(
      expect.arrayContaining([
        HOSTILE,
        "Risk: high",
        "Deleting is asked about (command_rule)",
        "2 different people must approve.",
      ]),
    );
  });
});

describe("Plans on the session page", () => {
  it("A plan is shown once, in its last state, as text", async () => {
    const principal = { id: "local", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal });
    const page = await pageInVm(portal, `/sessions/${sessionId}`);
    await eventually(() => {
      page.opened();
      expect(page.element("connection").textContent).toBe("live");
    });
    const entry = { content: HOSTILE, priority: "medium" } as const;
    page.show({ type: "plan.updated", entries: [{ ...entry, status: "in_progress" }] });
    page.show({ type: "plan.updated", entries: [{ ...entry, status: "completed" }] });
    const said = page.elements("li").map(({ textContent }) => textContent);
    expect(said.at(-1)).toBe(`☑ ${HOSTILE}`);
  });
});

describe("Rights on the session page", () => {
  it.each([
    ["its window gets the focus", "focus"],
    ["its tab becomes visible", "visibilitychange"],
    ["its stream reconnects", "reconnect"],
  ])("The session page reads its rights again when %s", async (_, occasion) => {
    const principal = { id: "local", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal });
    const page = await pageInVm(portal, `/sessions/${sessionId}`);
    await eventually(() => expect(page.element("notice").textContent).toContain("may read"));
    await eventually(() => {
      page.opened();
      expect(page.element("connection").textContent).toBe("live");
    });
    for (const event of beforeApproval()) page.show(event);
    const areDisabled = (): boolean[] => page.elements("button").map(({ disabled }) => disabled);
    expect(areDisabled()).toEqual([true, true]);
    page.headers = withToken;
    if (occasion === "reconnect") page.opened();
    else page.fire(occasion);
    await eventually(() => expect(areDisabled()).toEqual([false, false]));
    expect(page.element("notice").hidden).toBe(true);
  });
});

describe("Hostile text", () => {
  it("Hostile text is sent as JSON that no browser treats as a page", async () => {
    const principal = { id: "local", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal, title: HOSTILE });
    const answers = [
      await portal.get("/api/sessions"),
      await portal.get(`/api/sessions/${sessionId}`),
      await portal.get(`/api/sessions/${encodeURIComponent(HOSTILE)}`),
      await portal.get(`/${encodeURIComponent(HOSTILE)}`),
    ];
    for (const { headers, json } of answers) {
      expect(headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(json).toBeTypeOf("object");
    }
    expect(answers[0]?.json).toMatchObject({ sessions: [{ title: HOSTILE }] });
  });

  it("Hostile text in a path does not reach the error code", async () => {
    const { json } = await portal.get(`/api/sessions/${encodeURIComponent(HOSTILE)}`);
    expect(ERROR_CODES).toContain(Object(json).error.code);
  });
});
