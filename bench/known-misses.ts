import type { KnownMisses } from "./report.ts";

/** Every entry is a debt and is deleted when its target is met. */
export const KNOWN_MISSES: KnownMisses = {
  invoke: ["AWS SDK client ÷ spanline, deltas of 4 KB"],
  fold: ["split + CRC + JSON.parse ÷ spanline"],
  "first-delta": ["session ÷ straight"],
  gateway: ["spanline ÷ pipe with one synced append, from the request on"],
  append: ["bare insert ÷ spanline", "bare insert with sync ÷ spanline with sync"],
  "fan-out": ["bare loop ÷ spanline, the log for pages", "bare loop ÷ spanline, /v1/responses"],
  recovery: ["open + fold ÷ read + parse"],
  import: ["added by the import, ms"],
};
