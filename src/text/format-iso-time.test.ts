import * as fc from "fast-check";
import { expect, it } from "vitest";
import { formatIsoTime } from "./format-iso-time.ts";
import { runs } from "../../test/support/test-depth.ts";

it("Every time is formatted like Date.toISOString", () => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
  const anyTime = fc.integer({ min: Date.parse("0001-01-01T00:00:00Z"), max: last });
  fc.assert(
    fc.property(anyTime, (at) => {
      expect(formatIsoTime(at)).toBe(new Date(at).toISOString());
    }),
    { numRuns: runs(5000) },
  );
  for (const text of [
    "2024-02-29T00:00:00.000Z",
    "2000-02-29T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z",
  ]) {
    expect(formatIsoTime(Date.parse(text))).toBe(text);
  }
});
