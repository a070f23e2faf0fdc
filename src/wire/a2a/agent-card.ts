import {
  DISPATCH_METHOD,
  EXTERNAL_AGENT_SCHEMA,
  PLAN_METHOD,
} from "../bridge/external-agent-contract.ts";
import { CURSOR_EXTENSION, TASK_STREAM_EXTENSION } from "./extensions.ts";

export interface AgentCardOptions {
  /** The address of the server, without a slash at its end. */
  readonly baseUrl: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  /** The agents that the card offers. The first is used if a request names none. */
  readonly agents: readonly CardAgent[];
  /** Whether a caller needs a key. */
  readonly requiresKey: boolean;
  /** Whether paid work is offered. */
  readonly isExternalAgent: boolean;
  /** Whether the server sends push notifications. */
  readonly sendsPush: boolean;
}

export interface CardAgent {
  readonly name: string;
  readonly description: string;
}

/** The path of the JSON-RPC binding, and the first segments of the HTTP+JSON binding. */
export const A2A_PATH = "/a2a";
/** The public keys which sign push notifications. */
export const PUSH_KEYS_PATH = "/.well-known/jwks.json";
export const CARD_PATH = "/.well-known/agent-card.json";

/** Creates the agent card. It has the fields of 1.0, and those of 0.3 which have other names. */
export function createAgentCard(options: AgentCardOptions): object {
  const { baseUrl, version, name, description, agents, requiresKey } = options;
  const { isExternalAgent, sendsPush } = options;
  const url = `${baseUrl}${A2A_PATH}`;
  return {
    name,
    description,
    version,
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: sendsPush,
      extendedAgentCard: true,
      extensions: EXTENSIONS,
      ...(isExternalAgent && { externalAgent: EXTERNAL_AGENT }),
    },
    securitySchemes: requiresKey ? { bearer: BEARER_SCHEME } : {},
    securityRequirements: requiresKey ? [{ schemes: { bearer: { list: [] } } }] : [],
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
    skills: agents.map(createSkill),
    // The names of 0.3.
    url,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    security: requiresKey ? [{ bearer: [] }] : [],
    supportsAuthenticatedExtendedCard: true,
  };
}

/** An agent is a skill: its id, sent as `metadata.agent`, selects the agent. */
function createSkill({ name, description }: CardAgent): object {
  return {
    id: name,
    name,
    description,
    tags: ["agent"],
    inputModes: INPUT_MODES,
    outputModes: OUTPUT_MODES,
  };
}

const INPUT_MODES = [
  "text/plain",
  "application/json",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
];
const OUTPUT_MODES = ["text/plain", "application/json"];

/** Both versions read this scheme: 1.0 the field of its name, 0.3 `type` and `scheme`. */
const BEARER_SCHEME = {
  httpAuthSecurityScheme: { scheme: "Bearer", description: "A key of this server" },
  type: "http",
  scheme: "bearer",
};

const EXTENSIONS = [
  {
    uri: CURSOR_EXTENSION,
    description:
      "Streams resume without a gap: send the id of the last event as Last-Event-ID. Tasks and updates have the same number in their metadata",
    required: false,
  },
  {
    uri: TASK_STREAM_EXTENSION,
    description: "Stream entries worker_update, harn_plan and status of the Harn bridge protocol",
    required: false,
  },
];

/** The capability of the bridge protocol, for peers which pay for work. */
const EXTERNAL_AGENT = {
  schema: EXTERNAL_AGENT_SCHEMA,
  pre_dispatch_checkpoint: true,
  budget_cap: true,
  idempotency: true,
  reviewable_handoff: true,
  dispatch: true,
  operations: [PLAN_METHOD, DISPATCH_METHOD],
};
