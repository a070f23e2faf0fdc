import { expect, it } from "vitest";
import { formatDuration } from "./format-duration.ts";

it.each([
  [-5, "0 ms"],
  [340.4, "340 ms"],
  [2449, "2.4 s"],
  [59_949, "59.9 s"],
  [59_960, "1 min 0 s"],
  [185_000, "3 min 5 s"],
  [3_599_600, "1 h 0 min"],
  [7_800_000, "2 h 10 min"],
])("A duration of %d ms is formatted as %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});
