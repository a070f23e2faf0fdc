import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  ClientSideConnection,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { workspaceTools } from "../../../src/tools/workspace/workspace-tools.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { findAcpProblems } from "../../support/acp/acp-schema.ts";
import { serveOnSocket, USER } from "../../support/acp/acp-client.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { openSessions } from "../../support/session/session-world.ts";
import { createTestWorkspace } from "../../support/session/test-workspace.ts";

/** Runs an agent to write, edit and list files, and collects all messages to the official client. */
async function listSentPaths(own: "session's" | "agent's") {
  const workspace = createTestWorkspace();
  workspace.write("src/old.txt", "one\ntwo\n");
  const { root } = workspace;
  const agent = defineAgent({
    name: "coder",
    provider: createScriptedProvider([
      wants({ id: "c1", name: "write_file", input: { path: "./src/new.txt", content: "new\n" } }),
      wants({
        id: "c2",
        name: "edit_file",
        input: { path: "src/old.txt", old_text: "two", new_text: "2" },
      }),
      wants({ id: "c3", name: "list_files", input: {} }),
      says("Done."),
    ]),
    tools: workspaceTools({
      root: ({ workingDirectory }) => workingDirectory ?? root,
      protectedFolders: [],
    }),
    workspace: { root: own === "agent's" ? root : "/not/this/one" },
  });
  const sessions = openSessions(createMemoryStore(), agent);
  onTestFinished(() => sessions.close());
  const { socket } = await serveOnSocket(sessions);
  const updates: SessionNotification[] = [];
  const questions: RequestPermissionRequest[] = [];
  const client = new ClientSideConnection(
    () => ({
      async sessionUpdate(update) {
        updates.push(update);
      },
      async requestPermission(question) {
        questions.push(question);
        return { outcome: { outcome: "selected", optionId: "allow" } };
      },
    }),
    ndJsonStream(Writable.toWeb(socket), Readable.toWeb(socket) as ReadableStream),
  );
  await client.initialize({ protocolVersion: 1 });
  const sessionId =
    own === "session's"
      ? (await client.newSession({ cwd: root, mcpServers: [] })).sessionId
      : (await sessions.open({ principal: USER })).sessionId;
  // A remote client has another folder without the files of the session.
  if (own === "agent's") await client.loadSession({ sessionId, cwd: "/elsewhere", mcpServers: [] });
  await client.prompt({ sessionId, prompt: [{ type: "text", text: "Go" }] });
  return { root, updates, questions };
}

describe("Paths in updates", () => {
  it.each(["session's", "agent's"] as const)(
    "Paths are absolute in the %s folder [ACP-87] [ACP-88]",
    async (own) => {
      const { root, updates, questions } = await listSentPaths(own);
      expect(readFileSync(join(root, "src/old.txt"), "utf8")).toBe("one\n2\n");
      const ended = updates.flatMap(({ update }) =>
        update.sessionUpdate === "tool_call_update" && update.status === "completed"
          ? [update]
          : [],
      );
      const created = {
        type: "diff",
        path: `${root}/src/new.txt`,
        oldText: null,
        newText: "new\n",
      };
      const changed = {
        type: "diff",
        path: `${root}/src/old.txt`,
        oldText: "one\ntwo\n",
        newText: "one\n2\n",
      };
      expect(ended).toMatchObject([
        { content: [created, {}], locations: [{ path: `${root}/src/new.txt` }] },
        { content: [changed, {}], locations: [{ path: `${root}/src/old.txt`, line: 2 }] },
        { locations: [{ path: root }] },
      ]);
      expect(questions.map(({ toolCall }) => toolCall.content)).toMatchObject([
        [created],
        [changed],
        ...questions.slice(2).map(() => undefined),
      ]);
      for (const params of updates) {
        expect(findAcpProblems({ jsonrpc: "2.0", method: "session/update", params })).toEqual([]);
      }
    },
  );
});
