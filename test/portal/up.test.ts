import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startDemoAgents } from "../../src/bridge/agent/start-demo-agents.ts";
import { DEFAULT_SERVE_CONFIG } from "../../src/config/default-serve-config.ts";
import { runUp, type UpBridge, type UpOptions } from "../../src/bridge/serve/run-up.ts";
import { systemClock } from "../../src/platform/clock.ts";

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "spanline-up-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function up(directory: string, options: Partial<UpOptions> = {}): Promise<UpBridge> {
  return runUp({
    directory,
    host: "127.0.0.1",
    port: 0,
    version: "test",
    clock: systemClock,
    agents: () => startDemoAgents(directory, systemClock),
    report: () => {},
    ...options,
  });
}

const tokenOf = ({ link }: UpBridge): string | null => new URL(link).searchParams.get("token");

describe("spanline up", () => {
  it("The token is the same after a restart unless a new one is requested", async () => {
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
    ["127.0.0.1", 200, []],
    ["0.0.0.0", 401, [{ name: "ada", key: "a-key-of-16-letters" }]],
  ])("On %s a request without a token is answered with %i", async (host, status, keys) => {
    const running = await up(newDirectory(), { host, serving: { ...DEFAULT_SERVE_CONFIG, keys } });
    onTestFinished(() => running.close());
    expect((await fetch(`${running.url}/api/sessions`)).status).toBe(status);
    const headers = { authorization: `Bearer ${tokenOf(running)}` };
    expect((await fetch(`${running.url}/api/sessions`, { headers })).status).toBe(200);
  });
});

describe("Sessions in the portal", () => {
  const KEY = "a-key-of-16-letters";
  const serving = { ...DEFAULT_SERVE_CONFIG, keys: [{ name: "ada", key: KEY }] };

  async function askAs({ url }: UpBridge, key: string | null): Promise<string> {
    const response = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "demo", input: "Hello" }),
    });
    return JSON.parse(await response.text()).session_id;
  }

  it("The token lists all sessions, and a local program without it only its own [OR-36]", async () => {
    const directory = newDirectory();
    const guarded = await up(directory, { serving });
    const adas = await askAs(guarded, KEY);
    const listed = async (running: UpBridge, headers: { [name: string]: string } = {}) => {
      const answer = await fetch(`${running.url}/api/sessions`, { headers });
      const { sessions } = JSON.parse(await answer.text());
      return sessions.map(({ sessionId }: { sessionId: string }) => sessionId);
    };
    const token = { authorization: `Bearer ${tokenOf(guarded)}` };
    expect(await listed(guarded, token)).toContain(adas);
    await guarded.close();

    const keyless = await up(directory);
    onTestFinished(() => keyless.close());
    expect(await listed(keyless)).toEqual([keyless.session.sessionId]);
    for (const path of ["", "/events"]) {
      const answer = await fetch(`${keyless.url}/api/sessions/${adas}${path}`);
      expect(answer.status).toBe(404);
    }
    expect(await listed(keyless, token)).toContain(adas);
  });
});
