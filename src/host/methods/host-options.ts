import type { TimeBudgetClock } from "../../async/time-budget.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ShellList } from "../../domain/tools/shell.ts";
import type { PermissionRequest } from "../../wire/acp/client/read-permission-request.ts";
import type { PermissionReply } from "../../wire/acp/client/permission-reply.ts";
import type { QuestionReply, QuestionRequest } from "../../wire/acp/client/question-messages.ts";
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

/** The features a program offers to agents. Features not set are reported as unsupported. */
export interface HostOptions {
  /**
   * Decides permission requests: before a tool runs, or about the outcome of a tool after a crash. `isYesOrNo` says
   * whether a plain yes or no is a valid reply. "leave" keeps the request open for other clients. Without this
   * callback, and if it fails, requests are denied.
   */
  readonly permission?: (
    question: PermissionRequest,
    context: HostContext,
  ) => Awaitable<PermissionReply | "leave">;
  /**
   * Answers questions of agents, shown as a form (`elicitation/create`). "leave" keeps the question open for other
   * clients. Without this callback the host declares no forms, and an agent asks in another way or not at all.
   */
  readonly question?: (
    question: QuestionRequest,
    context: HostContext,
  ) => Awaitable<QuestionReply | "leave">;
  /** The tools offered to agents, or a function returning the current tools. */
  readonly tools?: readonly HostToolDefinition[] | (() => Awaitable<readonly HostToolDefinition[]>);
  readonly skills?: {
    readonly list: (context: HostContext) => Awaitable<readonly HostSkillEntry[]>;
    /** Undefined if no skill has this id. */
    readonly fetch: (id: string, context: HostContext) => Awaitable<HostSkill | undefined>;
  };
  readonly skillMatch?: (
    request: SkillMatchRequest,
    context: HostContext,
  ) => Awaitable<readonly SkillMatch[]>;
  /** The shells of this machine. Agents may choose another default for themselves. */
  readonly shells?: ShellList;
  /** Files as the editor shows them, including unsaved changes. */
  readonly files?: {
    readonly read?: (request: FileRead, context: HostContext) => Awaitable<string>;
    readonly write?: (request: FileWrite, context: HostContext) => Awaitable<void>;
  };
  readonly terminals?: {
    /** Starts the command in a new terminal and returns the terminal's id. */
    readonly create: (request: TerminalStart, context: HostContext) => Awaitable<string>;
    readonly output: (
      request: TerminalReference,
      context: HostContext,
    ) => Awaitable<TerminalOutput>;
    readonly waitForExit: (
      request: TerminalReference,
      context: HostContext,
    ) => Awaitable<TerminalExit>;
    /** Kills the command; the terminal stays until `release`. */
    readonly kill: (request: TerminalReference, context: HostContext) => Awaitable<void>;
    readonly release: (request: TerminalReference, context: HostContext) => Awaitable<void>;
  };
  /** Limits for remembered tool calls. Default: 1 hour, 100,000 calls, 32 Mi characters. */
  readonly records?: Partial<RecordLimits>;
  readonly report?: Report;
  readonly clock?: Pick<TimeBudgetClock, "monotonic">;
}

export interface HostToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments, sent to the agent. The tool itself has to validate its arguments. */
  readonly schema?: JsonObject;
  readonly deprecated?: boolean;
  /** The MCP server the host has the tool from. Updates and policies name this server as the executor. */
  readonly mcpServer?: string;
  /** Returns any value with a JSON form. An exception becomes the tool call's error. */
  readonly run: (input: JsonObject, context: HostToolContext) => unknown;
}

export interface HostContext {
  /** Aborts when the response is no longer needed. */
  readonly signal: AbortSignal;
}

export interface HostToolContext extends HostContext {
  /** The same for repeated requests of one tool call. Null if the agent does not send an id. */
  readonly toolCallId: string | null;
}

export type Awaitable<Value> = Value | Promise<Value>;
