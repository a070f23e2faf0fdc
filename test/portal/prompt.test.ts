import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, type Answer, type ServedPortal } from "./start-portal.ts";
import { afterApproval, beforeApproval, toolTurn } from "./scripted-turns.ts";

let sessions: LoggedSessions;
let clock: FakeClock;
let portal: ServedPortal;
let prompt: string;
let events: string;

beforeEach(async () => {
  sessions = loggedSessions();
  clock = createFakeClock();
  portal = await servedPortal(sessions, { clock, waitMs: 60_000 });
  const { incarnation } = await sessions.open({
    principal: { id: "local", rights: ["prompt"] },
    title: "A talk",
  });
  prompt = "/api/sessions/ses_1/prompt";
  events = `/api/sessions/ses_1/events?cursor=${incarnation}.1`;
});

afterEach(async () => {
  await portal.close();
});

const accepted = { status: "accepted", promptId: "prompt_1" } as const;

const report = {
  sessionId: "ses_1",
  promptId: "prompt_1",
  turnId: "turn_1",
  outcome: "completed",
  reason: "end_turn",
  text: "Let me run them.\n\nAll 42 pass.",
  toolCalls: [
    {
      toolCallId: "tool_1",
      name: "run_command",
      input: { command: "npm test", directory: "/srv/shop" },
      ending: "succeeded",
      result: [{ type: "text", text: "✓ 42 tests pass" }],
    },
  ],
  pendingApprovals: [],
  usage: null,
};

async function postPrompt(
  body: object,
  headers?: { readonly [name: string]: string },
): Promise<Answer> {
  return portal.post(prompt, body, headers);
}

