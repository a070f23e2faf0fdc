import { describe, expect, it, onTestFinished } from "vitest";
import {
  createHost,
  type Client,
  type ClientOptions,
  type ConnectionState,
  type SessionUpdate,
} from "../../src/host/index.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { USER } from "../support/acp/acp-client.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../support/session/scripted-provider.ts";
import { createAgent, openSessions, createTool } from "../support/session/session-world.ts";

const PLACE = { workingDirectory: "/work" };

function world(...answers: readonly ProviderScript[]) {
  const provider = createScriptedProvider(answers);
  const ran: unknown[] = [];
  const save = createTool({ name: "save" }, (input) => {
    ran.push(input);
    return "saved";
  });
  const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;
  const sessions = openSessions(
    createMemoryStore(),
    createAgent({ provider, tools: [save], approvals }),
  );
  onTestFinished(() => sessions.close());
  return { sessions, ran, provider };
}

/** A client with its connection states and a function to break its connection. */
function losable(sessions: ReturnType<typeof world>["sessions"], options: ClientOptions = {}) {
  let connected = (): void => {};
  const states: ConnectionState[] = [];
  const { client, sockets } = createHostClient(sessions, {
    ...options,
    onState(state) {
      states.push(state);
      if (state.type === "connected") connected();
    },
  });
  return {
    client,
    states,
    /** Breaks the connection and resolves after a reconnect. */
    lose: (): Promise<void> =>
      new Promise((resolve) => {
        connected = resolve;
        sockets.at(-1)?.destroy();
      }),
  };
}

async function firstText(updates: AsyncIterable<SessionUpdate>): Promise<string> {
  for await (const update of updates) if (update.type === "agent-text") return update.text;
  return "";
}

async function textOf(client: Client, sessionId: string, text: string): Promise<string> {
  let agentText = "";
  for await (const update of client.prompt(sessionId, text)) {
    if (update.type === "agent-text") agentText += update.text;
  }
  return agentText;
}

