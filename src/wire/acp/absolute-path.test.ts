import { expect, it } from "vitest";
import { toAbsolutePath } from "./absolute-path.ts";

it.each([
  ["src/a.ts", "/home/me", "/home/me/src/a.ts"],
  ["./a.ts", "/home/me/", "/home/me/a.ts"],
  [".", "/home/me", "/home/me"],
  ["", "/home/me", "/home/me"],
  [".env", "/", "/.env"],
  ["/etc/hosts", "/home/me", "/etc/hosts"],
  ["a.ts", "C:\\work", "C:\\work/a.ts"],
  ["C:\\a.ts", "/home/me", "C:\\a.ts"],
  ["a.ts", undefined, "a.ts"],
])("The path %j in the workspace %j resolves to %j", (path, workspace, absolute) => {
  expect(toAbsolutePath(path, workspace)).toBe(absolute);
});
