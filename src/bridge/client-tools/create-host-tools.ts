import type { HostTool } from "../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ToolTraits } from "../../domain/tools/tool-traits.ts";
import { cleanLine, cleanText } from "../../text/clean-text.ts";
import { MCP_LIMITS } from "../../tools/mcp/mcp-limits.ts";
import { toModelName } from "../../tools/mcp/model-name.ts";
import {
  readUntrustedSchema,
  createUntrustedCheck,
} from "../../tools/mcp/tools/untrusted-schema.ts";
import type { Tool } from "../../tools/tool.ts";

export interface UsableTools {
  readonly tools: readonly Tool[];
  readonly problems: readonly Failure[];
}

/** The client that runs the tools, with its capabilities. */
export interface ToolHost {
  readonly clientId: string;
  readonly knowsCalls: boolean;
}

/** Creates the tools that a host offers. An invalid tool becomes a problem and does not affect the others. */
export function createHostTools(offered: readonly HostTool[], host: ToolHost): UsableTools {
  const tools: Tool[] = [];
  const problems: Failure[] = [];
  for (const offeredTool of offered) {
    const { schema, problem } = readUntrustedSchema(toObjectSchema(offeredTool.schema));
    if (schema === undefined) problems.push(createToolFailure(offeredTool, problem));
    else if (schema["type"] !== "object")
      problems.push(createToolFailure(offeredTool, 'its type is not "object"'));
    else tools.push(createHostTool(offeredTool, schema, host));
  }
  return { tools, problems };
}

function toObjectSchema(schema: JsonObject | null): JsonObject {
  return { type: "object", ...schema };
}

function createToolFailure({ name }: HostTool, problem: string): Failure {
  const message = `The host tool ${cleanLine(name, 100)} cannot be used because of its schema: ${problem}`;
  return new SpanlineError("invalid_tool", message).toFailure();
}

function createHostTool(
  { name, ...definition }: HostTool,
  schema: JsonObject,
  host: ToolHost,
): Tool {
  const { clientId, knowsCalls } = host;
  return {
    spec: {
      name: toModelName("host", name),
      description: formatDescription({ name, ...definition }),
      schema,
      // A host that recognizes a repeated tool call does not run it again.
      idempotent: knowsCalls,
      timeoutMs: HOST_TIMEOUT_MS,
      traits: createTraits(name, definition.mcpServer),
    },
    check: createUntrustedCheck(schema),
    async run(input, context) {
      const { idempotencyKey: toolCallId, attempt, isRepeat, signal } = context;
      signal.throwIfAborted();
      const call = { name, input, toolCallId, ...(isRepeat === true && { attempt }) };
      const { result = null } = await context.host(clientId, "tool", call);
      return result;
    },
  };
}

function formatDescription({ name, description, deprecated }: HostTool): string {
  const cleaned = cleanText(description, MCP_LIMITS.descriptionCharacters);
  const text = cleaned === "" ? `${cleanLine(name, 100)} of the user's editor` : cleaned;
  return deprecated ? `Deprecated: prefer another tool. ${text}` : text;
}

/** Milliseconds. Limit for the reply of a host. */
const HOST_TIMEOUT_MS = 300_000;

/**
 * Only the host knows the effects of its tools, so they count as network access. A tool of an MCP server keeps its
 * server for rules and hosts.
 */
function createTraits(tool: string, server: string | undefined): ToolTraits {
  const origin = server === undefined ? {} : { server, tool };
  return { kind: "other", sideEffect: "network", executor: { type: "host", ...origin } };
}
