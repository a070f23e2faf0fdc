import type { Failure } from "./errors.ts";
import type { JsonObject } from "../data/json.ts";
import type { ShellList } from "./tools/shell.ts";

/**
 * What a client brings along for one session, and takes away with it when it leaves. It holds secrets: neither a log nor an
 * error ever has any of it. What it offers is in the log, as tools of the agent.
 */
export interface ClientTools {
  readonly servers: readonly ClientMcpServer[];
  readonly tools: readonly HostTool[];
  /** What is wrong with the tools that its machine listed beside these. */
  readonly toolProblems?: readonly Failure[];
  /** Its machine knows the calls of its tools again by their ids: it runs each once, and says again what came of it. */
  readonly recognizesToolCalls?: boolean;
  /** Absent for a client that offers nothing of it, or is of another machine than the session. */
  readonly editor?: EditorCapabilities;
}

/** What an editor does in place of the tools of a workspace: its files have what nobody saved yet. */
export interface EditorCapabilities {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** With the one that its user chose, where it says. */
  readonly shells?: ShellList;
}

/** An MCP server to be connected to: a program to start, or an address to call. */
export type ClientMcpServer =
  | {
      readonly type: "stdio";
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
    }
  | {
      readonly type: "http";
      readonly name: string;
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
    };

/** A tool of a client's machine, as its host describes it. */
export interface HostTool {
  readonly name: string;
  /** Empty where the host says nothing. */
  readonly description: string;
  /** Null where the host does not say what arguments there are. */
  readonly schema: JsonObject | null;
  readonly deprecated: boolean;
  /** The MCP server that the host has the tool from, where it says. */
  readonly mcpServer?: string;
}

/** What a client's machine listed: the tools that can be used, and what is wrong with the others. */
export interface HostToolList {
  readonly tools: readonly HostTool[];
  readonly problems: readonly Failure[];
}

export const NO_HOST_TOOLS: HostToolList = { tools: [], problems: [] };

/** What came of it. What cannot be used is told, and the rest is there. */
export type SetClientToolsReply =
  | { readonly status: "accepted"; readonly problems: readonly Failure[] }
  | { readonly status: "refused"; readonly failure: Failure };

export function hasNoClientTools({ servers, tools, toolProblems, editor }: ClientTools): boolean {
  const isWithoutTools = tools.length === 0 && toolProblems === undefined;
  return servers.length === 0 && isWithoutTools && editor === undefined;
}
