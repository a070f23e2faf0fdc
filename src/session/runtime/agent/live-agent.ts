import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { EditorCapabilities, ClientTools } from "../../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { Agent, AgentLocation } from "./agent.ts";
import { createClientTools, type OpenClientTools } from "./session-client-tools.ts";

/** The agent of one session. Its tools may change while the session runs. */
export interface LiveAgent {
  /** Includes client tools. */
  readonly current: Agent;
  /** Milliseconds to keep the agent of an unused session. Absent: the default. */
  readonly idleMs?: number;
  /** Sets the listener for changes. Earlier changes are not repeated. */
  onChange(listener: (agent: Agent) => void): void;
  /** Replaces the tools of a client. Resolves with their problems. */
  setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]>;
  /** The editor capabilities of a client. Undefined if it has none or is gone. */
  findEditor(clientId: string): EditorCapabilities | undefined;
  /** Removes a client with its tools. */
  removeClient(clientId: string): void;
  close(): Promise<void>;
}

export interface LiveAgentOptions {
  /** Cancels the opening. */
  readonly signal?: AbortSignal;
  /** Without it, clients cannot add tools. */
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
  // A change may be reported before the opening completes; it is newer than `opened.agent`.
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

/** Never called in practice: `setClientTools` is refused earlier. */
const rejectClientTools: OpenClientTools = () =>
  Promise.reject(new SpanlineError("invalid_option", "This program does not accept client tools"));

/**
 * Adds client tools to an agent. If names collide, the first tool stays, so a client cannot intercept calls of another
 * tool.
 */
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
