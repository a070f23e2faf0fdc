import type { Timer } from "../../../async/invocation-guard.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { Tool } from "../../tool.ts";
import type { ToolCallSlots } from "./tool-call-slots.ts";
import { callTool } from "./call-tool.ts";
import type { ServerConnection } from "../connection/connect-server.ts";
import type { ListedTool } from "./listed-tool.ts";
import { resolveServerTimes, type McpServerSettings } from "../mcp-server-settings.ts";
import { isServerFailure, createServerFailure } from "../connection/server-failure.ts";
import { createUntrustedCheck } from "./untrusted-schema.ts";
import type { OutputSanitizer } from "../connection/output-sanitizer.ts";

/** Where a tool's calls go. */
export interface ToolHost {
  readonly settings: McpServerSettings;
  readonly clock: Timer;
  readonly sanitizer: OutputSanitizer;
  readonly slots: ToolCallSlots;
  /** The tool as the server lists it now; undefined when it is there no more. */
  findTool(name: string): ListedTool | undefined;
  /** Rejects with why there is none. */
  connect(signal: AbortSignal): Promise<ServerConnection>;
}

/** A tool of a server, for as long as somebody may call it: also when it, or the server, is gone by then. */
export function createServerTool(listedTool: ListedTool, host: ToolHost): Tool {
  const { name, modelName, description, schema, idempotent, traits } = listedTool;
  const { settings, clock, slots } = host;
  const check = createUntrustedCheck(schema);
  return {
    spec: {
      name: modelName,
      description,
      schema,
      idempotent,
      timeoutMs: resolveServerTimes(settings).maxTimeoutMs,
      traits,
    },
    check,
    async run(input, context) {
      const release = await slots.acquire(context.signal);
      try {
        const connection = await host.connect(context.signal);
        const tool = host.findTool(name);
        if (tool === undefined) {
          const message = "does not offer this tool any more; it was not run. Do without it";
          throw createServerFailure(settings.name, "tool-gone", message);
        }
        if (!isSameTool(tool, listedTool)) {
          const message =
            "says something else of this tool since it was called; it was not run. Call it again if it is still wanted";
          throw createServerFailure(settings.name, "tool-changed", message);
        }
        return await callTool(tool, input, { connection, settings, clock, context });
      } catch (error) {
        throw isServerFailure(error) ? host.sanitizer.scrubFailure(error) : error;
      } finally {
        release();
      }
    },
  };
}

/** Whether a yes to the one is a yes to the other: a call may have waited for its place, or for the server. */
function isSameTool(tool: ListedTool, other: ListedTool): boolean {
  return tool === other || digestTool(tool) === digestTool(other);
}

function digestTool({ modelName, description, schema, idempotent, traits }: ListedTool): string {
  return digestValue([modelName, description, schema, idempotent, traits]);
}
