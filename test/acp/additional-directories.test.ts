import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineAgent } from "../../src/bridge/define-agent.ts";
import { isObject } from "../../src/domain/json.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createSessions, type RunningSessions } from "../../src/session/create-sessions.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { workspaceTools } from "../../src/tools/workspace/workspace-tools.ts";
import { acpClient, asText, type AcpClient, type AcpTalk } from "../support/acp-client.ts";
import { acpServer } from "../support/acp-socket.ts";
import { says, scriptedProvider, wants, type Answer } from "../support/scripted-provider.ts";
import { temporaryFolder } from "../support/workspace.ts";

interface World {
  readonly sessions: RunningSessions;
  readonly root: string;
  readonly library: string;
}

function world(answers: readonly Answer[] = [says("Hi")], isFixed = false): World {
  const base = temporaryFolder();
  const [root, library] = [join(base, "project"), join(base, "library")];
  for (const folder of [root, library]) mkdirSync(folder);
  writeFileSync(join(library, "a.txt"), "of the library\n");
  const agent = defineAgent({
    name: "coder",
    provider: scriptedProvider(answers),
    tools: workspaceTools({
      root: isFixed ? root : ({ workingDirectory }) => workingDirectory ?? root,
      protectedFolders: [],
    }),
    workspace: { root, isFixed },
    approvals: { allow: ["*"] },
  });
  const sessions = createSessions({
    store: memoryStore(),
    agents: [agent],
    clock: systemClock,
    owner: "test",
  });
  onTestFinished(() => sessions.close());
  return { sessions, root, library };
}

async function connected({ sessions }: World): Promise<AcpClient> {
  const client = await acpClient(sessions);
  await client.ask("initialize");
  return client;
}

async function left({ socket, served }: AcpClient): Promise<void> {
  socket.end();
  await served;
}

async function foldersOf(client: AcpTalk, params: object = {}): Promise<unknown> {
  const { sessions } = await client.result("session/list", params);
  return Array.isArray(sessions)
    ? sessions.map((one) => (isObject(one) ? one["additionalDirectories"] : one))
    : sessions;
}

describe("additional directories", () => {
  it("belong to the workspace, are kept with the session and listed [ACP-49]", async () => {
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
    const { sessionId } = await client.result("session/new", setup);
    await client.result("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] });
    expect(readFileSync(join(library, "a.txt"), "utf8")).toBe("new");
    const diff = JSON.stringify(client.updates());
    expect(diff).toContain(JSON.stringify(join(library, "a.txt")));
    expect(await foldersOf(client)).toEqual([[library]]);
    expect(await foldersOf(client, { additionalDirectories: [library] })).toEqual([[library]]);
    expect(await foldersOf(client, { additionalDirectories: [root] })).toEqual([]);
  });

  it("are what the last set-up of the controller says, and nobody else's [ACP-49]", async () => {
    const made = world();
    const { root, library } = made;
    const client = await connected(made);
    const setup = { cwd: root, mcpServers: [] };
    const extended = { ...setup, additionalDirectories: [library] };
    const { sessionId } = await client.result("session/new", setup);
    expect(await foldersOf(client)).toEqual([undefined]);
    await client.result("session/load", { sessionId, ...extended });
    expect(await foldersOf(client)).toEqual([[library]]);
    const other = await connected(made);
    await other.result("session/resume", { sessionId, ...setup });
    expect(await foldersOf(client)).toEqual([[library]]);
    expect(other.notes).toEqual(["another client says which folders a session has"]);
    await client.result("session/resume", { sessionId, ...setup });
    expect(await foldersOf(client)).toEqual([undefined]);
    const fork = await client.result("session/fork", { sessionId, ...extended });
    expect(asText(fork["sessionId"])).not.toBe(sessionId);
    expect(await foldersOf(client)).toContainEqual([library]);
  });

  it("come to a session that is there, where the command was given one, and are not taken away by who names none", async () => {
    const { sessions, root, library } = world();
    const first = await acpClient(sessions);
    const setup = { cwd: root, mcpServers: [] };
    await first.ask("initialize");
    await first.result("session/new", setup);
    await left(first);
    for (const additionalDirectories of [[library], []]) {
      const client = await acpClient(sessions, { session: "latest" });
      await client.ask("initialize");
      await client.result("session/new", { ...setup, additionalDirectories });
      expect(await foldersOf(client)).toEqual([[library]]);
      await left(client);
    }
  });

  it("are refused where the agent keeps to one folder, and what is in that needs no name", async () => {
    const made = world([says("Hi")], true);
    const { root, library } = made;
    const client = await connected(made);
    const setup = { cwd: root, mcpServers: [] };
    const wrong = { ...setup, additionalDirectories: [library] };
    expect((await client.ask("session/new", wrong))["error"]).toMatchObject({ code: -32602 });
    mkdirSync(join(root, "src"));
    const within = { ...setup, additionalDirectories: [join(root, "src")] };
    const { sessionId } = await client.result("session/new", within);
    expect(await foldersOf(client)).toEqual([undefined]);
    const refused = await client.ask("session/load", { sessionId, ...wrong });
    expect(refused["error"]).toMatchObject({ code: -32602 });
  });

  it("are this machine's user's to name", async () => {
    const made = world();
    const server = await acpServer(made.sessions);
    const client = await server.connect({});
    await client.ask("initialize");
    const setup = { cwd: made.root, mcpServers: [], additionalDirectories: [made.library] };
    const refused = await client.ask("session/new", setup);
    expect(refused["error"]).toMatchObject({ data: { code: "access_denied" } });
  });
});
