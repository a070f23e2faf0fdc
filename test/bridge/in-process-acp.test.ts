import { describe, expect, it, onTestFinished } from "vitest";
import { openInProcessAcp, type InProcessAcp } from "../../src/bridge/serve/in-process-acp.ts";
import { SpanlineError } from "../../src/domain/errors.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { temporaryFolder } from "../store/sqlite-support.ts";
import { says, createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent } from "../support/session/session-world.ts";

const checkCredentials = (): Promise<void> =>
  Promise.reject(new SpanlineError("no_credentials", "No credentials are found"));
const LOCKED = { ...createScriptedProvider([says("Hi")]), checkCredentials };
const OPEN = createScriptedProvider([says("Hi")]);

async function opened(): Promise<InProcessAcp> {
  const acp = await openInProcessAcp({
    directory: temporaryFolder(),
    version: "test",
    clock: systemClock,
    agents: async () => ({
      agents: [
        createAgent({ name: "first", provider: LOCKED }),
        createAgent({ name: "other", provider: OPEN }),
      ],
      close: async () => {},
    }),
    report: () => {},
    log: () => {},
  });
  onTestFinished(() => acp.whenClosed());
  return acp;
}

/** The response to a request. */
async function ask(acp: InProcessAcp, id: number, method: string, params: object): Promise<string> {
  acp.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  for (;;) {
    const { value } = await acp.incoming[Symbol.asyncIterator]().next();
    if (value?.text.includes(`"id":${id},`) === true) return value.text;
  }
}

describe("ACP in the client's process", () => {
  it.each([
    ["first", "No credentials are found"],
    ["other", '"sessionId"'],
  ])(
    "The credentials of the agent named by a new session are checked: %s",
    async (agent, content) => {
      const acp = await opened();
      await ask(acp, 1, "initialize", { protocolVersion: 1 });
      const setup = { cwd: "/", mcpServers: [], _meta: { harn: { agent } } };
      expect(await ask(acp, 2, "session/new", setup)).toContain(content);
    },
  );
});
