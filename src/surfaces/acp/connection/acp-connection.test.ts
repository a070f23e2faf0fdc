import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { createAcpPeer } from "../../../../test/support/acp/acp-client.ts";
import { createScriptedSessions } from "../../../../test/support/session/scripted-sessions.ts";
import { systemClock } from "../../../platform/clock.ts";
import { createAcpConnection } from "./acp-connection.ts";
import { createLineWriter } from "./line-writer.ts";

/** Number of loads that fail before the first success, as if the disk were busy or being written. */
const failing = vi.hoisted(() => ({ requests: 0, lists: 0 }));

vi.mock(import("../session/session-requests.ts"), async (load) => {
  const { createSessionRequests } = await load();
  return {
    createSessionRequests(...args) {
      failing.requests -= 1;
      if (failing.requests >= 0) throw new Error("The file cannot be read");
      return createSessionRequests(...args);
    },
  };
});

vi.mock(import("../host/request-host-lists.ts"), async (load) => {
  const { requestHostTools, requestHostShells } = await load();
  return {
    requestHostShells,
    async requestHostTools(...args) {
      if (failing.lists > 0) throw new Error("The file cannot be read");
      return requestHostTools(...args);
    },
  };
});

function connection() {
  const output = new PassThrough();
  const notes: string[] = [];
  const acp = createAcpConnection({
    sessions: createScriptedSessions(),
    principal: { id: "user", rights: ["prompt", "approve", "control"] },
    isLocalUser: true,
    isSameMachine: true,
    hasCursors: false,
    connectionId: "c",
    version: "1",
    clock: systemClock,
    writer: createLineWriter(output),
    log: (note) => void notes.push(note),
  });
  const { take, ...talk } = createAcpPeer((text) => acp.receive({ type: "line", text, offset: 0 }));
  createInterface({ input: output }).on("line", take);
  return { acp, notes, talk };
}

describe("A connection that cannot load a module", () => {
  it("A request that cannot be served because a module failed to load gets an error, and the next request loads it again", async () => {
    failing.requests = 2;
    const { acp, talk, notes } = connection();
    await talk.request("initialize");
    // `initialize` loads the session code ahead of the first session request.
    await acp.waitForIdle();
    expect(await talk.request("session/list")).toMatchObject({ id: 2, error: { code: -32603 } });
    expect(await talk.request("session/list")).toMatchObject({ id: 3, result: { sessions: [] } });
    expect(notes).toEqual(["a request failed", "a request failed"]);
    await acp.disconnect("client_exit");
  });

  it("Disconnecting succeeds while the session code is not loaded", async () => {
    failing.requests = 1;
    const { acp, talk } = connection();
    await talk.request("initialize");
    await acp.waitForIdle();
    await expect(acp.disconnect("client_exit")).resolves.toBeUndefined();
  });

  it("A session opens without host tools if the host's tool list cannot be requested", async () => {
    failing.lists = 1;
    const { acp, talk, notes } = connection();
    const clientCapabilities = { _meta: { harn: { hostTools: true } } };
    await talk.request("initialize", { clientCapabilities });
    const opened = await talk.request("session/new", { cwd: "/work", mcpServers: [] });
    expect(opened).toMatchObject({ result: { sessionId: "ses_1" } });
    expect(notes).toEqual(["the lists of a host cannot be requested"]);
    await acp.disconnect("client_exit");
  });
});
