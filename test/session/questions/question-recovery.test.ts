import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createAskUserTool } from "../../../src/tools/ask-user-tool.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { createScriptedProvider, says, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  ME,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const DAY_MS = 86_400_000;

/** An agent which repeats its question until the model receives an answer. */
function createAskingAgent(input: JsonObject) {
  const asks = wants({ id: "c1", name: "ask_user", input });
  const ends = says("Thank you.");
  const provider = createScriptedProvider([
    (signal, call) =>
      (/Bern|one|two|nobody/.test(JSON.stringify(call.input)) ? ends : asks)(signal, call),
  ]);
  return createAgent({
    provider,
    tools: [createAskUserTool()],
    askUser: { waitMs: DAY_MS },
    onLost: "continue",
  });
}

/** The store of a process which is killed at an append: before or after the append is stored. */
function createKillingStore(
  store: Store,
  kill: { readonly at: number; readonly when: "before" | "after" },
) {
  let count = 0;
  let isDead = false;
  const guarded = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || name === "subscribe") return value;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        if (isDead) throw new Error("killed");
        if (name !== "append") return Reflect.apply(value, target, args);
        count += 1;
        const isLast = count === kill.at;
        if (isLast && kill.when === "before") isDead = true;
        if (isDead) throw new Error("killed");
        const result: unknown = await Reflect.apply(value, target, args);
        if (isLast) isDead = true;
        if (isDead) throw new Error("killed");
        return result;
      };
    },
  });
  return { store: guarded, isDead: () => isDead };
}

/** Answers every open request once, as two people, until the turn ends. */
async function answerUntilDone(world: SessionWorld): Promise<readonly Envelope[]> {
  const { signal } = new AbortController();
  for await (const { events } of world.sessions.subscribe(world.sessionId, undefined, signal)) {
    for (const { event } of events) {
      if (event.type === "turn.finished") return world.readLog();
      if (event.type !== "approval.requested") continue;
      for (const id of ["me", "you"]) {
        const principal = { ...ME, id };
        await world.send(
          { type: "decide-approval", approvalId: event.approvalId, answer: "Bern" },
          { principal },
        );
      }
    }
  }
  return [];
}

describe("A question and a kill", () => {
  it.each(["before", "after"] as const)(
    "A question survives a kill %s every append of its turn, and its answer reaches the model once",
    async (when) => {
      let kills = 0;
      for (let at = 2; at < 40; at += 1) {
        const memory = createMemoryStore();
        const { store, isDead } = createKillingStore(memory, { at, when });
        const agent = createAskingAgent({ question: "Which city?", approvers: 2 });
        const first = await openWorld(agent, { store });
        await first.prompt("Go").catch(() => undefined);
        await Promise.race([answerUntilDone(first).catch(() => undefined), waitUntil(isDead)]);
        // The turn ended before this append.
        if (!isDead()) break;
        kills += 1;
        const second = await first.restart(agent, { store: memory });
        const log = await memory.read(second.sessionId, 0, 10_000);
        if (!log.some(({ event }) => event.type === "prompt.accepted")) await second.prompt("Go");
        const events = await answerUntilDone(second);
        const results = events.flatMap(({ event }) =>
          event.type === "tool.finished" && event.ending === "succeeded" ? event : [],
        );
        expect(results).toHaveLength(1);
        expect(JSON.stringify(results)).toContain("Bern");
        const subjects = events.flatMap(({ event }) =>
          event.type === "approval.requested" ? event.subjectId : [],
        );
        // A tool call is asked about once, also if the kill came before or after its request was stored.
        expect(new Set(subjects).size).toBe(subjects.length);
        expect(events.filter(({ event }) => event.type === "turn.finished")).toHaveLength(1);
      }
      expect(kills).toBeGreaterThan(8);
    },
    60_000,
  );

  it("A question whose deadline passes while no process runs gets its default answer at the restart", async () => {
    const clock = createFakeClock();
    const agent = createAskingAgent({ question: "Which?", default: "Bern" });
    const world = await openWorld(agent, { clock });
    await world.prompt("Go");
    await world.waitForEvent("approval.requested");
    clock.jump(2 * DAY_MS);
    const next = await world.restart();
    clock.advance(1);
    await next.waitForEvent("turn.finished");
    expect(await next.listEvents("approval.resolved")).toMatchObject([{ resolvedBy: "deadline" }]);
    expect(JSON.stringify(await next.listEvents("tool.finished"))).toContain("applies: Bern");
  });
});

type Move = "answer" | "second" | "deadline" | "cancel" | "restart";

/** All orders of the moves. */
function* listOrders(moves: readonly Move[]): Generator<readonly Move[]> {
  if (moves.length === 0) yield [];
  for (const [at, move] of moves.entries())
    for (const rest of listOrders(moves.toSpliced(at, 1))) yield [move, ...rest];
}

async function perform(move: Move, world: SessionWorld, clock: FakeClock, approvalId: string) {
  switch (move) {
    case "answer":
      await world.send({ type: "decide-approval", approvalId, answer: "one" });
      return world;
    case "second": {
      const principal = { ...ME, id: "you" };
      await world.send({ type: "decide-approval", approvalId, answer: "two" }, { principal });
      return world;
    }
    case "deadline":
      clock.advance(DAY_MS);
      return world;
    case "cancel":
      await world.cancel();
      return world;
    case "restart":
      return world.restart();
  }
}

describe("Races of a question", () => {
  it("In every order of an answer, a second answer, the deadline, a cancel and a restart, the first of them decides, once", async () => {
    const orders = [...listOrders(["answer", "second", "deadline", "cancel", "restart"])];
    expect(orders).toHaveLength(120);
    for (const order of orders) {
      const clock = createFakeClock();
      const agent = createAskingAgent({ question: "Which?", default: "nobody" });
      let world = await openWorld(agent, { clock });
      await world.prompt("Go");
      const { approvalId } = await world.waitForEvent("approval.requested");
      for (const move of order) world = await perform(move, world, clock, approvalId);
      await world.waitForEvent("turn.finished");
      const first = order.find((move) => move !== "restart");
      const resolved = await world.listEvents("approval.resolved");
      expect(resolved, order.join(" ")).toMatchObject([EXPECTED[first ?? "answer"]]);
      expect(resolved, order.join(" ")).toHaveLength(1);
      expect(await world.listEvents("tool.finished"), order.join(" ")).toHaveLength(1);
    }
  }, 60_000);
});

const EXPECTED: { readonly [Name in Move]: object } = {
  answer: { resolvedBy: "person", answer: "one" },
  second: { resolvedBy: "person", answer: "two" },
  deadline: { resolvedBy: "deadline" },
  cancel: { resolvedBy: "cancel" },
  restart: {},
};

/** Resolves when the condition holds; checked between other tasks of this process. */
async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
