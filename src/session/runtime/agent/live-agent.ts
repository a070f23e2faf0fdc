import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { EditorCapabilities, ClientTools } from "../../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { Agent, AgentLocation } from "./agent.ts";
import { createClientTools, type OpenClientTools } from "./session-client-tools.ts";

/** An agent as one session has it: what it can do may change while the session goes on. */
export interface LiveAgent {
  /** With what clients have brought. */
  readonly current: Agent;
  /** How long it should be kept for a session that nobody uses; as long as any session when absent. */
  readonly idleMs?: number;
  /** Told of every change, once somebody listens. */
  onChange(listener: (agent: Agent) => void): void;
  /** What a client brings, in place of what it brought before. Resolves with what cannot be used of it. */
  setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]>;
  /** What the editor of a client offers, while that is there. */
  findEditor(clientId: string): EditorCapabilities | undefined;
  /** A client is gone, and what it brought. */
  removeClient(clientId: string): void;
  close(): Promise<void>;
}

export interface LiveAgentOptions {
  /** Ends the opening. */
  readonly signal?: AbortSignal;
  /** Nobody can bring anything without it. */
  readonly openClientTools?: OpenClientTools;
  readonly report: (error: unknown) => void;
}

export async function openLiveAgent(
  agent: Agent,
  location: AgentLocation,
  { signal, openClientTools = rejectClientTools, report }: LiveAgentOptions,
): Promise<LiveAgent> {
  let base = agent;
  let current = agent;
  let hasChanged = false;
  let listener: ((now: Agent) => void) | undefined;
  const compose = (): void => {
    current = addClientTools(base, clientTools.listTools());
    listener?.(current);
  };
  const clientTools = createClientTools({
    open: openClientTools,
    location,
    onChange: compose,
    report,
  });
  const opened = await agent.open?.({
    ...location,
    onChange: (now) => {
      hasChanged = true;
      base = now;
      compose();
    },
    ...omitUndefined({ signal }),
  });
  // A change may have been told of before all of it was open.
  if (opened !== undefined && !hasChanged) {
    base = opened.agent;
    compose();
  }
  return {
    ...(opened?.idleMs !== undefined && { idleMs: opened.idleMs }),
    get current() {
      return current;
    },
    onChange(newListener) {
      listener = newListener;
    },
    setClientTools: (clientId, provided) => clientTools.setClientTools(clientId, provided),
    findEditor: (clientId) => clientTools.findEditor(clientId),
    removeClient: (clientId) => clientTools.removeClient(clientId),
    async close() {
      listener = undefined;
      await Promise.all([opened?.close(), clientTools.close()]);
    },
  };
}

/** Nobody gets here: what is brought is refused before. */
const rejectClientTools: OpenClientTools = () =>
  Promise.reject(new SpanlineError("invalid_option", "Nothing can be brought to sessions here"));

/** An agent with tools beside its own. Of two with one name the first stays: nobody gets another's call by its name. */
function addClientTools(agent: Agent, clientTools: readonly Tool[]): Agent {
  const tools = new Map(agent.tools);
  const facts = [...agent.spec.tools];
  for (const tool of clientTools) {
    if (tools.has(tool.spec.name)) continue;
    tools.set(tool.spec.name, tool);
    facts.push(tool.spec);
  }
  if (tools.size === agent.tools.size) return agent;
  const equipped = { ...agent.spec, tools: facts };
  return { ...agent, spec: equipped, digest: digestValue(equipped), tools };
}
