import type { BudgetClock } from "../../async/budget.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ShellList } from "../../domain/tools/shell.ts";
import type { PermissionRequest } from "../../wire/acp/client/read-permission-request.ts";
import type { PermissionReply } from "../../wire/acp/client/permission-reply.ts";
import type {
  FileRead,
  FileWrite,
  TerminalExit,
  TerminalReference,
  TerminalOutput,
  TerminalStart,
} from "../../wire/acp/host/decode-editor-requests.ts";
import type {
  HostSkill,
  HostSkillEntry,
  SkillMatch,
  SkillMatchRequest,
} from "../../wire/acp/host/skill-messages.ts";
import type { RecordLimits } from "./tool-call-records.ts";
import type { Report } from "../connection/host-report.ts";

/** What a program lets agents use. What is not given, agents are told is not there. */
export interface HostOptions {
  /**
   * Asked before a tool runs that needs it, and what became of one after a crash: `isYesOrNo` says whether a plain yes or no
   * is an answer. Without it, and when it fails, nothing is allowed.
   */
  readonly permission?: (
    question: PermissionRequest,
    context: HostContext,
  ) => Awaitable<PermissionReply | "leave">;
  /** The tools that agents may call, or what says which they are now. */
  readonly tools?: readonly HostToolDefinition[] | (() => Awaitable<readonly HostToolDefinition[]>);
  readonly skills?: {
    readonly list: (context: HostContext) => Awaitable<readonly HostSkillEntry[]>;
    /** Undefined where there is none by this id. */
    readonly fetch: (id: string, context: HostContext) => Awaitable<HostSkill | undefined>;
  };
  readonly skillMatch?: (
    request: SkillMatchRequest,
    context: HostContext,
  ) => Awaitable<readonly SkillMatch[]>;
  /** The shells of this machine. Agents may choose another default for themselves. */
  readonly shells?: ShellList;
  /** Files as the editor has them, unsaved changes and all. */
  readonly files?: {
    readonly read?: (request: FileRead, context: HostContext) => Awaitable<string>;
    readonly write?: (request: FileWrite, context: HostContext) => Awaitable<void>;
  };
  readonly terminals?: {
    /** The id of a terminal in which the command runs. */
    readonly create: (request: TerminalStart, context: HostContext) => Awaitable<string>;
    readonly output: (
      request: TerminalReference,
      context: HostContext,
    ) => Awaitable<TerminalOutput>;
    readonly waitForExit: (
      request: TerminalReference,
      context: HostContext,
    ) => Awaitable<TerminalExit>;
    /** Ends the command; the terminal stays. */
    readonly kill: (request: TerminalReference, context: HostContext) => Awaitable<void>;
    readonly release: (request: TerminalReference, context: HostContext) => Awaitable<void>;
  };
  /** How long, and how many, calls of tools are remembered. */
  readonly records?: Partial<RecordLimits>;
  readonly report?: Report;
  readonly clock?: Pick<BudgetClock, "monotonic">;
}

export interface HostToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments. It is told to the agent; the arguments are the tool's own to check. */
  readonly schema?: JsonObject;
  readonly deprecated?: boolean;
  /** The MCP server that the host has the tool from. Updates and policies name it as the executor. */
  readonly mcpServer?: string;
  /** Gives anything that has a JSON form. What it throws, the agent hears as an error. */
  readonly run: (input: JsonObject, context: HostToolContext) => unknown;
}

export interface HostContext {
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface HostToolContext extends HostContext {
  /** The same when the agent asks again for the same call; null where it does not say. */
  readonly toolCallId: string | null;
}

export type Awaitable<Value> = Value | Promise<Value>;
