import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startConfiguredAgents } from "../../src/bridge/configured/configured-agents.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { createToolContext } from "../support/server/mcp-world.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-configured-")));
let program = "";

beforeAll(async () => {
  program = await bundleInto(folder, "hostile-server.ts");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The environment variables of a configured server, as the model sees them. */
async function surroundings(agent: object, input: object): Promise<string> {
  const file = join(folder, "spanline.config.json");
  const server = { command: process.execPath, args: [program], ...input };
  const provider = { type: "local", model: "ollama:none" };
  const config = { agents: { coder: { provider, mcpServers: { h: server }, ...agent } } };
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(join(folder, "place.txt"), "the-place-of-a-file\n");
  const unexpected = (error: unknown): void => expect(error).toBeUndefined();
  const { agents, close } = await startConfiguredAgents({
    file,
    directory: join(folder, "data"),
    protectedFolders: [],
    clock: systemClock,
    environment: { HOME: "/home/somebody", WORK_KEY: "sk-of-my-work", OTHER: "other-value" },
    version: "0",
    report: unexpected,
    notice: unexpected,
    isTrusted: async () => true,
  });
  onTestFinished(close);
  const place = { sessionId: "ses_1", workingDirectory: "/", onChange: () => undefined };
  const opened = await agents[0]?.open?.(place);
  onTestFinished(async () => opened?.close());
  return String(await opened?.agent.tools.get("h__surroundings")?.run({}, createToolContext()));
}

describe("Configured MCP servers", () => {
  it("The value of an ordinary variable is shown to the model, and secrets are redacted", async () => {
    const env = {
      NOTES: "${HOME}/notes",
      OWN: { file: "place.txt" },
      NUMBER: "${WORK_KEY}",
      MY_TOKEN: "${OTHER}-1",
    };
    const environmentText = await surroundings({}, { env });
    expect(JSON.parse(environmentText)).toMatchObject({
      env: {
        NOTES: "/home/somebody/notes",
        NUMBER: "[redacted]",
        MY_TOKEN: "[redacted]",
        OWN: "[redacted]",
      },
    });
  });

  it("A value that the agent reads from a file is redacted, whatever its name", async () => {
    const environmentText = await surroundings(
      { environment: { AT: { file: "place.txt" } } },
      { env: { FOLDER: { env: "HOME" } }, inheritEnv: ["AT"] },
    );
    expect(JSON.parse(environmentText)).toMatchObject({
      env: { AT: "[redacted]", FOLDER: "/home/somebody" },
    });
  });

  it("A server's path is relative to the folder of the configuration, not to the session's folder", async () => {
    const args = [relative(folder, program)];
    expect(JSON.parse(await surroundings({}, { args }))).toMatchObject({ cwd: folder });
    mkdirSync(join(folder, "below"));
    const below = { args: [program], cwd: "below" };
    expect(JSON.parse(await surroundings({}, below))).toMatchObject({ cwd: join(folder, "below") });
  });
});
