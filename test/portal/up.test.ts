import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { demoAgents } from "../../src/bridge/demo-agents.ts";
import { runUp, type Up, type UpOptions } from "../../src/bridge/run-up.ts";
import { systemClock } from "../../src/platform/clock.ts";

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "spanline-up-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function up(directory: string, options: Partial<UpOptions> = {}): Promise<Up> {
  return runUp({
    directory,
    host: "127.0.0.1",
    port: 0,
    version: "test",
    clock: systemClock,
    agents: () => demoAgents(directory, systemClock),
    report: () => {},
    ...options,
  });
}

const tokenOf = ({ link }: Up): string | null => new URL(link).searchParams.get("token");

describe("the bridge that is up", () => {
  it("has the token that it had when it is started again, unless another is wanted", async () => {
    const directory = newDirectory();
    const tokens: (string | null)[] = [];
    for (const newToken of [false, false, true, false]) {
      const running = await up(directory, { newToken });
      tokens.push(tokenOf(running));
      await running.close();
    }
    const [first, second, third, last] = tokens;
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(last).toBe(third);
  });

  it.each([
    ["127.0.0.1", 200],
    ["0.0.0.0", 401],
  ])("on %s answers whoever has no token with %i", async (host, status) => {
    const running = await up(newDirectory(), { host });
    onTestFinished(() => running.close());
    expect((await fetch(`${running.url}/api/sessions`)).status).toBe(status);
    const headers = { authorization: `Bearer ${tokenOf(running)}` };
    expect((await fetch(`${running.url}/api/sessions`, { headers })).status).toBe(200);
  });
});
