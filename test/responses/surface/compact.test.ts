import { describe, expect, it } from "vitest";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { unpackConversation } from "../../../src/wire/responses/request/compaction.ts";
import {
  ask,
  called,
  echoes,
  errorIn,
  gate,
  openStream,
  outputOf,
  saysWhen,
  tools,
  worldOf,
  type Answered,
  type World,
} from "./responses-world.ts";

const COMPACT = { path: "/responses/compact" } as const;
const MODEL = "scripted";

/** Messages of the compacted conversation, each as role and text. */
function packed({ body }: Answered): readonly string[] {
  const [item] = outputOf(body);
  const { messages } = unpackConversation(String(item?.["encrypted_content"]), "output");
  return messages.map(({ role, blocks }) => {
    const texts = blocks.map((block) => (block.type === "text" ? block.text : block.type));
    return `${role}: ${texts.join(" ")}`;
  });
}

async function talk(world: World): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const input of ["One", "Two"]) {
    const previous = ids.at(-1);
    const carrier = previous === undefined ? {} : { previous_response_id: previous };
    ids.push(String((await ask(world, { model: MODEL, input, ...carrier })).body["id"]));
  }
  return ids;
}

const FIRST = ["user: One", "assistant: You said: One"];
const SECOND = ["user: Two", "assistant: You said: Two"];

describe("POST /responses/compact", () => {
  it("The messages up to the previous response come before the input [OR-77]", async () => {
    const world = await worldOf([echoes()]);
    const [first, second] = await talk(world);
    const at = (previous_response_id: string | undefined, input: string[] = []) =>
      ask(
        world,
        {
          model: MODEL,
          previous_response_id,
          ...(input.length > 0 && { input: input.map((content) => ({ role: "user", content })) }),
        },
        COMPACT,
      );
    expect(packed(await at(first))).toEqual(FIRST);
    expect(packed(await at(second))).toEqual([...FIRST, ...SECOND]);
    expect(packed(await at(second, ["Three"]))).toEqual([...FIRST, ...SECOND, "user: Three"]);
    expect(world.heard()).toEqual(["One", "Two"]);
  });

  it("A conversation, a session id and the session header each identify the whole session [OR-32]", async () => {
    const world = await worldOf([echoes()]);
    const [first = ""] = await talk(world);
    const sessionId = first.replace(/^resp_(.*)_\d+$/, "$1");
    const answers = [
      await ask(world, { model: MODEL, input: [], conversation: sessionId }, COMPACT),
      await ask(world, { model: MODEL, input: [], session_id: sessionId }, COMPACT),
      await ask(
        world,
        { model: MODEL, input: [] },
        { ...COMPACT, headers: { "x-spanline-session": sessionId } },
      ),
    ];
    expect(answers.map(packed)).toEqual(answers.map(() => [...FIRST, ...SECOND]));
  });

  it("The next response begins with the compacted messages [OR-77]", async () => {
    const world = await worldOf([echoes()]);
    const [, second] = await talk(world);
    const compacted = await ask(
      world,
      { model: MODEL, input: [], previous_response_id: second },
      COMPACT,
    );
    const input = [...outputOf(compacted.body), { role: "user", content: "Three" }];
    const next = await ask(world, { model: MODEL, input });
    expect(next.status).toBe(200);
    const lastInvocation = world.provider.invocations.at(-1);
    expect([lastInvocation?.history.map(({ role }) => role), lastInvocation?.input.texts]).toEqual([
      ["user", "assistant", "user", "assistant"],
      ["Three"],
    ]);
  });

  it.each([
    "resp_nobody",
    "resp_ses_00000000000000000000000000000000_3",
    "deleted",
    "not stored",
    "of another key",
  ])("An unknown previous response is refused: %s [OR-29] [OR-39] [OR-42]", async (what) => {
    const keys = [
      { name: "ada", key: "key-of-ada-0123456789" },
      { name: "eve", key: "key-of-eve-0123456789" },
    ];
    const world = await worldOf([echoes()], { keys });
    const key = what === "of another key" ? "key-of-eve-0123456789" : "key-of-ada-0123456789";
    const store = what !== "not stored";
    const made = await ask(world, { model: MODEL, input: "One", store }, { key });
    const id = what.startsWith("resp_") ? what : String(made.body["id"]);
    if (what === "deleted") {
      await ask(world, undefined, { path: `/responses/${id}`, method: "DELETE" });
    }
    const answer = await ask(world, { model: MODEL, input: [], previous_response_id: id }, COMPACT);
    expect([answer.status, errorIn(answer)]).toMatchObject([
      404,
      { code: "previous_response_not_found", param: "previous_response_id" },
    ]);
  });

  it("An unknown conversation and a conversation of another agent are refused [OR-36]", async () => {
    const world = await worldOf([echoes()], { others: ["second"] });
    const [first] = await talk(world);
    const unknown = "ses_00000000000000000000000000000000";
    const answers = [
      await ask(world, { model: MODEL, input: [], conversation: unknown }, COMPACT),
      await ask(world, { model: "second", input: [], previous_response_id: first }, COMPACT),
    ];
    expect(answers.map((answer) => [answer.status, errorIn(answer)["code"]])).toEqual([
      [404, "session_not_found"],
      [400, "agent_mismatch"],
    ]);
  });

  it("A response that has not ended, or waits for results, is refused with the reason", async () => {
    const end = gate();
    const world = await worldOf([wants({ id: "a", name: "look" }), says("Seen."), saysWhen(end)]);
    const response = await ask(world, { model: MODEL, input: "Look", tools: tools("look") });
    const paused = String(response.body["id"]);
    const waiting = await ask(
      world,
      { model: MODEL, input: [], previous_response_id: paused },
      COMPACT,
    );
    expect([waiting.status, errorIn(waiting)]).toMatchObject([400, { code: "missing_result" }]);
    const call = outputOf(response.body).find(({ type }) => type === "function_call");
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "fog" };
    const seen = await ask(world, { input: [output], previous_response_id: paused });
    const done = await ask(
      world,
      { model: MODEL, input: [], previous_response_id: seen.body["id"] },
      COMPACT,
    );
    expect(packed(done)).toEqual([
      "user: Look",
      "assistant: Let me see. tool-call",
      "user: tool-result",
      "assistant: Seen.",
    ]);
    const stream = await openStream(world, {
      input: "More",
      previous_response_id: seen.body["id"],
    });
    const [created] = await stream.until("response.created");
    await called(world, 3);
    const running = await ask(
      world,
      { model: MODEL, input: [], previous_response_id: Object(created?.["response"]).id },
      COMPACT,
    );
    expect([running.status, errorIn(running)]).toMatchObject([
      409,
      { code: "response_in_progress" },
    ]);
    end.open();
    await stream.rest();
  });
});
