import { expect, it } from "vitest";
import { formatTail, withDeadline } from "./with-deadline.ts";

it("A wait that ends in time returns its value or throws its error", async () => {
  expect(await withDeadline(Promise.resolve(7), () => "unused")).toBe(7);
  const failed = withDeadline(Promise.reject(new Error("It broke")), () => "unused");
  await expect(failed).rejects.toThrow("It broke");
});

it("A wait without an end fails at its deadline with the state in its message", async () => {
  const never = new Promise<void>(() => undefined);
  const late = withDeadline(never, async () => formatTail(["a", { b: 1 }, "c"], 2), 5);
  await expect(late).rejects.toThrow('No result within 0.005 s: (1 before)\n  {"b":1}\n  c');
});
