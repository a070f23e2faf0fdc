import { describe, expect, it } from "vitest";
import { createToolCallSlots } from "./tool-call-slots.ts";

const { signal } = new AbortController();

describe("Tool call slots", () => {
  it("Slots are assigned in order as they are released", async () => {
    const slots = createToolCallSlots(1, 5);
    const order: string[] = [];
    const first = await slots.acquire(signal);
    const second = slots.acquire(signal).then((release) => (order.push("second"), release));
    const third = slots.acquire(signal).then((release) => (order.push("third"), release));
    await Promise.resolve();
    expect(order).toEqual([]);
    first();
    first();
    (await second)();
    (await third)();
    expect(order).toEqual(["second", "third"]);
  });

  it("A slot is not assigned to a caller whose signal is aborted", async () => {
    const slots = createToolCallSlots(1, 5);
    const first = await slots.acquire(signal);
    const controller = new AbortController();
    const waiting = slots.acquire(controller.signal);
    controller.abort(new Error("Enough"));
    await expect(waiting).rejects.toThrow("Enough");
    await expect(slots.acquire(controller.signal)).rejects.toThrow("Enough");
    const third = slots.acquire(signal);
    first();
    expect(await third).toBeTypeOf("function");
  });

  it("A call is refused if too many calls are waiting", async () => {
    const slots = createToolCallSlots(1, 1);
    await slots.acquire(signal);
    slots.acquire(signal).catch(() => undefined);
    await expect(slots.acquire(signal)).rejects.toMatchObject({ code: "throttled" });
  });
});
