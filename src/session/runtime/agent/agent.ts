import type { FileChange, WatchRequest } from "../../../domain/outputs/file-watch.ts";
import type { Provider } from "../../../providers/provider.ts";
import type { ToolCallToExamine, Examination, Tool } from "../../../tools/tool.ts";
import type { ConfiguredAgent } from "../../session-input.ts";

/** A runnable agent: its definition, with the provider and tools which plain data cannot hold. */
export interface Agent extends ConfiguredAgent {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Resolves paths for tools without their own `examine`. Without it, such paths are unresolvable. */
  readonly resolvePaths?: (call: ToolCallToExamine) => Promise<Examination>;
  /** Computes SHA-256 digests of files of the workspace, null for a missing file. Absent without a workspace. */
  readonly digestFiles?: (
    paths: readonly string[],
    location: FileLocation,
  ) => Promise<ReadonlyMap<string, string | null>>;
  /**
   * Watches files of the workspace until the signal aborts. Rejects if a path is not in the workspace. Absent without a
   * workspace.
   */
  readonly watchFiles?: (
    request: WatchRequest,
    location: FileLocation,
    watcher: FileWatcher,
  ) => Promise<void>;
  /** Resolves the working directory for a requested folder, or the default. Rejects if the folder is not allowed. */
  readonly resolveFolder?: (named?: string) => Promise<string>;
  /** Opens the agent for one session, with tools of that session which may change until it is closed. */
  readonly open?: (place: OpenAgentOptions) => Promise<AgentHandle>;
}

/** Receives changes of watched files. */
export interface FileWatcher {
  readonly signal: AbortSignal;
  readonly onChange: (change: FileChange) => void;
  /** Called with the reason why changes may be missing. */
  readonly onProblem: (message: string) => void;
}

/** The folders of a session. */
export interface FileLocation {
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
}

/** The session for which an agent is opened. */
export interface AgentLocation {
  readonly sessionId: string;
  readonly workingDirectory?: string;
}

export interface OpenAgentOptions extends AgentLocation {
  /** Called with every change of the agent. */
  readonly onChange: (agent: Agent) => void;
  /** Cancels the opening: it rejects with the reason and releases everything. */
  readonly signal?: AbortSignal;
}

export interface AgentHandle {
  readonly agent: Agent;
  /** Milliseconds to keep the agent of an unused session. Absent: the default. */
  readonly idleMs?: number;
  readonly close: () => Promise<void>;
}

/** Resolves the paths of a call by the tool itself, else by the agent. Undefined if neither can. */
export function resolveToolPaths(
  tool: Tool | undefined,
  agent: Agent,
  call: ToolCallToExamine,
): Promise<Examination> | undefined {
  return tool?.examine?.(call) ?? agent.resolvePaths?.(call);
}
