import { expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/fake-clock.ts";
import { RecordRows } from "./record-rows.ts";

it("Expired records are removed when the number of records has grown enough", () => {
  const clock = createFakeClock(1000);
  const rows = new RecordRows(clock);
  for (let index = 0; index < 1000; index++) {
    rows.put("budget", `key_${index}`, { value: 1, expiresAt: 2000 });
  }
  clock.advance(1000);
  expect(rows.size).toBe(1000);
  rows.put("budget", "ada", { value: 1 });
  expect(rows.size).toBe(1);
});
