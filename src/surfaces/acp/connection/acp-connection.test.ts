import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { createAcpPeer } from "../../../../test/support/acp/acp-client.ts";
import { createScriptedSessions } from "../../../../test/support/session/scripted-sessions.ts";
import { systemClock } from "../../../platform/clock.ts";
import { createAcpConnection } from "./acp-connection.ts";
import { createLineWriter } from "./line-writer.ts";

/** How often what sessions need cannot be loaded, as on a disk that is busy or being written to. */
const failing = vi.hoisted(() => ({ requests: 0, lists: 0 }));

vi.mock(import("../session/session-requests.ts"), async (load) => {
  const { createSessionRequests } = await load();
  return {
    createSessionRequests(...given) {
      failing.requests -= 1;
      if (failing.requests >= 0) throw new Error("The file cannot be read");
      return createSessionRequests(...given);
    },
  };
});

vi.mock(import("../host/request-host-lists.ts"), async (load) => {
  const { requestHostTools, requestHostShells } = await load();
  return {
    requestHostShells,
    async requestHostTools(...given) {
      if (failing.lists > 0) throw new Error("The file cannot be read");
      return requestHostTools(...given);
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

describe("a connection for which something cannot be loaded", () => {
  it("answers what was asked with an error, and tries again for what is asked next", async () => {
    failing.requests = 2;
    const { acp, talk, notes } = connection();
    await talk.request("initialize");
    // Loads ahead of what comes.
    await acp.waitForIdle();
    expect(await talk.request("session/list")).toMatchObject({ id: 2, error: { code: -32603 } });
    expect(await talk.request("session/list")).toMatchObject({ id: 3, result: { sessions: [] } });
    expect(notes).toEqual(["a request went wrong", "a request went wrong"]);
    await acp.disconnect("client_exit");
  });

  it("can be left while nothing is loaded", async () => {
    failing.requests = 1;
    const { acp, talk } = connection();
    await talk.request("initialize");
    await acp.waitForIdle();
    await expect(acp.disconnect("client_exit")).resolves.toBeUndefined();
  });

  it("has a host without tools where its tools cannot be asked for", async () => {
    failing.lists = 1;
    const { acp, talk, notes } = connection();
    const clientCapabilities = { _meta: { harn: { hostTools: true } } };
    await talk.request("initialize", { clientCapabilities });
    const opened = await talk.request("session/new", { cwd: "/work", mcpServers: [] });
    expect(opened).toMatchObject({ result: { sessionId: "ses_1" } });
    expect(notes).toEqual(["what a host has cannot be asked for"]);
    await acp.disconnect("client_exit");
  });
});
