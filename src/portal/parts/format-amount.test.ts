import { expect, it } from "vitest";
import { formatBytes, formatCount } from "./format-amount.ts";
import { formatRelativeTime } from "./format-time.ts";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1500, "1.5 KB"],
  [20_000_000, "20 MB"],
  [5_000_000_000_000, "5000 GB"],
])("%d bytes are formatted as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  [940, "940"],
  [1000, "1k"],
  [12_345, "12.3k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [1_234_567, "1.2M"],
])("A count of %d is formatted as %s", (count, text) => {
  expect(formatCount(count)).toBe(text);
});

it.each([
  [0, "now"],
  [-12_000, "12 s ago"],
  [-119_000, "1 min ago"],
  [-7_200_000, "2 h ago"],
  [-260_000_000, "3 d ago"],
  [300_000, "in 5 min"],
])("A time %d ms from now is formatted as %s", (offset, text) => {
  expect(formatRelativeTime(1_000_000_000 + offset, 1_000_000_000)).toBe(text);
});
