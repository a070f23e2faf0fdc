import { localProvider, type LocalOptions } from "../../../src/providers/local/local-provider.ts";
import type { ModelSettings } from "../../../src/models/model.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { createInstantClock } from "../../support/instant-clock.ts";
import {
  startModelServer,
  type ModelServerRequest,
  type Dialect,
  type ModelServer,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";
import {
  createAgent,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";

export interface LocalWorld {
  readonly world: SessionWorld;
  readonly server: ModelServer;
  /** Delays between attempts, in milliseconds. */
  readonly waits: readonly number[];
  readonly agent: (parts?: Partial<AgentParts>) => Agent;
}

export interface LocalParts extends Partial<AgentParts> {
  readonly local?: Partial<LocalOptions>;
  readonly settings?: ModelSettings;
}

/** A session with a local agent over a scripted model on a real socket. Delays between attempts take no time. */
export async function localWorld(
  dialect: Dialect,
  answers: readonly ScriptedResponse[] | ((asked: ModelServerRequest) => ScriptedResponse),
  { local, settings, ...parts }: LocalParts = {},
): Promise<LocalWorld> {
  const server = await startModelServer(dialect, answers);
  const clock = createInstantClock();
  const limits = { firstEvent: Infinity, idle: Infinity };
  const model = server.createModel({ clock, limits, random: () => 0.5, ...settings });
  const provider = localProvider({ model, system: "Be brief.", ...local });
  const agent: LocalWorld["agent"] = (more = {}) =>
    createAgent({ provider, onLost: "resend", ...parts, ...more });
  return { world: await openWorld(agent()), server, waits: clock.waits, agent };
}

/** A request as lines of text, the same for both dialects. */
export function linesOf({ messages }: ModelServerRequest): string[] {
  return messages.flatMap((message) => {
    const { role, content, tool_calls: calls, tool_call_id: id } = message;
    if (role === "system") return [];
    if (role === "tool") return [`result ${String(id)}: ${plainText(String(content))}`];
    return [...contentLines(role, content), ...(Array.isArray(calls) ? calls.map(chatCall) : [])];
  });
}

function contentLines(role: string, content: unknown): string[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") {
    return content.split("\n\n").map((paragraph) => `${role}: ${paragraph}`);
  }
  if (!Array.isArray(content)) throw new Error(`What is ${JSON.stringify(content)}?`);
  return content.map((part) => {
    if (part.type === "text") return `${role}: ${part.text}`;
    if (part.type === "tool_use")
      return `call ${part.id}: ${part.name} ${JSON.stringify(part.input)}`;
    if (part.type !== "tool_result") return `${part.type}: ${part.thinking}`;
    const texts = (part.content ?? []).map(({ text }: { readonly text: string }) => text);
    return `result ${part.tool_use_id}: ${texts.join("\n")}`;
  });
}

function chatCall(call: { id: string; function: { name: string; arguments: string } }): string {
  return `call ${call.id}: ${call.function.name} ${call.function.arguments}`;
}

/** Removes the prefix which only the chat dialect adds to an error. */
function plainText(text: string): string {
  return text.replace(/^Error: /, "");
}
