import { describe, expect, it } from "vitest";
import { runInference } from "../../../src/aigo/run-inference.ts";
import { collectCompletion } from "../../../src/wire/chat-server/chat-completion.ts";
import { refuses, says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { openSocket } from "../support/turn-socket.ts";
import { dataOf, send } from "../support/serve-answers.ts";
import { ask, echoes, openStream, lastOf, worldOf, type World } from "./responses-world.ts";

const ANOMALY = {
  code: "instructions_as_text",
  message: "The agent does not support instructions: they were sent as text before the message",
};
const SYSTEM = { role: "system", content: "Be brief." } as const;
const USER = { role: "user", content: "Hi" } as const;

/** A server over an agent whose provider does not accept instructions. */
function plainWorld(answers = [echoes()]): Promise<World> {
  return worldOf([], { provider: createScriptedProvider(answers) });
}

type Route = (world: World) => Promise<unknown>;

/** Each route sends the same request and returns the anomalies listed in the response. */
const ROUTES: readonly (readonly [string, Route])[] = [
  [
    "/responses with instructions",
    async (world) =>
      (await ask(world, { input: "Hi", instructions: "Be brief." })).body["anomalies"],
  ],
  [
    "/responses with a system message, streamed",
    async (world) =>
      lastOf(await (await openStream(world, { input: [SYSTEM, USER] })).rest())["anomalies"],
  ],
  [
    "/responses with a developer message, over a WebSocket",
    async (world) => {
      const socket = await openSocket(world);
      const developer = { ...SYSTEM, role: "developer" };
      const response = await socket.completed({ input: [developer, USER] });
      socket.close();
      return response["anomalies"];
    },
  ],
  [
    "/chat/completions",
    async (world) => {
      const body = { messages: [SYSTEM, USER] };
      const { json } = await send(world, ["POST", "/chat/completions"], { body });
      return json.choices[0].message.anomalies;
    },
  ],
  [
    "/chat/completions, streamed",
    async (world) => {
      const body = { messages: [SYSTEM, USER], stream: true };
      const { text } = await send(world, ["POST", "/chat/completions"], { body });
      const chunks = dataOf(text).filter((data) => data !== "[DONE]");
      const completion = collectCompletion(chunks.map((data) => JSON.parse(data)));
      return "choices" in completion ? completion.choices[0].message["anomalies"] : completion;
    },
  ],
  [
    "/inference",
    async (world) => {
      const body = { messages: [SYSTEM, USER] };
      const { json } = await send(world, ["POST", "/inference"], { body });
      return json.items.at(-1).anomalies;
    },
  ],
  [
    "infer",
    async ({ provider }) => {
      const body = JSON.stringify({ messages: [SYSTEM, USER] });
      return JSON.parse(await runInference(body, {}, { provider })).items.at(-1).anomalies;
    },
  ],
];

describe("Instructions for an agent without instructions", () => {
  it.each(ROUTES)(
    "%s sends instructions as text before the message and reports the anomaly [OR-60] [SD-4]",
    async (_, anomaliesBy) => {
      const world = await plainWorld();
      expect(await anomaliesBy(world)).toEqual([ANOMALY]);
      const sent = world.provider.invocations.map(({ input, options }) => [
        input.texts,
        options?.instructions,
      ]);
      expect(sent).toEqual([[["Be brief.", "Hi"], undefined]]);
    },
  );

  it("An agent that accepts instructions gets them separately from the message, with no anomaly [OR-60]", async () => {
    const world = await worldOf([echoes()]);
    const anomalies: unknown[] = [];
    for (const [, anomaliesBy] of ROUTES) anomalies.push(await anomaliesBy(world));
    expect(anomalies).toEqual(ROUTES.map(() => undefined));
    expect(world.provider.invocations.map(({ input, options }) => [input.texts, options])).toEqual(
      ROUTES.map(() => [["Hi"], expect.objectContaining({ instructions: "Be brief." })]),
    );
  });

  it("Unchanged instructions are sent once per session, and changed instructions are sent again [OR-60]", async () => {
    const world = await plainWorld();
    let previous: unknown;
    const anomalies: unknown[] = [];
    for (const instructions of ["Be brief.", "Be brief.", "Be kind.", undefined, "Be kind."]) {
      const { body } = await ask(world, {
        input: "Hi",
        ...(instructions !== undefined && { instructions }),
        ...(previous !== undefined && { previous_response_id: previous }),
      });
      previous = body["id"];
      anomalies.push(body["anomalies"]);
    }
    expect(world.provider.invocations.map(({ input }) => input.texts)).toEqual([
      ["Be brief.", "Hi"],
      ["Hi"],
      ["Be kind.", "Hi"],
      ["Hi"],
      ["Hi"],
    ]);
    expect(anomalies).toEqual([[ANOMALY], undefined, [ANOMALY], undefined, undefined]);
  });

  it("Instructions of a turn that the provider refused are sent again with the next turn [OR-60]", async () => {
    const world = await plainWorld([refuses("throttled"), says("Yes.")]);
    const body = { input: "Hi", instructions: "Be brief." };
    const refused = await ask(world, body);
    expect(refused.status).toBe(429);
    const conversation = refused.headers.get("x-spanline-session");
    expect((await ask(world, { ...body, conversation })).body["anomalies"]).toEqual([ANOMALY]);
    expect(world.provider.invocations.map(({ input }) => input.texts)).toEqual([
      ["Be brief.", "Hi"],
      ["Be brief.", "Hi"],
    ]);
  });
});
