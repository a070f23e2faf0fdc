import { expect, it } from "vitest";
import { isLoopback } from "./loopback.ts";

it.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.0.7", false],
  ["127.evil.example", false],
  ["", false],
])("Whether only this machine reaches a server bound to %j is %j", (host, isIt) => {
  expect(isLoopback(host)).toBe(isIt);
});
