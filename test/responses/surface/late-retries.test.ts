import { describe, expect, it } from "vitest";
import { refuses, type ProviderScript } from "../../support/session/scripted-provider.ts";
import {
  ask,
  called,
  echoes,
  errorIn,
  gate,
  saysWhen,
  textIn,
  worldOf,
  type How,
  type World,
} from "./responses-world.ts";

const KEYED = keyed("once");

function keyed(key: string, more = {}): How {
  return { headers: { "idempotency-key": key, ...more } };
}

/** More prompts than a session remembers for deduplication. */
const MANY = 130;

/** An agent which echoes every prompt except these. */
function except(special: { readonly [text: string]: ProviderScript }): ProviderScript {
  return (signal, call) => (special[call.input.texts?.[0] ?? ""] ?? echoes())(signal, call);
}

function once(first: ProviderScript): ProviderScript {
  let count = 0;
  return (signal, call) => ((count += 1) === 1 ? first : echoes())(signal, call);
}

async function conversationIn(world: World): Promise<unknown> {
  const { body } = await ask(world, { input: "Hi" });
  return body["session_id"];
}

async function askMany(world: World, conversation: unknown): Promise<void> {
  for (let at = 0; at < MANY; at += 1) await ask(world, { input: `Number ${at}`, conversation });
}

function times(world: World, text: string): number {
  return world.heard().filter((received) => received === text).length;
}

describe("Idempotency keys that were used long ago in a session", () => {
  it("An old key does not run its request again, even after many later prompts were cancelled [OR-45]", async () => {
    const more = gate();
    const world = await worldOf([except({ Long: saysWhen(more, "Done") })]);
    const conversation = await conversationIn(world);
    await ask(world, { input: "Go", conversation }, KEYED);
    await askMany(world, conversation);
    const before = world.provider.invocations.length;
    const waiting: unknown[] = [];
    await ask(world, { input: "Long", conversation, background: true });
    await called(world, before + 1);
    for (let at = 0; at < 100; at += 1) {
      const { body } = await ask(world, { input: "Wait", conversation, background: true });
      waiting.push(body["id"]);
    }
    for (const id of waiting)
      await ask(world, undefined, { path: `/responses/${String(id)}/cancel` });
    more.open();
    const again = await ask(world, { input: "Go", conversation }, KEYED);
    expect([again.status, textIn(again.body)]).toEqual([200, "You said: Go"]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect([times(world, "Go"), times(world, "Wait")]).toEqual([1, 0]);
  });

  it("An old key runs its request again if the provider refused the first attempt [OR-45] [OR-46]", async () => {
    const world = await worldOf([except({ Go: once(refuses("throttled")) })]);
    const conversation = await conversationIn(world);
    expect((await ask(world, { input: "Go", conversation }, KEYED)).status).toBe(429);
    await askMany(world, conversation);
    const again = await ask(world, { input: "Go", conversation }, KEYED);
    expect([again.status, textIn(again.body)]).toEqual([200, "You said: Go"]);
    const third = await ask(world, { input: "Go", conversation }, KEYED);
    expect(third.body).toEqual(again.body);
    expect(times(world, "Go")).toBe(2);
  });
});

describe("Idempotency keys", () => {
  it("Keys that only look like another key are different keys [OR-45]", async () => {
    const world = await worldOf([except({ Go: once(refuses("throttled")) })]);
    const conversation = await conversationIn(world);
    const statuses: number[] = [];
    for (const [input, key] of [
      ["Go", "a"],
      ["Go", "a"],
      ["Other", "a/1"],
      ["Third", "1/a"],
    ] as const)
      statuses.push((await ask(world, { input, conversation }, keyed(key))).status);
    expect(statuses).toEqual([429, 200, 200, 200]);
  });

  it("The same prompt with a retry count but another key is another request [OR-45]", async () => {
    const world = await worldOf([echoes()]);
    const one = await ask(world, { input: "Go" }, keyed("a"));
    const other = await ask(world, { input: "Go" }, keyed("b", { "x-stainless-retry-count": "1" }));
    expect(other.body["id"]).not.toBe(one.body["id"]);
    const again = await ask(world, { input: "Go" }, keyed("b", { "x-stainless-retry-count": "2" }));
    expect(again.body).toEqual(other.body);
    expect(world.heard()).toEqual(["Go", "Go"]);
  });

  it("A key of a refused request cannot be used for another conversation [OR-45]", async () => {
    const world = await worldOf([echoes()], { agent: { images: "reject" } });
    const createMessages = (text: string, picture: boolean) => [
      { role: "user", content: text },
      { role: "assistant", content: "Good to know" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Who am I?" },
          ...(picture ? [{ type: "input_image", image_url: PICTURE }] : []),
        ],
      },
    ];
    const refused = await ask(world, { input: createMessages("I am Ada", true) }, KEYED);
    expect(refused.status).toBe(400);
    const other = await ask(world, { input: createMessages("I am Bob", false) }, KEYED);
    expect([other.status, errorIn(other)["code"]]).toEqual([409, "idempotency_key_reused"]);
    expect(world.heard()).toEqual([]);
  });
});

const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