describe("Client that loses its connection", () => {
  it("The client reconnects and continues its sessions [W-48]", async () => {
    const { sessions } = world(says("One"), says("Two"));
    const { client, lose, states } = losable(sessions);
    const { sessionId } = await client.newSession(PLACE);
    expect(await textOf(client, sessionId, "1")).toBe("One");
    await lose();
    expect(await textOf(client, sessionId, "2")).toBe("Two");
    expect(states.map(({ type }) => type)).toEqual(["connected", "lost", "connected"]);
  });

  it("The client requests the response to its prompt again without a second invocation [W-48]", async () => {
    const { sessions, provider } = world(hangs("Well"), says("Later"));
    const { client, lose } = losable(sessions);
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Think");
    await firstText(run);
    await lose();
    // The turn continues and can still be cancelled.
    await client.cancel(sessionId);
    expect(await run.result).toMatchObject({ reason: "cancelled" });
    expect(provider.invocations).toHaveLength(1);
    expect(await textOf(client, sessionId, "Again")).toBe("Later");
  });

  it("A cancel during the disconnect is sent on the next connection [W-48]", async () => {
    const { sessions, provider } = world(hangs("Well"), says("Later"));
    const { client, lose } = losable(sessions);
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Think");
    await firstText(run);
    const again = lose();
    run.cancel();
    await again;
    expect(await run.result).toMatchObject({ reason: "cancelled" });
    expect(provider.invocations).toHaveLength(1);
    expect(await textOf(client, sessionId, "Again")).toBe("Later");
  });

  it("The client receives the updates of a turn that continued without it", async () => {
    const { sessions, ran } = world(wants({ id: "c1", name: "save" }), says("Done"));
    const receivedTexts: string[] = [];
    let isAsked = (): void => {};
    const permissionRequested = new Promise<void>((resolve) => (isAsked = resolve));
    let answers = 0;
    const { client, lose } = losable(sessions, {
      host: createHost({
        permission() {
          answers += 1;
          isAsked();
          return answers === 1 ? "leave" : "allow";
        },
      }),
      onUpdate({ update }) {
        if (update.type === "agent-text") receivedTexts.push(update.text);
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Save it");
    await permissionRequested;
    await lose();
    expect(await run.result).toMatchObject({ reason: "end_turn" });
    // The permission request was sent again and decided on the new connection.
    expect(ran).toHaveLength(1);
    await client.listSessions();
    expect(receivedTexts.at(-1)).toBe("Done");
  });

  it("With the load mode the history is replayed between a start mark and an end mark", async () => {
    const { sessions } = world(says("One"));
    const seen: string[] = [];
    const { client, lose } = losable(sessions, {
      reconnectMode: "load",
      onHistory: (_, state) => seen.push(state),
      onUpdate({ update, isHistory }) {
        if (update.type === "agent-text") seen.push(`${update.text} ${isHistory}`);
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    await client.prompt(sessionId, "1").result;
    await lose();
    expect(seen).toEqual(["One false", "begins", "One true", "ends"]);
  });

  it("The client attaches again under its id and secret with its role [B-216]", async () => {
    const { sessions } = world(says("One"));
    const { client, lose } = losable(sessions);
    const { sessionId } = await client.newSession(PLACE);
    await client.attach(sessionId, { clientId: "tui", secret: "s3cret", mode: "controller" });
    await lose();
    expect(await client.liveClients(sessionId)).toMatchObject([
      { clientId: "tui", role: "controller" },
    ]);
  });

  it("A detached session stays detached after a reconnect, and continues after a new attach [B-216]", async () => {
    const { sessions } = world(says("One"));
    let tell: (text: string) => void = () => {};
    const receivedNote = new Promise<string>((resolve) => (tell = resolve));
    const { client, lose } = losable(sessions, {
      onUpdate: ({ update }) => update.type === "agent-text" && tell(update.text),
    });
    const { sessionId } = await client.newSession(PLACE);
    const own = { clientId: "tui", secret: "s3cret", mode: "controller" } as const;
    await client.attach(sessionId, own);
    await client.detach(sessionId);
    await lose();
    const other = createHostClient(sessions).client;
    expect(await other.liveClients(sessionId)).toEqual([]);
    await client.attach(sessionId, own);
    await lose();
    expect(await other.liveClients(sessionId)).toMatchObject([{ clientId: "tui" }]);
    const content = [{ type: "text", text: "1" }] as const;
    await sessions.command(sessionId, { type: "prompt", content }, { principal: USER });
    expect(await receivedNote).toBe("One");
  });

  it("The client observes if another client controls after the reconnect [B-216]", async () => {
    const { sessions } = world(says("One"));
    const one = losable(sessions);
    const { sessionId } = await one.client.newSession(PLACE);
    await one.client.attach(sessionId, { clientId: "one", secret: "s3cret", mode: "controller" });
    const two = createHostClient(sessions).client;
    await two.attach(sessionId, { clientId: "two", mode: "controller", takeOver: true });
    await one.lose();
    const clients = await one.client.liveClients(sessionId);
    expect(clients.map(({ clientId, role }) => `${clientId} ${role}`).sort()).toEqual([
      "one observer",
      "two controller",
    ]);
  });

  it("A deleted session is reported and forgotten", async () => {
    const { sessions } = world(says("One"));
    const reports: string[] = [];
    const { client, lose } = losable(sessions, { report: (message) => reports.push(message) });
    const { sessionId } = await client.newSession(PLACE);
    const other = createHostClient(sessions).client;
    await other.deleteSession(sessionId);
    await lose();
    expect(reports).toContain("A session could not be resumed");
    await lose();
    expect(reports.filter((one) => one.startsWith("A session could"))).toHaveLength(1);
  });
});

describe("Client that cannot connect", () => {
  it("The first connection attempt fails at once", async () => {
    const { createClient } = await import("../../src/host/index.ts");
    const client = createClient(() => Promise.reject(new Error("nobody there")));
    await expect(client.initialize()).rejects.toMatchObject({ code: "connect_failed" });
  });
});
