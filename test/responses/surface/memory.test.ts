import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { waitUntil } from "../../support/with-deadline.ts";
import { ask, echoes, errorIn, get, textIn, worldOf } from "./responses-world.ts";

/** A store which counts sessions in memory: each loaded session holds a lease. */
function countingStore() {
  const store = createMemoryStore();
  const heldTexts = new Set<string>();
  return {
    ...store,
    acquire: (...args: Parameters<typeof store.acquire>) => {
      heldTexts.add(args[0]);
      return store.acquire(...args);
    },
    release: (...args: Parameters<typeof store.release>) => {
      heldTexts.delete(args[0].sessionId);
      return store.release(...args);
    },
    get inMemory() {
      return heldTexts.size;
    },
  };
}

describe("Memory of requests", () => {
  it.each([
    ["/responses", { input: "Hello" }],
    ["/chat/completions", { model: "scripted", messages: [{ role: "user", content: "Hello" }] }],
  ])(
    "A session that %s opened for one turn leaves memory when the turn ends",
    async (path, body) => {
      const store = countingStore();
      const world = await worldOf([echoes()], { store });
      for (let round = 0; round < 5; round++) {
        expect((await ask(world, { ...body, user: `user ${round}` }, { path })).status).toBe(200);
      }
      await waitUntil(
        () => store.inMemory === 0,
        () => [store.inMemory],
      );
      expect(world.heard()).toHaveLength(5);
      expect(world.reports).toEqual([]);
    },
  );

  it("A response whose session has left memory can be read and continued [OR-29]", async () => {
    const store = countingStore();
    const world = await worldOf([echoes()], { store });
    const first = await ask(world, { input: "One" });
    await waitUntil(
      () => store.inMemory === 0,
      () => [store.inMemory],
    );
    const stored = await get(world, `/responses/${String(first.body["id"])}`);
    expect([stored.status, textIn(stored.body)]).toEqual([200, textIn(first.body)]);
    const next = await ask(world, { input: "Two", previous_response_id: first.body["id"] });
    expect([next.status, next.body["status"]]).toEqual([200, "completed"]);
    const sessions = world.provider.invocations.map(({ sessionId }) => sessionId);
    expect(new Set(sessions).size).toBe(1);
    expect(world.reports).toEqual([]);
  });

  it.each([
    ["250,001 empty objects", `{"input":[${"{},".repeat(250_000)}{}]}`],
    ["1,001 fields", JSON.stringify(Object.fromEntries(range(1001).map((at) => [`f${at}`, at])))],
  ])("A body of %s is refused before it is processed [OR-71]", async (_, body) => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, body);
    expect([answer.status, errorIn(answer)["code"]]).toEqual([400, "invalid_json"]);
    expect(world.heard()).toEqual([]);
  });

  it("A body with 1,000 unknown fields is answered [OR-71]", async () => {
    const world = await worldOf([echoes()]);
    const extra = Object.fromEntries(range(999).map((at) => [`f${at}`, at]));
    expect((await ask(world, { input: "Hello", ...extra })).status).toBe(200);
  });
});

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}
