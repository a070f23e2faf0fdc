import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../src/data/json.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createAskUserTool } from "../../src/tools/ask-user-tool.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";
import { createAgent, openSessions, readUntil } from "../support/session/session-world.ts";
import { servedPortal, withToken } from "./start-portal.ts";

async function ask(input: JsonObject) {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "ask_user", input }),
    says("Thank you."),
  ]);
  const askUser = { waitMs: 86_400_000 };
  const agent = createAgent({ provider, tools: [createAskUserTool()], askUser });
  const sessions = openSessions(createMemoryStore(), agent);
  onTestFinished(() => sessions.close());
  const portal = await servedPortal(sessions, { clock: systemClock });
  onTestFinished(() => portal.close());
  const { json } = await portal.post("/api/sessions", {});
  const sessionId = String(Object(json).sessionId);
  const path = `/api/sessions/${sessionId}`;
  const waiting = portal.post(`${path}/prompt`, { text: "Go", wait: true });
  // A test may end before the turn.
  waiting.catch(() => undefined);
  const seen = await readUntil(
    sessions,
    sessionId,
    ({ event }) => event.type === "approval.requested",
  );
  const event = seen.at(-1)?.event;
  const approvalId = event?.type === "approval.requested" ? event.approvalId : "";
  const answer = (fields: object, headers = withToken) =>
    portal.post(`${path}/commands`, { type: "answer", approvalId, ...fields }, headers);
  const readResults = async () => {
    await waiting;
    return provider.invocations[1]?.input;
  };
  return { portal, answer, readResults };
}

describe("A question over /api", () => {
  it("An HTTP caller answers a question, and the waiting prompt returns the turn", async () => {
    const { answer, readResults } = await ask({ question: "Which city?" });
    expect(await answer({ answer: "Bern" })).toMatchObject({ status: 200 });
    expect(JSON.stringify(await readResults())).toContain("Bern");
  });

  it("An HTTP caller fills in a form, and an answer that does not fit is refused with the reason", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { answer, readResults } = await ask({ question: "How many?", schema });
    expect(await answer({ answer: { n: "two" } })).toMatchObject({
      status: 409,
      json: { error: { message: expect.stringContaining('"n" is not valid: expected a number') } },
    });
    expect(await answer({ answer: { n: 2 } })).toMatchObject({ status: 200 });
    expect(JSON.stringify(await readResults())).toContain(String.raw`{\"n\":2}`);
  });

  it("An HTTP caller approves or declines with a decision", async () => {
    const { answer, readResults } = await ask({ question: "Deploy?", kind: "approval" });
    expect(await answer({ decision: "decline", reason: "Not today" })).toMatchObject({
      status: 200,
    });
    expect(JSON.stringify(await readResults())).toContain(
      "Not approved. The reason given: Not today",
    );
  });

  it("A caller without the right to approve cannot answer, and an answer needs a decision or an answer", async () => {
    const { answer } = await ask({ question: "Which?" });
    expect(await answer({ answer: "Bern" }, {} as typeof withToken)).toMatchObject({ status: 403 });
    expect(await answer({})).toMatchObject({ status: 400 });
    expect(await answer({ answer: "Bern" })).toMatchObject({ status: 200 });
    expect(await answer({ answer: "Basel" })).toMatchObject({ status: 409 });
  });
});
