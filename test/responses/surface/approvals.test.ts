import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { readUntil } from "../../support/session/session-world.ts";
import {
  ask,
  called,
  get,
  lastOf,
  openStream,
  outputOf,
  textIn,
  worldOf,
  type World,
} from "./responses-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const APPROVER = { id: "approver", rights: ["prompt", "approve", "control"] } as const;

async function gated(clock?: FakeClock) {
  const ran: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object" },
    run: (input) => {
      ran.push(input);
      return "paid";
    },
  });
  const world = await worldOf([wants({ id: "c1", name: "pay" }), says("So it is.")], {
    agent: { tools: [pay], approvals: { ask: ["pay"] } },
    settings: { trace: "pairs" },
    ...(clock !== undefined && { clock }),
  });
  return { world, ran };
}

async function questionIn(world: World): Promise<{ sessionId: string; approvalId: string }> {
  const { sessions: found } = await world.sessions.list({ limit: 1 });
  const { sessionId = "" } = found[0] ?? {};
  const log = await readUntil(
    world.sessions,
    sessionId,
    ({ event }) => event.type === "approval.requested",
  );
  const event = log.at(-1)?.event;
  return { sessionId, approvalId: event?.type === "approval.requested" ? event.approvalId : "" };
}

const idOf = (approval: unknown) => (isObject(approval) ? approval["id"] : undefined);

describe("Approvals without an approver on the surface", () => {
  it("A tool call that needs approval keeps the stream alive while it waits, and is visibly denied at the time limit [OR-21] [OR-55]", async () => {
    const clock = createFakeClock();
    const { world, ran } = await gated(clock);
    const opening = openStream(world, { input: "Pay" });
    let isOpen = false;
    void opening.then(() => (isOpen = true));
    await waitUntil(() => (clock.advance(20), isOpen));
    const stream = await opening;
    await questionIn(world);
    let [isOver, beats] = [false, 0];
    const reading = (async () => {
      const seen = [];
      for (;;) {
        const event = await stream.next();
        if (event === undefined) return seen;
        if (event === "quiet") beats += 1;
        else seen.push(event);
      }
    })();
    void reading.then(() => (isOver = true));
    const before = clock.now();
    await waitUntil(() => (clock.advance(500), isOver));
    expect(clock.now() - before).toBeGreaterThanOrEqual(59_000);
    expect(beats).toBeGreaterThanOrEqual(2);
    expect(ran).toEqual([]);
    const response = lastOf(await reading);
    expect(response).toMatchObject({ status: "completed" });
    expect(outputOf(response)).toContainEqual(
      expect.objectContaining({ type: "function_call_output", is_error: true }),
    );
    expect(textIn(response)).toContain("So it is.");
  });

  it.each([false, true])(
    "A tool call can be approved by another client while the response waits (streamed: %s)",
    async (stream) => {
      const { world, ran } = await gated();
      const approvalItems = stream
        ? openStream(world, { input: "Pay" }).then(async (one) => lastOf(await one.rest()))
        : ask(world, { input: "Pay" }).then(({ body }) => body);
      await called(world, 1);
      const { sessionId, approvalId } = await questionIn(world);
      const answer = { type: "decide-approval", approvalId, decision: "allow" } as const;
      const reply = await world.sessions.command(sessionId, answer, { principal: APPROVER });
      expect(reply.status).toBe("accepted");
      const response = await approvalItems;
      expect(ran).toHaveLength(1);
      expect(outputOf(response)).toContainEqual(
        expect.objectContaining({ type: "function_call_output", output: "paid" }),
      );
    },
  );

  it("A response lists its pending approval until the approval is resolved [OR-24]", async () => {
    const { world } = await gated();
    const { body } = await ask(world, { input: "Pay", background: true });
    const path = `/responses/${String(body["id"])}`;
    const { sessionId, approvalId } = await questionIn(world);
    const waiting = await get(world, path);
    const call = outputOf(waiting.body).find(({ type }) => type === "function_call");
    const expires_at = expect.any(Number);
    const awaited = { id: approvalId, question: "run", action: "pay", expires_at };
    expect(waiting.body).toMatchObject({
      status: "in_progress",
      awaiting_approval: [{ ...awaited, call_id: call?.["call_id"] }],
    });
    const answer = { type: "decide-approval", approvalId, decision: "allow" } as const;
    await world.sessions.command(sessionId, answer, { principal: APPROVER });
    await waitUntil(async () => (await get(world, path)).body["status"] === "completed");
    expect((await get(world, path)).body).not.toHaveProperty("awaiting_approval");
  });

  it.each([
    ["pairs", []],
    ["mcp", []],
    ["extension", ["spanline:approval.requested", "spanline:approval.resolved"]],
    ["none", []],
  ])(
    "A stream has approval events only in the trace mode extension: trace %s [OR-24]",
    async (trace, expectedItems) => {
      const { world } = await gated();
      const opening = openStream(world, { input: "Pay", trace });
      await called(world, 1);
      const { sessionId, approvalId } = await questionIn(world);
      const answer = { type: "decide-approval", approvalId, decision: "allow" } as const;
      await world.sessions.command(sessionId, answer, { principal: APPROVER });
      const events = await (await opening).rest();
      const own = events.filter(({ type }) => String(type).includes(":"));
      expect(own.map(({ type }) => type)).toEqual(expectedItems);
      expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
      const ids = own.map(({ approval, approval_id }) => approval_id ?? idOf(approval));
      expect(new Set(ids)).toEqual(new Set(expectedItems.map(() => approvalId)));
    },
  );

  it("A tool call that waits for approval is not a client tool call, so results for it are refused [OR-53]", async () => {
    const { world } = await gated();
    const responsePromise = ask(world, { input: "Pay" });
    await called(world, 1);
    const { sessionId, approvalId } = await questionIn(world);
    const answer = { type: "decide-approval", approvalId, decision: "deny" } as const;
    await world.sessions.command(sessionId, answer, { principal: APPROVER });
    const { body } = await responsePromise;
    const calls = outputOf(body).filter(({ type }) => type === "function_call");
    const outputs = outputOf(body).filter(({ type }) => type === "function_call_output");
    expect(calls.map(({ call_id: id }) => id)).toEqual(outputs.map(({ call_id: id }) => id));
  });
});