describe("POST /api/sessions/:id/prompt", () => {
  it("A prompt without wait is answered at once", async () => {
    sessions.onCommand = async () => ({ ...accepted, turnId: "turn_1" });
    const answer = await postPrompt({ text: "Do they pass?" });
    expect([answer.status, answer.json]).toEqual([
      202,
      { sessionId: "ses_1", promptId: "prompt_1", turnId: "turn_1", events },
    ]);
    expect(sessions.commanded).toMatchObject([
      { command: { type: "prompt", content: [{ type: "text", text: "Do they pass?" }] } },
    ]);
  });

  it("A prompt with wait is answered with its turn", async () => {
    sessions.onCommand = async () => {
      await sessions.log("ses_1", ...toolTurn());
      return accepted;
    };
    const answer = await postPrompt({ text: "Do they pass?", wait: true });
    expect([answer.status, answer.json]).toEqual([200, { ...report, events }]);
  });

  it("A prompt waits for its own turn and not for the turn before it", async () => {
    sessions.onCommand = async () => {
      await sessions.log(
        "ses_1",
        { type: "turn.started", turnId: "turn_0", promptId: "prompt_0" },
        { type: "message.started", messageId: "msg_0", role: "assistant" },
        { type: "text.finished", messageId: "msg_0", block: 0, text: "Not this" },
        {
          type: "turn.finished",
          turnId: "turn_0",
          outcome: "completed",
          reason: null,
          usage: null,
          steps: 1,
        },
        ...toolTurn(),
      );
      return accepted;
    };
    expect((await postPrompt({ text: "x", wait: true })).json).toEqual({ ...report, events });
  });

  it("A repeated prompt gets the turn of the first one", async () => {
    await sessions.log("ses_1", ...toolTurn());
    sessions.onCommand = async () => accepted;
    const answer = await postPrompt({ text: "x", wait: true }, { "idempotency-key": "k1" });
    expect(answer).toMatchObject({ status: 200, json: { turnId: "turn_1", text: report.text } });
  });

  it("A turn is returned as plain text if the client accepts text/plain", async () => {
    sessions.onCommand = async () => {
      await sessions.log("ses_1", ...toolTurn());
      return accepted;
    };
    const answer = await postPrompt({ text: "x", wait: true }, { accept: "text/plain" });
    expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(answer.text).toBe("Let me run them.\n\nAll 42 pass.\n");
  });

  it("Plain text is streamed while the turn runs, with its pending approval", async () => {
    sessions.onCommand = async () => {
      await sessions.log("ses_1", ...beforeApproval());
      return accepted;
    };
    const answer = await portal.begin("POST", prompt, {
      headers: { "content-type": "application/json", accept: "text/plain" },
      body: JSON.stringify({ text: "x", wait: true }),
    });
    answer.setEncoding("utf8");
    let text = "";
    answer.on("data", (piece: string) => (text += piece));
    await eventually(() =>
      expect(text).toBe(
        'Let me run them.\n\n[waiting for your approval: run_command npm test {"command":"npm test","directory":"/srv/shop"} — answer in the browser]\n',
      ),
    );
    await sessions.log("ses_1", ...afterApproval());
    await once(answer, "end");
    expect(text).toMatch(/ — answer in the browser\]\n\nAll 42 pass\.\n$/);
    expect(clock.pending).toBe(0);
  });

  it("Plain text ends at the wait limit and says that the turn continues", async () => {
    sessions.onCommand = async () => {
      await sessions.log("ses_1", ...beforeApproval());
      return accepted;
    };
    const waiting = postPrompt({ text: "x", wait: true }, { accept: "text/plain" });
    await eventually(() => expect(clock.pending).toBe(1));
    clock.advance(60_000);
    expect((await waiting).text).toMatch(/\[the turn continues\]\n$/);
  });

  it("A plain text client that reads nothing for five minutes is disconnected", async () => {
    sessions.onCommand = async () => {
      const text = "x".repeat(40_000_000);
      await sessions.log(
        "ses_1",
        { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
        { type: "message.started", messageId: "msg_1", role: "assistant" },
        { type: "text.delta", messageId: "msg_1", block: 0, text },
      );
      return accepted;
    };
    const answer = await portal.begin("POST", prompt, {
      headers: { "content-type": "application/json", accept: "text/plain" },
      body: JSON.stringify({ text: "x", wait: true }),
    });
    await once(answer, "readable");
    clock.advance(300_000);
    await expect(text(answer)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(clock.pending).toBe(0);
  });

  it("Plain text of a failed turn says that it failed", async () => {
    const failure = { code: "throttled", message: "Too many requests", details: {} } as const;
    sessions.onCommand = async () => {
      await sessions.log(
        "ses_1",
        { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
        { type: "message.started", messageId: "msg_1", role: "assistant" },
        { type: "text.delta", messageId: "msg_1", block: 0, text: "I beg" },
        {
          type: "turn.finished",
          turnId: "turn_1",
          outcome: "failed",
          reason: null,
          usage: null,
          steps: 1,
          failure,
        },
      );
      return accepted;
    };
    expect((await postPrompt({ text: "x", wait: true }, { accept: "text/plain" })).text).toBe(
      "I beg\n\n[failed: Too many requests]\n",
    );
  });

  it("A turn that exceeds the wait limit is answered with its pending approvals", async () => {
    const subscribe = sessions.subscribe.bind(sessions);
    const read = new Promise<void>((resolve) => {
      sessions.subscribe = async function* (...taken) {
        for await (const batch of subscribe(...taken)) {
          yield batch;
          resolve();
        }
      };
    });
    sessions.onCommand = async () => {
      await sessions.log("ses_1", ...beforeApproval());
      return accepted;
    };
    const waiting = postPrompt({ text: "x", wait: true });
    await read;
    clock.advance(60_000);
    const answer = await waiting;
    expect(answer).toMatchObject({
      status: 202,
      json: {
        outcome: null,
        text: "Let me run them.",
        toolCalls: [{ toolCallId: "tool_1", ending: null }],
        pendingApprovals: [{ approvalId: "appr_1", options: ["allow", "deny"] }],
      },
    });
    await sessions.log("ses_1", ...afterApproval());
    expect(clock.pending).toBe(0);
  });

  it("A turn continues if its caller disconnects", async () => {
    let isWatched: (() => void) | undefined;
    const watched = new Promise<void>((resolve) => (isWatched = resolve));
    const subscribe = sessions.subscribe.bind(sessions);
    const ended = new Promise<void>((resolve) => {
      sessions.subscribe = async function* (...taken) {
        isWatched?.();
        yield* subscribe(...taken);
        resolve();
      };
    });
    sessions.onCommand = async () => accepted;
    const body = JSON.stringify({ text: "x", wait: true });
    const hangUp = new AbortController();
    const headers = { "content-type": "application/json" };
    const { signal } = hangUp;
    const waiting = fetch(portal.url + prompt, { method: "POST", headers, body, signal });
    await watched;
    hangUp.abort();
    await expect(waiting).rejects.toThrow("abort");
    await ended;
    expect(sessions.commanded.map(({ command }) => command.type)).toEqual(["prompt"]);
    await eventually(() => expect(clock.pending).toBe(0));
  });

  it("A withdrawn prompt ends the wait", async () => {
    sessions.onCommand = async () => {
      await sessions.log("ses_1", {
        type: "prompt.withdrawn",
        promptId: "prompt_1",
        reason: "Another came",
      });
      return accepted;
    };
    expect(await postPrompt({ text: "x", wait: true })).toMatchObject({
      status: 200,
      json: { turnId: null, outcome: "withdrawn", reason: "Another came" },
    });
  });

  it("A refused prompt is answered with the reason", async () => {
    const failure = { code: "conflict", message: "Too many wait", details: {} } as const;
    sessions.onCommand = async () => ({ status: "refused", failure });
    const answer = await postPrompt({ text: "x", wait: true });
    expect([answer.status, answer.json]).toEqual([409, { error: failure }]);
  });

  it.each([[{ wait: true }], [{ text: "" }], [{ text: "x", wait: "yes" }]])(
    "A prompt with an invalid body is refused: %j",
    async (body) => {
      expect((await postPrompt(body)).status).toBe(400);
    },
  );
});
