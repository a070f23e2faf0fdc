import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { bundleProgram } from "../support/bundle-program.ts";

it("The MCP client library is loaded only if a server is configured", async () => {
  const program = await bundleProgram("no-mcp-server.ts");
  rmSync(join(dirname(program), "node_modules"));
  const run = (...args: readonly string[]): unknown =>
    JSON.parse(execFileSync(process.execPath, [program, ...args], { encoding: "utf8" }));
  expect(run()).toEqual([]);
  expect(run("true")).toEqual([
    expect.stringContaining("Cannot find package '@modelcontextprotocol/client'"),
  ]);
});
