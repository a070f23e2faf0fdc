import type { HostTool } from "../../domain/equipment.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ToolTraits } from "../../domain/tool-traits.ts";
import { cleanLine, cleanText } from "../../tools/mcp/clean-text.ts";
import { MCP_LIMITS } from "../../tools/mcp/limits.ts";
import { modelName } from "../../tools/mcp/model-name.ts";
import { readSchema, untrustedCheck } from "../../tools/mcp/untrusted-schema.ts";
import type { Tool } from "../../tools/tool.ts";

export interface UsableTools {
  readonly tools: readonly Tool[];
  readonly problems: readonly Failure[];
}

/** Whose machine it is, and what is known of it. */
export interface ToolHost {
  readonly clientId: string;
  readonly knowsCalls: boolean;
}

/** The tools of a client's machine for a model. One that cannot be used costs no other. */
export function hostTools(offered: readonly HostTool[], host: ToolHost): UsableTools {
  const tools: Tool[] = [];
  const problems: Failure[] = [];
  for (const one of offered) {
    const { schema, problem } = readSchema(objectSchema(one.schema));
    if (schema === undefined) problems.push(unusable(one, problem));
    else if (schema["type"] !== "object") problems.push(unusable(one, "it is not of an object"));
    else tools.push(hostTool(one, schema, host));
  }
  return { tools, problems };
}

function objectSchema(schema: JsonObject | null): JsonObject {
  return { type: "object", ...schema };
}

function unusable({ name }: HostTool, problem: string): Failure {
  const message = `The host's tool ${cleanLine(name, 100)} cannot be used: its schema: ${problem}`;
  return new SpanlineError("invalid_tool", message).toFailure();
}

function hostTool({ name, ...said }: HostTool, schema: JsonObject, host: ToolHost): Tool {
  const { clientId, knowsCalls } = host;
  return {
    facts: {
      name: modelName("host", name),
      description: descriptionOf({ name, ...said }),
      schema,
      // Asked again for a call that it knows, it runs nothing.
      idempotent: knowsCalls,
      timeoutMs: HOST_TIMEOUT_MS,
      traits: traitsOf(name, said.mcpServer),
    },
    check: untrustedCheck(schema),
    async run(input, context) {
      const { idempotencyKey: toolCallId, attempt, isRepeat, signal } = context;
      signal.throwIfAborted();
      const call = { name, input, toolCallId, ...(isRepeat === true && { attempt }) };
      const { result = null } = await context.host(clientId, "tool", call);
      return result;
    },
  };
}

function descriptionOf({ name, description, deprecated }: HostTool): string {
  const said = cleanText(description, MCP_LIMITS.descriptionCharacters);
  const text = said === "" ? `${cleanLine(name, 100)} of the user's editor` : said;
  return deprecated ? `Deprecated: use another tool where there is one. ${text}` : text;
}

/** As long as a client's machine is waited for. */
const HOST_TIMEOUT_MS = 300_000;

/** What it does nobody knows but the host. One of an MCP server is that server's to rules and to hosts. */
function traitsOf(tool: string, server: string | undefined): ToolTraits {
  const origin = server === undefined ? {} : { server, tool };
  return { kind: "other", sideEffect: "network", executor: { type: "host", ...origin } };
}
