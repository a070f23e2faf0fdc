import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/fake-clock.ts";
import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import { createToolCallRecords, type RecordLimits } from "./tool-call-records.ts";

function never(): AbortSignal {
  return new AbortController().signal;
}

function world(limits: Partial<RecordLimits> = {}) {
  const clock = createFakeClock();
  const records = createToolCallRecords(
    { keepMs: 1000, toolCalls: 100, characters: 10_000, ...limits },
    () => clock.monotonic(),
  );
  let runs = 0;
  const once = (id: string, result: unknown, isRepeat: boolean): Promise<RpcOutcome> =>
    records.runOnce({ id, content: id, isRepeat, cancelSignal: never() }, async () => {
      runs += 1;
      return { ok: true, result };
    });
  const call = (id: string, result: unknown = id): Promise<RpcOutcome> => once(id, result, false);
  const repeat = (id: string): Promise<RpcOutcome> => once(id, "again", true);
  return { clock, call, repeat, runs: () => runs };
}

describe("The records of tool calls", () => {
  it("Records expire by age, the oldest first [W-40]", async () => {
    const { clock, call, runs } = world();
    await call("z");
    clock.advance(600);
    await call("a");
    clock.advance(600);
    await call("a");
    expect(runs()).toBe(2);
    await call("z");
    expect(runs()).toBe(3);
  });

  it("A repeated tool call gets its recorded result, and an unknown one is not run", async () => {
    const { clock, call, repeat, runs } = world();
    await call("a", "first");
    expect(await repeat("a")).toEqual({ ok: true, result: "first" });
    const unknown = { ok: false, error: { data: { code: "outcome_unknown" } } };
    expect(await repeat("b")).toMatchObject(unknown);
    clock.advance(1001);
    expect(await repeat("a")).toMatchObject(unknown);
    expect(runs()).toBe(1);
    // A call without the repeat mark runs.
    expect(await call("b")).toEqual({ ok: true, result: "b" });
  });

  it("New tool calls are refused while the records are full, so no call runs twice [W-40]", async () => {
    const { clock, call, runs } = world({ toolCalls: 2 });
    await call("z");
    clock.advance(600);
    await call("m");
    expect(await call("a")).toMatchObject({ ok: false });
    expect(await call("z")).toEqual({ ok: true, result: "z" });
    expect(runs()).toBe(2);
    clock.advance(600);
    expect(await call("a")).toEqual({ ok: true, result: "a" });
    expect(await call("m")).toEqual({ ok: true, result: "m" });
    expect(runs()).toBe(3);
  });

  it("A tool call whose result was dropped for its size is reported as run and does not run again", async () => {
    const { call, runs } = world({ characters: 100 });
    expect(await call("a", "x".repeat(200))).toMatchObject({ ok: true });
    expect(await call("a")).toMatchObject({ ok: false });
    expect(runs()).toBe(1);
    expect(await call("b")).toMatchObject({ ok: true });
    expect(await call("b")).toMatchObject({ ok: true });
  });

  it("The record of a running tool call does not expire", async () => {
    const clock = createFakeClock();
    const limits = { keepMs: 1000, toolCalls: 2, characters: 10 };
    const records = createToolCallRecords(limits, () => clock.monotonic());
    let finish = (): void => {};
    let runs = 0;
    const once = (id: string, wait: Promise<void>): Promise<RpcOutcome> =>
      records.runOnce({ id, content: id, isRepeat: false, cancelSignal: never() }, async () => {
        runs += 1;
        await wait;
        return { ok: true, result: runs };
      });
    const first = once("slow", new Promise((resolve) => (finish = resolve)));
    clock.advance(10_000);
    await once("quick", Promise.resolve());
    const again = once("slow", Promise.resolve());
    finish();
    expect(await again).toBe(await first);
    expect(runs).toBe(2);
  });
});
