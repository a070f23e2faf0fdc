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

/** The server side of a tool's calls. */
export interface ToolHost {
  readonly settings: McpServerSettings;
  readonly clock: Timer;
  readonly sanitizer: OutputSanitizer;
  readonly slots: ToolCallSlots;
  /** The tool's current list entry. Undefined if the server no longer lists it. */
  findTool(name: string): ListedTool | undefined;
  /** Rejects with the reason if there is no connection. */
  connect(signal: AbortSignal): Promise<ServerConnection>;
}

/**
 * A tool of a server. The tool object stays usable after the server or the tool is gone; calls then fail with a reason.
 */
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
          const message = "no longer offers this tool; the tool was not run. Continue without it";
          throw createServerFailure(settings.name, "tool-gone", message);
        }
        if (!isSameTool(tool, listedTool)) {
          const message =
            "has changed this tool since it was called; the tool was not run. Call it again if it is still needed";
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

/** Whether an approval of one version also covers the other: a call may have waited for a slot or for the server. */
function isSameTool(tool: ListedTool, other: ListedTool): boolean {
  return tool === other || digestTool(tool) === digestTool(other);
}

function digestTool({ modelName, description, schema, idempotent, traits }: ListedTool): string {
  return digestValue([modelName, description, schema, idempotent, traits]);
}
