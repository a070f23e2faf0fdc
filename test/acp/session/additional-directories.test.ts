import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { isObject } from "../../../src/data/json.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { workspaceTools } from "../../../src/tools/workspace/workspace-tools.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type AcpPeer,
} from "../../support/acp/acp-client.ts";
import { startAcpServer } from "../../support/acp/acp-server.ts";
import {
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createTemporaryFolder } from "../../support/session/test-workspace.ts";

interface World {
  readonly sessions: RunningSessions;
  readonly root: string;
  readonly library: string;
}

function world(answers: readonly ProviderScript[] = [says("Hi")], isFixed = false): World {
  const base = createTemporaryFolder();
  const [root, library] = [join(base, "project"), join(base, "library")];
  for (const folder of [root, library]) mkdirSync(folder);
  writeFileSync(join(library, "a.txt"), "of the library\n");
  const agent = defineAgent({
    name: "coder",
    provider: createScriptedProvider(answers),
    tools: workspaceTools({
      root: isFixed ? root : ({ workingDirectory }) => workingDirectory ?? root,
      protectedFolders: [],
    }),
    workspace: { root, isFixed },
    approvals: { allow: ["*"] },
  });
  const sessions = createSessions({
    store: createMemoryStore(),
    agents: [agent],
    clock: systemClock,
    owner: "test",
  });
  onTestFinished(() => sessions.close());
  return { sessions, root, library };
}

async function connected({ sessions }: World): Promise<AcpClient> {
  const client = await connectAcpClient(sessions);
  await client.request("initialize");
  return client;
}

async function disconnect({ socket, done }: AcpClient): Promise<void> {
  socket.end();
  await done;
}

async function foldersOf(client: AcpPeer, params: object = {}): Promise<unknown> {
  const { sessions } = await client.requestResult("session/list", params);
  return Array.isArray(sessions)
    ? sessions.map((one) => (isObject(one) ? one["additionalDirectories"] : one))
    : sessions;
}

describe("Additional directories", () => {
  it("The directories belong to the workspace, are stored with the session and listed [ACP-49]", async () => {
    const path = "library/a.txt";
    const made = world([
      async function* (signal, call) {
        yield* wants({
          id: "w",
          name: "write_file",
          input: { path: join(made.root, "..", path), content: "new" },
        })(signal, call);
      },
      says("Done."),
    ]);
    const { root, library } = made;
    const client = await connected(made);
    const setup = { cwd: root, mcpServers: [], additionalDirectories: [library] };
    const { sessionId } = await client.requestResult("session/new", setup);
    await client.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Go" }],
    });
    expect(readFileSync(join(library, "a.txt"), "utf8")).toBe("new");
    const diff = JSON.stringify(client.listUpdates());
    expect(diff).toContain(JSON.stringify(join(library, "a.txt")));
    expect(await foldersOf(client)).toEqual([[library]]);
    expect(await foldersOf(client, { additionalDirectories: [library] })).toEqual([[library]]);
    expect(await foldersOf(client, { additionalDirectories: [root] })).toEqual([]);
  });

  it("The controller's last setup sets the directories, and other clients cannot change them [ACP-49]", async () => {
    const made = world();
    const { root, library } = made;
    const client = await connected(made);
    const setup = { cwd: root, mcpServers: [] };
    const extended = { ...setup, additionalDirectories: [library] };
    const { sessionId } = await client.requestResult("session/new", setup);
    expect(await foldersOf(client)).toEqual([undefined]);
    await client.requestResult("session/load", { sessionId, ...extended });
    expect(await foldersOf(client)).toEqual([[library]]);
    const other = await connected(made);
    await other.requestResult("session/resume", { sessionId, ...setup });
    expect(await foldersOf(client)).toEqual([[library]]);
    expect(other.notes).toEqual(["only the controller of a session changes its folders"]);
    await client.requestResult("session/resume", { sessionId, ...setup });
    expect(await foldersOf(client)).toEqual([undefined]);
    const fork = await client.requestResult("session/fork", { sessionId, ...extended });
    expect(readText(fork["sessionId"])).not.toBe(sessionId);
    expect(await foldersOf(client)).toContainEqual([library]);
  });

  it("A setup of an existing session adds directories, and a setup without directories keeps them", async () => {
    const { sessions, root, library } = world();
    const first = await connectAcpClient(sessions);
    const setup = { cwd: root, mcpServers: [] };
    await first.request("initialize");
    await first.requestResult("session/new", setup);
    await disconnect(first);
    for (const additionalDirectories of [[library], []]) {
      const client = await connectAcpClient(sessions, { session: "latest" });
      await client.request("initialize");
      await client.requestResult("session/new", { ...setup, additionalDirectories });
      expect(await foldersOf(client)).toEqual([[library]]);
      await disconnect(client);
    }
  });

  it("Additional directories are rejected for an agent with a fixed folder, except inside that folder", async () => {
    const made = world([says("Hi")], true);
    const { root, library } = made;
    const client = await connected(made);
    const setup = { cwd: root, mcpServers: [] };
    const wrong = { ...setup, additionalDirectories: [library] };
    expect((await client.request("session/new", wrong))["error"]).toMatchObject({ code: -32602 });
    mkdirSync(join(root, "src"));
    const within = { ...setup, additionalDirectories: [join(root, "src")] };
    const { sessionId } = await client.requestResult("session/new", within);
    expect(await foldersOf(client)).toEqual([undefined]);
    const refused = await client.request("session/load", { sessionId, ...wrong });
    expect(refused["error"]).toMatchObject({ code: -32602 });
  });

  it("A remote client cannot set additional directories", async () => {
    const made = world();
    const server = await startAcpServer(made.sessions);
    const client = await server.connect({});
    await client.request("initialize");
    const setup = { cwd: made.root, mcpServers: [], additionalDirectories: [made.library] };
    const refused = await client.request("session/new", setup);
    expect(refused["error"]).toMatchObject({ data: { code: "access_denied" } });
  });
});
