import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import type { JsonValue } from "../../src/data/json.ts";
import {
  createClient,
  createHost,
  connectWebSocket,
  type Client,
  type Host,
  type HostOptions,
  type PermissionRequest,
} from "../../src/host/index.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { says, startModelServer, wants, type ModelServer } from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const OPENS = [
  wants({ id: "c1", name: "host__open_file", input: { path: "a.ts" } }),
  says("It is open."),
];

interface World {
  readonly model: ModelServer;
  /** Kills the bridge and waits for its exit. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Creates a client that reconnects to the current bridge. */
  client(host: Host): Client;
}

let worlds = 0;

/** `spanline up` with an agent. The model of the agent calls a host tool. */
async function worldOf(): Promise<World> {
  const model = await startModelServer("chat", OPENS);
  worlds += 1;
  const folder = join(command.folder, `world-${worlds}`);
  mkdirSync(folder);
  const config = join(folder, "spanline.config.json");
  const coder = {
    provider: { type: "local", model: "openai:scripted" },
    environment: { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } },
  };
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  let bridge: ReturnType<CommandLine["start"]> | undefined;
  let at = { url: "", link: "" };
  const start = async (): Promise<void> => {
    const data = ["--data-dir", join(folder, "data"), "--config", config];
    bridge = command.start(["up", "--port", "0", "--json", ...data], {
      workingDirectory: folder,
      environment: { MY_KEY: "sk-test-of-hosts", XDG_STATE_HOME: join(folder, "state") },
    });
    at = JSON.parse(await waitForOutput(bridge.stdout, "}\n"));
  };
  await start();
  return {
    model,
    start,
    async kill() {
      const gone = new Promise((resolve) => bridge?.once("exit", resolve));
      bridge?.kill("SIGKILL");
      await gone;
    },
    client(host) {
      const connect = () => {
        const token = new URL(at.link).searchParams.get("token");
        const headers = { authorization: `Bearer ${token}` };
        return connectWebSocket(new WebSocket(`${at.url.replace("http", "ws")}/acp`, { headers }));
      };
      const reconnect = { first: 20, longest: 100, attempts: 600 };
      const client = createClient(connect, { host, reconnect });
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** A host with a tool. A tool call ends when the test calls `end`. */
function opening(options: Partial<HostOptions> = {}) {
  const ran: JsonValue[] = [];
  const questions: PermissionRequest[] = [];
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const host = createHost({
    permission(question) {
      questions.push(question);
      return "allow";
    },
    tools: [
      {
        name: "open_file",
        async run({ path = null }) {
          ran.push(path);
          await ended;
          return { opened: path };
        },
      },
    ],
    ...options,
  });
  return {
    host,
    ran,
    questions,
    end,
    isRunning: () => vi.waitFor(() => expect(ran).toHaveLength(1), LONG),
  };
}

const LONG = { timeout: 30_000 };

function lastSaid({ modelRequests }: ModelServer): string {
  return JSON.stringify(modelRequests.at(-1));
}

describe("Host whose bridge is killed during a host tool call", () => {
  it("The running tool call is requested again, and its single result ends the prompt [W-48]", async () => {
    const world = await worldOf();
    const { host, ran, questions, end, isRunning } = opening();
    const client = world.client(host);
    const { sessionId } = await client.newSession({ workingDirectory: command.folder });
    const run = client.prompt(sessionId, "Open it");
    await isRunning();
    await world.kill();
    await world.start();
    end();
    expect(await run.result).toMatchObject({ reason: "end_turn" });
    expect(ran).toEqual(["a.ts"]);
    expect(questions).toHaveLength(1);
    expect(world.model.modelRequests).toHaveLength(2);
    expect(lastSaid(world.model)).toContain(String.raw`{\"opened\":\"a.ts\"}`);
  });

  it("The stored result of a tool call that ended without a bridge is returned later", async () => {
    const world = await worldOf();
    const { host, ran, questions, end, isRunning } = opening();
    const client = world.client(host);
    const { sessionId } = await client.newSession({ workingDirectory: command.folder });
    await client.attach(sessionId, { clientId: "app", mode: "controller", secret: "s-of-app" });
    const run = client.prompt(sessionId, "Open it");
    await isRunning();
    await world.kill();
    end();
    await world.start();
    expect(await run.result).toMatchObject({ reason: "end_turn" });
    expect(ran).toEqual(["a.ts"]);
    expect(questions).toHaveLength(1);
    expect(lastSaid(world.model)).toContain(String.raw`{\"opened\":\"a.ts\"}`);
  });

  it("A new host does not run the tool call again, and a person is asked for the outcome", async () => {
    const world = await worldOf();
    const first = opening();
    const before = world.client(first.host);
    const { sessionId } = await before.newSession({ workingDirectory: command.folder });
    before.prompt(sessionId, "Open it").result.catch(() => undefined);
    await first.isRunning();
    await world.kill();
    await before.close();
    await world.start();
    const second = opening({
      permission(question) {
        second.questions.push(question);
        return { option: "done" };
      },
    });
    const after = world.client(second.host);
    await after.loadSession(sessionId, { workingDirectory: command.folder });
    await vi.waitFor(() => expect(world.model.modelRequests).toHaveLength(2), LONG);
    expect(second.questions.map(({ approval }) => approval.action)).toEqual([
      "host__open_file may already have run; allowing runs it again",
    ]);
    expect(second.ran).toEqual([]);
    expect(lastSaid(world.model)).toContain("did its work; its output was lost");
  });
});
