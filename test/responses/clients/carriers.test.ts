import { describe, expect, it } from "vitest";
import { startServed } from "../support/start-server.ts";
import type { Fields } from "../support/recorded-stream.ts";
import { check, completed, itemOf, post, type Target } from "../support/target.ts";
import { HEARD, TALK, heardBy } from "./scripts.ts";

const userMessage = { type: "message", role: "user", content: "I am Alice." };
const next = { type: "message", role: "user", content: "Who am I?" };
const text = { type: "output_text", text: "Hello Alice." };
const answer = { type: "message", role: "assistant", content: [text] };

/** Request bodies which continue a conversation, each by a single kind of reference. */
const carriers: readonly [name: string, carry: (first: First) => object][] = [
  ["previous_response_id", ({ response }) => ({ previous_response_id: response["id"] })],
  ["conversation, a string", ({ session }) => ({ conversation: session })],
  ["conversation, an object", ({ session }) => ({ conversation: { id: session } })],
  ["a field of the request", ({ session }) => ({ session_id: session })],
  ["metadata", ({ session }) => ({ metadata: { session_id: session } })],
  [
    "a field of a message",
    ({ session }) => ({ input: [userMessage, { ...answer, session_id: session }, next] }),
  ],
  [
    "a field of a part",
    ({ session }) => ({
      input: [userMessage, { ...answer, content: [{ ...text, session_id: session }] }, next],
    }),
  ],
  [
    "the id of an item",
    ({ response }) => ({
      input: [userMessage, { ...answer, id: itemOf(response, "message")["id"] }, next],
    }),
  ],
  [
    "a reference to an item",
    ({ response }) => ({
      input: [userMessage, { type: "item_reference", id: itemOf(response, "message")["id"] }, next],
    }),
  ],
];

interface First {
  readonly response: Fields;
  readonly session: string;
}

async function first(target: Target): Promise<First & { readonly headers: Headers }> {
  const answered = await post(target, "/responses", { model: target.model, input: [userMessage] });
  const response = completed((await answered.json()) as Fields);
  const session = itemOf(response, "message")["session_id"];
  check(typeof session === "string", "The message names no session");
  return { response, session, headers: answered.headers };
}

describe("Continued sessions", () => {
  it.each(carriers)("A session is continued by %s alone [OR-32] [OR-37]", async (_, carry) => {
    const served = await startServed(TALK);
    const body = { model: served.model, input: [next], ...carry(await first(served)) };
    const second = await post(served, "/responses", body);
    completed((await second.json()) as Fields);
    expect(heardBy(served)).toEqual(HEARD);
  });

  it("A session is continued by the header in which a response returned its id [OR-32] [OR-34]", async () => {
    const served = await startServed(TALK);
    const { session, headers, response } = await first(served);
    expect(response["conversation"]).toEqual({ id: session });
    const carrying = [...headers].filter(([, value]) => value === session);
    expect(carrying).toHaveLength(1);
    await fetch(`${served.baseUrl}/responses`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${served.apiKey}`,
        "content-type": "application/json",
        ...Object.fromEntries(carrying),
      },
      body: JSON.stringify({ model: served.model, input: [next] }),
    });
    expect(heardBy(served)).toEqual(HEARD);
  });
});

describe("Refused requests", () => {
  it.each([
    [
      "an unknown previous response [OR-29]",
      { previous_response_id: "resp_never_issued" },
      "previous_response_not_found",
    ],
    ["a session id that is too short [OR-35]", { session_id: "ses_1" }, undefined],
  ])("A request with %s does not reach the agent", async (_, more, code) => {
    const served = await startServed(TALK);
    const refused = await post(served, "/responses", {
      model: served.model,
      input: [next],
      ...more,
    });
    expect([400, 404]).toContain(refused.status);
    const { error } = (await refused.json()) as { error: { code: string } };
    expect(error.code).toBe(code ?? error.code);
    expect(served.agentCalls()).toEqual([]);
  });

  it.each([
    [
      "previous_response_id and conversation [OR-30]",
      ({ response, session }: First) => ({
        previous_response_id: response["id"],
        conversation: session,
      }),
      undefined,
    ],
    [
      "two sessions [OR-33]",
      ({ session }: First) => ({
        conversation: session,
        metadata: { session_id: another(session) },
      }),
      "conflicting_session",
    ],
  ])("A request with %s is refused before it reaches the agent", async (_, carry, code) => {
    const served = await startServed(TALK);
    const body = { model: served.model, input: [next], ...carry(await first(served)) };
    const refused = await post(served, "/responses", body);
    expect(refused.status).toBe(400);
    const { error } = (await refused.json()) as { error: { code: string } };
    expect(error.code).toBe(code ?? error.code);
    expect(served.agentCalls()).toHaveLength(1);
  });

  it("A request that continues from a response other than the last is refused [OR-31]", async () => {
    const served = await startServed(TALK);
    const { response } = await first(served);
    const body = { model: served.model, input: [next], previous_response_id: response["id"] };
    completed((await (await post(served, "/responses", body)).json()) as Fields);
    const other = { ...body, input: "Who are you?" };
    const refused = await post(served, "/responses", other);
    expect([400, 409]).toContain(refused.status);
    const { error } = (await refused.json()) as { error: { code: string } };
    expect(error.code).toBe("previous_response_not_latest");
    expect(heardBy(served)).toEqual(HEARD);
  });
});

function another(session: string): string {
  return `${session.slice(0, -1)}${session.endsWith("9") ? "8" : "9"}`;
}
