import type { Timer } from "../../async/call-guard.ts";
import { digestOf } from "../../platform/digest.ts";
import type { Tool } from "../tool.ts";
import type { CallSlots } from "./call-slots.ts";
import { callTool } from "./call-tool.ts";
import type { Connection } from "./connect-server.ts";
import type { ListedTool } from "./listed-tool.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";
import { isServerFailure, serverFailure } from "./server-failure.ts";
import { untrustedCheck } from "./untrusted-schema.ts";
import type { WithoutSecrets } from "./without-secrets.ts";

/** Where a tool's calls go. */
export interface ToolHome {
  readonly settings: McpServerSettings;
  readonly clock: Timer;
  readonly clean: WithoutSecrets;
  readonly slots: CallSlots;
  /** The tool as the server lists it now; undefined when it is there no more. */
  listed(name: string): ListedTool | undefined;
  /** Rejects with why there is none. */
  connection(signal: AbortSignal): Promise<Connection>;
}

/** A tool of a server, for as long as somebody may call it: also when it, or the server, is gone by then. */
export function serverTool(listed: ListedTool, home: ToolHome): Tool {
  const { name, modelName, description, schema, idempotent, traits } = listed;
  const { settings, clock, slots } = home;
  const check = untrustedCheck(schema);
  return {
    facts: {
      name: modelName,
      description,
      schema,
      idempotent,
      timeoutMs: timesOf(settings).maxTimeoutMs,
      traits,
    },
    check,
    async run(input, context) {
      const release = await slots.take(context.signal);
      try {
        const connection = await home.connection(context.signal);
        const tool = home.listed(name);
        if (tool === undefined) {
          const message = "does not offer this tool any more; it was not run. Do without it";
          throw serverFailure(settings.name, "tool-gone", message);
        }
        if (!isSame(tool, listed)) {
          const message =
            "says something else of this tool since it was called; it was not run. Call it again if it is still wanted";
          throw serverFailure(settings.name, "tool-changed", message);
        }
        return await callTool(tool, input, { connection, settings, clock, context });
      } catch (error) {
        throw isServerFailure(error) ? home.clean.failure(error) : error;
      } finally {
        release();
      }
    },
  };
}

/** Whether a yes to the one is a yes to the other: a call may have waited for its place, or for the server. */
function isSame(one: ListedTool, other: ListedTool): boolean {
  return one === other || shownDigest(one) === shownDigest(other);
}

function shownDigest({ modelName, description, schema, idempotent, traits }: ListedTool): string {
  return digestOf([modelName, description, schema, idempotent, traits]);
}
