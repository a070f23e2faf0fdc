import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { bundleInto } from "../support/bundle-program.ts";
import { eventually } from "../support/eventually.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { openMcpWorld, type McpWorld } from "../support/server/mcp-world.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-npx-")));
let program = "";

beforeAll(async () => {
  program = await bundleInto(folder, "hostile-server.ts");
  symlinkSync("/bin/sh", join(folder, "npx"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server behind a program named `npx`, which keeps installing until the test creates a file. */
function installing(more: object = {}) {
  const installed = join(mkdtempSync(join(tmpdir(), "spanline-npx-")), "installed");
  onTestFinished(() => rmSync(join(installed, ".."), { recursive: true, force: true }));
  const script = `until test -e ${installed}; do sleep 0.02; done; exec ${process.execPath} ${program}`;
  const command = join(folder, "npx");
  const settings = { type: "stdio", name: "slow", command, args: ["-c", script], ...more } as const;
  return { settings, finish: () => writeFileSync(installed, "") };
}

/** Opens the servers of a session; the session is ready after the clock has advanced by `milliseconds`. */
async function openedAfter(milliseconds: number, more: object = {}) {
  const { settings, finish } = installing(more);
  const clock = createFakeClock();
  const opening = openMcpWorld([settings], { clock });
  await eventually(() => expect(clock.pending).toBeGreaterThan(0));
  clock.advance(milliseconds);
  return { clock, finish, world: await opening };
}

const messagesOf = (world: McpWorld) => world.reports.map(({ message }) => message);

it("A server that npx installs for minutes is not stopped, and its tools are added later", async () => {
  const { clock, finish, world } = await openedAfter(20_000);
  expect([world.tools(), world.status()]).toEqual([
    [],
    [{ name: "slow", state: "connecting", tools: 0, problems: [] }],
  ]);
  expect(messagesOf(world)).toEqual([
    "The MCP server slow is still starting; its tools are added when it is ready, within 300 seconds (connectTimeoutMs)",
  ]);
  clock.advance(270_000);
  finish();
  await eventually(() => expect(world.changeCount).toBe(1));
  expect(await world.callTool("slow__echo", { a: 1 })).toBe('{"a":1}');
  expect(messagesOf(world)).toHaveLength(1);
});

it("A server that npx does not install within five minutes is reported with the name of its setting", async () => {
  const { clock, world } = await openedAfter(20_000);
  clock.advance(280_000);
  await eventually(() => expect(world.status()).toMatchObject([{ state: "waiting" }]));
  expect(messagesOf(world).at(-1)).toMatch(
    /^The MCP server slow was not ready within 300 seconds. Fix: raise its connectTimeoutMs if it needs longer/,
  );
});

it("A session waits as long as connectTimeoutMs says", async () => {
  const { world } = await openedAfter(60_000, { connectTimeoutMs: 60_000 });
  expect(messagesOf(world)).toEqual([
    expect.stringMatching(/^The MCP server slow was not ready within 60 seconds/),
  ]);
});
