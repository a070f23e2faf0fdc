import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { acpTalk } from "../../../test/support/acp-client.ts";
import { scriptedSessions } from "../../../test/support/scripted-sessions.ts";
import { systemClock } from "../../platform/clock.ts";
import { createAcpConnection } from "./acp-connection.ts";
import { lineWriter } from "./line-writer.ts";

/** How often what sessions need cannot be loaded, as on a disk that is busy or being written to. */
const failing = vi.hoisted(() => ({ requests: 0, lists: 0 }));

vi.mock(import("./session-requests.ts"), async (load) => {
  const { sessionRequests } = await load();
  return {
    sessionRequests(...given) {
      failing.requests -= 1;
      if (failing.requests >= 0) throw new Error("The file cannot be read");
      return sessionRequests(...given);
    },
  };
});

vi.mock(import("./host-lists.ts"), async (load) => {
  const { hostToolList, hostShells } = await load();
  return {
    hostShells,
    async hostToolList(...given) {
      if (failing.lists > 0) throw new Error("The file cannot be read");
      return hostToolList(...given);
    },
  };
});

function connection() {
  const output = new PassThrough();
  const notes: string[] = [];
  const acp = createAcpConnection({
    sessions: scriptedSessions(),
    principal: { id: "user", rights: ["prompt", "approve", "control"] },
    isUser: true,
    isHere: true,
    hasCursors: false,
    connectionId: "c",
    version: "1",
    clock: systemClock,
    writer: lineWriter(output),
    log: (note) => void notes.push(note),
  });
  const { take, ...talk } = acpTalk((text) => acp.receive({ type: "line", text, offset: 0 }));
  createInterface({ input: output }).on("line", take);
  return { acp, notes, talk };
}

describe("a connection for which something cannot be loaded", () => {
  it("answers what was asked with an error, and tries again for what is asked next", async () => {
    failing.requests = 2;
    const { acp, talk, notes } = connection();
    await talk.ask("initialize");
    // Loads ahead of what comes.
    await acp.idle();
    expect(await talk.ask("session/list")).toMatchObject({ id: 2, error: { code: -32603 } });
    expect(await talk.ask("session/list")).toMatchObject({ id: 3, result: { sessions: [] } });
    expect(notes).toEqual(["a request went wrong", "a request went wrong"]);
    await acp.leave("client_exit");
  });

  it("can be left while nothing is loaded", async () => {
    failing.requests = 1;
    const { acp, talk } = connection();
    await talk.ask("initialize");
    await acp.idle();
    await expect(acp.leave("client_exit")).resolves.toBeUndefined();
  });

  it("has a host without tools where its tools cannot be asked for", async () => {
    failing.lists = 1;
    const { acp, talk, notes } = connection();
    const clientCapabilities = { _meta: { harn: { hostTools: true } } };
    await talk.ask("initialize", { clientCapabilities });
    const opened = await talk.ask("session/new", { cwd: "/work", mcpServers: [] });
    expect(opened).toMatchObject({ result: { sessionId: "ses_1" } });
    expect(notes).toEqual(["what a host has cannot be asked for"]);
    await acp.leave("client_exit");
  });
});
