import { onTestFinished } from "vitest";
import type { Principal } from "../../../src/domain/actor.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/data/json.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { createGate, type Gate } from "../gate.ts";
import {
  createScriptedProvider,
  wants,
  type ProviderScript,
  type ScriptedProvider,
} from "../session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openSessions,
  type AgentParts,
} from "../session/session-world.ts";
import { connectAcpClient, readText, type AcpPeer, type Message } from "./acp-client.ts";
import { startAcpServer } from "./acp-server.ts";
import { connectHttpPeer } from "./http-peer.ts";

export const LOCAL: Principal = { id: "local", rights: ["prompt", "approve", "control"] };

type Connect = (sessions: Sessions, clock: SteadyClock) => Promise<AcpPeer>;

/** Connects as over stdio: a message per line. */
export const connectLines: Connect = (sessions, clock) =>
  connectAcpClient(sessions, { principal: LOCAL, clock });

/** A connection over each transport, of the same principal. */
export const TRANSPORTS: readonly (readonly [name: string, connect: Connect])[] = [
  ["stdio", connectLines],
  ["WebSocket", async (sessions, clock) => (await startAcpServer(sessions, {}, clock)).connect()],
  ["HTTP", async (sessions, clock) => connectHttpPeer(await startAcpServer(sessions, {}, clock))],
];

export interface SteeringWorld {
  readonly sessions: RunningSessions;
  readonly provider: ScriptedProvider;
  /** Lets the tool `look` finish. */
  readonly gate: Gate;
  /** Connects a client that uses the bridge protocol. */
  readonly connectHost: () => Promise<AcpPeer>;
  readonly connectStock: () => Promise<AcpPeer>;
}

interface SteeringOptions extends Partial<AgentParts> {
  readonly clock?: SteadyClock;
}

/** Sessions of an agent with the tool `look`, which runs until the gate opens. */
export function createSteeringWorld(
  connect: Connect,
  answers: readonly ProviderScript[],
  { clock = systemClock, ...parts }: SteeringOptions = {},
): SteeringWorld {
  const gate = createGate();
  const provider = createScriptedProvider(answers);
  const look = createTool({ name: "look" }, async () => {
    await gate.pass();
    return "seen";
  });
  const agent = createAgent({ provider, tools: [look], ...parts });
  const sessions = openSessions(createMemoryStore(), agent, clock);
  onTestFinished(async () => {
    gate.open();
    await sessions.close();
  });
  const initialize = async (clientCapabilities: object): Promise<AcpPeer> => {
    const client = await connect(sessions, clock);
    await client.requestResult("initialize", { protocolVersion: 1, clientCapabilities });
    return client;
  };
  return {
    sessions,
    provider,
    gate,
    connectHost: () => initialize({ _meta: { harn: {} } }),
    connectStock: () => initialize({}),
  };
}

/** A step of the model that calls the tool `look`. */
export const looks: ProviderScript = wants({ id: "c1", name: "look" });

export async function openSession(client: AcpPeer): Promise<string> {
  const { sessionId } = await client.requestResult("session/new", { cwd: "/work", mcpServers: [] });
  return readText(sessionId);
}

/** Submits a prompt and waits until the tool `look` runs. Resolves with the prompt's response. */
export async function startToolTurn(
  client: AcpPeer,
  sessionId: string,
): Promise<{ readonly turn: Promise<Message> }> {
  const turn = submit(client, sessionId, "Go");
  await client.waitForMessage((message) => readUpdate(message)["status"] === "in_progress");
  return { turn };
}

export function submit(client: AcpPeer, sessionId: string, text: string): Promise<Message> {
  return client.requestResult("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
}

export function readUpdate({ method, params }: Message): JsonObject {
  if (method !== "session/update" || !isObject(params)) return {};
  return isObject(params["update"]) ? params["update"] : {};
}

/** The user messages a client received, as `kind messageId text`. */
export function listUserMessages(client: Pick<AcpPeer, "messages">): readonly string[] {
  return client.messages.map(readUpdate).flatMap((update) => {
    const { sessionUpdate, messageId, content } = update;
    if (typeof sessionUpdate !== "string" || !sessionUpdate.startsWith("user_message")) return [];
    const blocks: readonly (JsonValue | undefined)[] = Array.isArray(content) ? content : [content];
    const text = blocks.map((block) => (isObject(block) ? readText(block["text"]) : "")).join("|");
    return [`${sessionUpdate} ${readText(messageId)} ${text}`];
  });
}

/** The text of the agent's messages. */
export function readAgentText(client: Pick<AcpPeer, "messages">): string {
  return client.messages
    .map(readUpdate)
    .map(({ sessionUpdate, content }) =>
      sessionUpdate === "agent_message_chunk" && isObject(content) ? readText(content["text"]) : "",
    )
    .join("");
}

/** The `data.reason` of an error response. */
export function readReason({ error }: Message): unknown {
  const data = isObject(error) ? error["data"] : undefined;
  return isObject(data) ? data["reason"] : undefined;
}
