import type { AgentCommand } from "../agent-command.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { Failure } from "../errors.ts";
import type { ImageType } from "../model/image-block.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ModelMessage } from "../model/model-request.ts";
import type { PlanEntry } from "../plan.ts";
import type { MatchedRule, PathFact, PolicyDecision } from "../policy/policy-decision.ts";
import type { Policy } from "../policy/policy.ts";
import type { ActivityKind, Outcome, Role, UnknownEvent } from "../provider/provider-event.ts";
import type { SessionMode } from "../session-mode.ts";
import type { FileDiff, ToolOutput } from "../tools/tool-output.ts";
import type { ToolTraits } from "../tools/tool-traits.ts";
import type { ToolCall, ToolResult } from "../tools/tool-call.ts";
import type { TraceContext } from "../trace-context.ts";
import type { Usage } from "../usage.ts";

/**
 * What a session's log says. Closed: `event-manifest.ts` has one row for each variant, and every encoder says of each
 * one whether it is mapped or silent.
 *
 * Deltas may be dropped once their block has ended, since the end carries the whole.
 */
export type SessionEvent =
  | SessionOpened
  | SessionFoldersChanged
  | AgentConfigured
  | SessionRecovered
  | SessionTitleChanged
  | SessionMetadataChanged
  | SessionModeChanged
  | HistoryImported
  | PromptAccepted
  | PromptWithdrawn
  | PromptHidden
  | TurnStarted
  | TurnPaused
  | ToolResultsSubmitted
  | TurnFinished
  | UpstreamOpened
  | UpstreamSettled
  | InvocationStarted
  | InvocationFinished
  | InvocationLost
  | MessageSent
  | MessageStarted
  | MessageFinished
  | MessageReplaced
  | TextDelta
  | TextFinished
  | ThoughtDelta
  | ThoughtFinished
  | ToolCallOpened
  | ToolCallInputDelta
  | ToolCallReceived
  | ToolCallPathsResolved
  | PolicyDecided
  | ToolStarted
  | ToolWaitingForHost
  | ToolProcessStarted
  | ToolProcessExited
  | ToolProgress
  | ToolFinished
  | PlanUpdated
  | ApprovalRequested
  | ApprovalRouted
  | ApprovalVoted
  | ApprovalResolved
  | GrantAdded
  | GrantRevoked
  | ApprovalsInvalidated
  | ClientAttached
  | ClientHeartbeat
  | ClientDetached
  | ControllerChanged
  | HostRequested
  | HostReplied
  | UsageReported
  | HookFired
  | ProviderActivity
  | DiagnosticRaised
  | ProviderUnknown;

export type SessionEventType = SessionEvent["type"];

export interface SessionOpened {
  readonly type: "session.opened";
  readonly agent: string;
  /** Whose session it is. */
  readonly principal: string;
  readonly title?: string;
  readonly workingDirectory?: string;
  /** The opener's own word, by which the session can be found again. */
  readonly label?: string;
  /** Under which its first conversation is on the provider's side, where that was said: it may be there already. */
  readonly upstreamId?: string;
}

/** Folders that belong to the workspace beside the session's own, in place of those before. */
export interface SessionFoldersChanged {
  readonly type: "session.folders_changed";
  /** Absolute paths. */
  readonly folders: readonly string[];
}

/** The definition that holds from here on, so that reading the log again decides as it was decided. */
export interface AgentConfigured {
  readonly type: "agent.configured";
  readonly digest: string;
  readonly spec: AgentSpec;
}

/** What decisions need to know of an agent: data alone. */
export interface AgentSpec {
  readonly name: string;
  readonly provider: ProviderSpec;
  readonly tools: readonly ToolSpec[];
  readonly approvals: ApprovalRules;
  /** Where there is one, it decides instead of the lists. */
  readonly policy?: Policy;
  /** What the session's tools may change, for whoever keeps books; absent where nobody said. */
  readonly mutationScope?: MutationScope;
  /** The folder that paths begin in where a session names none; absent where nobody said. */
  readonly workspace?: string;
  readonly caps: TurnCaps;
  readonly onLost: LostInvocationPolicy;
  readonly settle: QuiescePolicy;
  /** How long an approval waits for its answer. */
  readonly approvalMs: number;
  /** How long a paused turn waits for its results; a day where nobody said. */
  readonly resultsMs?: number;
  /** What follows a tool call whose arguments are not a JSON object. Default: `report`. */
  readonly invalidToolInput?: InvalidToolInput;
  /** What becomes of pictures in prompts; where nobody said, they are sent if the provider takes them, else refused. */
  readonly images?: ImageHandling;
  /** How many tokens the model can have before it; absent where nobody said. */
  readonly contextTokens?: number;
  /** What people can have said by a word. */
  readonly commands?: readonly AgentCommand[];
  /** A turn without a call of this tool is asked again. */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts: number };
}

/** `report`: the model gets an error result and can call the tool again. `fail`: the turn fails. The tool never runs. */
export type InvalidToolInput = "report" | "fail";

/** `describe`: the model is told in words that there is one. */
export type ImageHandling = "reject" | "describe" | "send";

export type MutationScope = "read_only" | "apply_workspace";

export interface ProviderSpec {
  readonly name: string;
  readonly injectionPoints: readonly string[];
  readonly effectFree: boolean;
  readonly canStop: boolean;
  /** `false` when its agent knows nothing but what a call brings: then each brings what the log has. */
  readonly keepsHistory?: boolean;
  readonly capabilities?: ProviderCapabilities;
  /** After this much quiet, or this much age, the other side has let the conversation go. */
  readonly idleMs?: number;
  readonly lifetimeMs?: number;
}

/** What a prompt can bring along for its turn. What is absent would be lost, so that it is refused before. */
export interface ProviderCapabilities {
  /** If absent, the agent is sent them as text before the prompt. */
  readonly instructions?: true;
  readonly tools?: true;
  readonly allowedTools?: true;
  readonly maxOutputTokens?: true;
  readonly images?: true;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Running it twice does what running it once does. */
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  /** Absent where nobody said: rules take it for the most dangerous. */
  readonly traits?: ToolTraits;
}

/** Names or patterns with `*`. Denying beats asking beats allowing; `default` applies to tools that no list names. */
export interface ApprovalRules {
  readonly deny: readonly string[];
  readonly ask: readonly string[];
  readonly allow: readonly string[];
  readonly default: "ask" | "allow" | "deny";
}

export interface TurnCaps {
  /** Calls of the provider. */
  readonly steps: number;
  /** Without the time in which people were waited for. */
  readonly seconds: number;
  readonly tokens: number | null;
  readonly toolCalls: number;
  /** Tools that run at the same time. */
  readonly parallelTools: number;
}

/**
 * What follows a lost call: a question to the approver; a visible message to the same conversation; a new
 * conversation from the log; the same call again, where that has no effects.
 */
export type LostInvocationPolicy = "ask" | "continue" | "reseed" | "resend";

/** How an upstream that may still be working is brought to rest before the next call. */
export type QuiescePolicy = "wait" | "stop" | "reseed";

/** Another process had the session and did not close it. */
export interface SessionRecovered {
  readonly type: "session.recovered";
  readonly epoch: number;
}

export interface SessionTitleChanged {
  readonly type: "session.title_changed";
  readonly title: string;
}

/** The caller's own facts about the session, in place of those before. */
export interface SessionMetadataChanged {
  readonly type: "session.metadata_changed";
  readonly metadata: SessionMetadata;
}

export type SessionMetadata = { readonly [name: string]: string };

/** From here on the session is in this mode; the envelope says who wanted it. */
export interface SessionModeChanged {
  readonly type: "session.mode_changed";
  readonly mode: SessionMode;
}

export type PromptPart = TextPart | ImagePart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A picture whose bytes are a blob of the session. */
export interface ImagePart {
  readonly type: "image";
  readonly mediaType: ImageType;
  readonly blobId: string;
  readonly bytes: number;
}

/** What was said elsewhere before this session: the agent is told it first. */
export interface HistoryImported {
  readonly type: "history.imported";
  readonly messages: readonly ModelMessage[];
}

export interface PromptAccepted {
  readonly type: "prompt.accepted";
  readonly promptId: string;
  readonly content: readonly PromptPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  readonly options?: PromptOptions;
  /** The sender's own, to be found again beside the prompt. The session does not read it. */
  readonly note?: JsonObject;
}

/** What a prompt asks for, for its own turn alone. */
export interface PromptOptions {
  /** Told to the agent beside, or in place of, its own instructions, as its provider can. */
  readonly instructions?: string;
  /** Tools of whoever prompts: the turn pauses for their calls, and their results come with a command. */
  readonly tools?: readonly PromptTool[];
  /** Only these tools may be called, whosever they are. */
  readonly allowedTools?: readonly string[];
  readonly maxOutputTokens?: number;
  readonly maxToolCalls?: number;
  /** How long an approval waits for its answer while nobody is there but the sender. */
  readonly approvalMs?: number;
  /** Where the prompt belongs in a trace of whoever sent it. */
  readonly trace?: TraceContext;
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: JsonObject;
}

export interface PromptWithdrawn {
  readonly type: "prompt.withdrawn";
  readonly promptId: string;
  readonly reason: string;
}

/** It is in the log, and whoever asks for it by its id is told that it is not. */
export interface PromptHidden {
  readonly type: "prompt.hidden";
  readonly promptId: string;
}

export interface TurnStarted {
  readonly type: "turn.started";
  readonly turnId: string;
  readonly promptId: string;
}

/**
 * - `completed`: the agent is done.
 * - `cancelled`: somebody stopped it.
 * - `limited`: a cap of ours, or a limit of the provider's, ended it; what was said is valid.
 * - `failed`: an error; what was said may be cut.
 */
export type TurnOutcome = "completed" | "cancelled" | "limited" | "failed";

export interface TurnFinished {
  readonly type: "turn.finished";
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  /**
   * The provider's word, or ours: `max_steps`, `max_seconds`, `max_tokens`, `max_tool_calls` for a cap, and
   * `no_terminal_tool` where the tool was not called that has to end a turn, `results_missing` where nobody brought what
   * it was paused for.
   */
  readonly reason: string | null;
  readonly usage: Usage | null;
  readonly steps: number;
  readonly failure?: Failure;
}

/** Nothing is left to do in the turn until somebody brings the results of these calls. */
export interface TurnPaused {
  readonly type: "turn.paused";
  readonly turnId: string;
  readonly toolCallIds: readonly string[];
}

/** The results that a turn was paused for; each comes as a `tool.finished` of its own. */
export interface ToolResultsSubmitted {
  readonly type: "tool_results.submitted";
  /** Names this giving, as a prompt's id names a prompt. */
  readonly promptId: string;
  readonly turnId: string;
  readonly toolCallIds: readonly string[];
  /** Said beside the results. */
  readonly content?: readonly PromptPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  readonly note?: JsonObject;
}

/** A conversation on the provider's side; `seeded` when it begins with what the log has. */
export interface UpstreamOpened {
  readonly type: "upstream.opened";
  readonly upstreamId: string;
  readonly seeded: boolean;
}

export interface UpstreamSettled {
  readonly type: "upstream.settled";
  readonly upstreamId: string;
  readonly policy: QuiescePolicy;
}

export type InvocationPurpose = "prompt" | "results" | "recovery" | "reprompt";

export interface InvocationStarted {
  readonly type: "invocation.started";
  readonly invocationId: string;
  readonly upstreamId: string;
  readonly purpose: InvocationPurpose;
  /** The call that is made again, where that is allowed. */
  readonly retryOf?: string;
}

export interface InvocationFinished {
  readonly type: "invocation.finished";
  readonly invocationId: string;
  /** `refused`: there never was a stream. `cancelled`: we closed it. */
  readonly outcome: Outcome | "refused" | "cancelled";
  readonly reason: string | null;
  readonly usage: Usage | null;
  readonly failure?: Failure;
  readonly requestId?: string;
}

/** Nobody knows how far it came. It is not made again in that conversation. */
export interface InvocationLost {
  readonly type: "invocation.lost";
  readonly invocationId: string;
  readonly failure?: Failure;
}

/** Something said to the agent, as it goes to the provider. */
export interface MessageSent {
  readonly type: "message.sent";
  readonly messageId: string;
  readonly content: readonly PromptPart[];
  /** `instructions`: those of a prompt, for an agent that takes them only as text. */
  readonly origin: "prompt" | "instructions" | "recovery" | "reprompt";
  readonly promptId?: string;
}

export interface MessageStarted {
  readonly type: "message.started";
  readonly messageId: string;
  readonly role: Role;
}

export interface MessageFinished {
  readonly type: "message.finished";
  readonly messageId: string;
  readonly reason: string | null;
  /** Cut off by a cancel, a lost call or a failure. */
  readonly interrupted?: true;
}

export interface MessageReplaced {
  readonly type: "message.replaced";
  readonly messageId: string;
  readonly text: string;
}

interface BlockPosition {
  readonly messageId: string;
  readonly block: number;
}

interface BlockFinished extends BlockPosition {
  readonly interrupted?: true;
}

export interface TextDelta extends BlockPosition {
  readonly type: "text.delta";
  readonly text: string;
}

export interface TextFinished extends BlockFinished {
  readonly type: "text.finished";
  readonly text: string;
}

export interface ThoughtDelta extends BlockPosition {
  readonly type: "thought.delta";
  readonly text: string;
}

export interface ThoughtFinished extends BlockFinished {
  readonly type: "thought.finished";
  readonly text: string;
  readonly signature?: string;
  readonly redacted?: string;
}

/** The agent has begun to say which tool it wants; its arguments are still coming. */
export interface ToolCallOpened {
  readonly type: "tool_call.opened";
  readonly toolCallId: string;
  readonly messageId: string;
  readonly block: number;
  readonly name: string;
}

export interface ToolCallInputDelta {
  readonly type: "tool_call.input.delta";
  readonly toolCallId: string;
  readonly text: string;
}

/** A call in full. `toolCallId` is the session's, unique in it; `call.id` is the provider's. */
export interface ToolCallReceived {
  readonly type: "tool_call.received";
  readonly toolCallId: string;
  readonly messageId: string;
  readonly block: number;
  readonly toolCall: ToolCall;
  /** Why it cannot be run as it is: no such tool, or arguments that its schema refuses. */
  readonly problem?: string;
  /** Whoever prompted runs it, where and how they like: here it is neither judged nor run. */
  readonly executor?: "prompter";
}

/** What looking at a call's arguments found on this machine. Rules are asked about this, and not about the disk. */
export interface ToolCallPathsResolved {
  readonly type: "tool_call.paths_resolved";
  readonly toolCallId: string;
  /** Of the arguments that were looked at. */
  readonly digest: string;
  readonly paths: readonly PathFact[];
  /** What is wrong with arguments that an approver changed. */
  readonly problem?: string;
  /** What it would change, for whoever is asked. */
  readonly diffs?: readonly FileDiff[];
  readonly evidence?: readonly Evidence[];
}

/** Something that an approver can look at. */
export interface Evidence {
  readonly kind: string;
  readonly ref: string;
  readonly metadata: JsonObject;
}

/** The receipt of one decision about one call. */
export interface PolicyDecided {
  readonly type: "policy.decided";
  readonly toolCallId: string;
  /** Of the arguments that were judged. */
  readonly digest: string;
  /** The definition of the agent whose policy it is. */
  readonly agent: string;
  /** The session's mode, where it is not the default. */
  readonly mode?: SessionMode;
  readonly decision: PolicyDecision;
  /** What somebody allowed for good, where that answered the question. */
  readonly grantId?: string;
  readonly signature?: Signature;
}

/** Made with a key of this machine's user, which the tools of a workspace do not touch. */
export interface Signature {
  readonly keyId: string;
  readonly mac: string;
  /** Which of its session's receipts it is, from 1 on; absent in logs from before they were counted. */
  readonly number?: number;
  /** The `mac` of the one before; null for the first. */
  readonly before?: string | null;
}

/** Synced before the effect. */
export interface ToolStarted {
  readonly type: "tool.started";
  readonly toolCallId: string;
  readonly attempt: number;
  /** Of the arguments it runs with. */
  readonly digest: string;
  readonly approvalId?: string;
  /**
   * A client's machine may have done it already, and nobody said that it is to be done again: it is asked what came of it, and
   * does nothing where it does not know.
   */
  readonly isRepeat?: true;
  readonly signature?: Signature;
}

/**
 * Nobody waits any more for what a client's machine is at, and that machine knows its calls again: the call is put to it
 * once more when it is back with the same tool.
 */
export interface ToolWaitingForHost {
  readonly type: "tool.waiting_for_host";
  readonly toolCallId: string;
  /** The digest of the tool: one that says something else of itself is another. */
  readonly toolDigest: string;
  /** What came in between: the bridge was killed, or the client was lost. */
  readonly cause: "kill" | "loss";
  /** Milliseconds since 1970: no longer than this. */
  readonly deadline: number;
}

/** Synced before the process is let go. */
export interface ToolProcessStarted {
  readonly type: "tool.process_started";
  readonly toolCallId: string;
  readonly attempt: number;
  readonly group: ProcessGroup;
}

/** Of a program, nothing runs any more. Not said of those that a tool ended before it told of its own end. */
export interface ToolProcessExited {
  readonly type: "tool.process_exited";
  readonly toolCallId: string;
  readonly group: ProcessGroup;
}

/** `born` tells a process from a later one with the same number. */
export interface ProcessGroup {
  readonly id: number;
  readonly startTime: string;
}

export interface ToolProgress {
  readonly type: "tool.progress";
  readonly toolCallId: string;
  readonly text: string;
  /** Absent where the tool told its progress in words alone. */
  readonly amount?: ProgressAmount;
}

/** How far a tool has come, in units of its own. */
export interface ProgressAmount {
  readonly progress: number;
  /** Absent where the tool does not know it. */
  readonly total?: number;
}

/**
 * How a call ended. `refused`: it could not be run as it was. `unknown`: it was under way when the bridge was killed,
 * and nobody could say what came of it. `server`: it ran on the provider's side.
 */
export type ToolEnding =
  | "succeeded"
  | "failed"
  | "denied"
  | "cancelled"
  | "timed-out"
  | "refused"
  | "unknown"
  | "server";

export interface ToolFinished {
  readonly type: "tool.finished";
  readonly toolCallId: string;
  readonly ending: ToolEnding;
  readonly result: ToolResult;
  readonly durationMs?: number;
  /** Where the whole output is, when `result` has only its beginning. */
  readonly blobId?: string;
  /** SHA-256 of the bytes of that blob. Absent in logs from before it was recorded. */
  readonly blobDigest?: string;
  /** What the tool says beside its output, for people and programs, and not for the model. */
  readonly attachments?: ToolAttachments;
  /** Absent in logs from before tool results were signed. */
  readonly signature?: Signature;
}

export type ToolAttachments = Omit<ToolOutput, "text" | "plan">;

/** What the agent means to do, all of it, in place of what it said before. */
export interface PlanUpdated {
  readonly type: "plan.updated";
  readonly entries: readonly PlanEntry[];
}

/** What an approver can be asked, and what can be answered. */
export type ApprovalQuestion = "run" | "outcome" | "lost-call";
export type ApprovalDecision =
  | "allow"
  /** This call, and those like it in this session. */
  | "allow-always"
  /** Of a tool that was running at a crash: it is not run again, and its outcome stays unknown. */
  | "deny"
  /** Of a tool that was under way at a crash. */
  | "done"
  | "failed"
  | "run-again"
  /** Of a lost call. */
  | "continue"
  | "reseed"
  | "stop";

export interface ApprovalRequested {
  readonly type: "approval.requested";
  readonly approvalId: string;
  readonly question: ApprovalQuestion;
  readonly options: readonly ApprovalDecision[];
  /** The call of the tool, or the lost call of the provider. */
  readonly subjectId: string;
  /** What people read: the tool's name and its arguments. */
  readonly action: string;
  readonly input: JsonObject | null;
  /** In milliseconds since 1970. */
  readonly deadline: number;
  /** How many different principals have to say yes; one where nothing is said. */
  readonly approvers?: number;
  /** The attempt that a yes starts. Absent for the first. */
  readonly attempt?: number;
  /** What a yes for good would allow, for people, such as `edit_file of README.md`. */
  readonly grantLabel?: string;
  /** Why it is asked. */
  readonly decision?: PolicyDecision;
  readonly diffs?: readonly FileDiff[];
  readonly evidence?: readonly Evidence[];
  /** The controller when the request was made. Absent if the session had none. */
  readonly routedTo?: ApprovalRoute;
  /** Absent in logs from before requests were signed. */
  readonly signature?: Signature;
}

/** An open request for approval has another controller to decide it than when it was requested. */
export interface ApprovalRouted {
  readonly type: "approval.routed";
  readonly approvalId: string;
  readonly routedTo: ApprovalRoute;
}

/** The controller that a request for approval is sent to. */
export interface ApprovalRoute {
  readonly clientId: string;
  /** What the client says of itself. */
  readonly metadata: JsonObject;
}

/** Somebody said yes, and more of them have to. */
export interface ApprovalVoted {
  readonly type: "approval.voted";
  readonly approvalId: string;
  readonly principal: string;
  readonly decision: ApprovalDecision;
  /** Of the arguments that were agreed to. */
  readonly digest: string;
  /** Where those are others than the agent's. */
  readonly input?: JsonObject;
  readonly reason?: string;
  readonly signature?: Signature;
}

export interface ApprovalResolved {
  readonly type: "approval.resolved";
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  /**
   * `person`: somebody answered. `deadline`, `cancel`: nobody did. `change`: the rules, the mode or the tool are others than when
   * it was asked; the call is judged anew.
   */
  readonly resolvedBy: "person" | "deadline" | "cancel" | "change";
  readonly reason?: string;
  /** What the tool runs with instead. */
  readonly input?: JsonObject;
  /** Those who said yes, where there had to be several. */
  readonly principals?: readonly string[];
  /** The policy decision that the request showed. Absent in logs of before it was copied here. */
  readonly receipt?: PolicyDecision;
  readonly signature?: Signature;
}

/** Calls like this one are not asked about any more in this session. Nothing that is denied is allowed by it. */
export interface GrantAdded {
  readonly type: "grant.added";
  readonly grantId: string;
  readonly approvalId: string;
  readonly scope: GrantScope;
  readonly signature?: Signature;
}

/** What a call has to be like: all of it. */
export interface GrantScope {
  readonly tool: string;
  /** The rule that asked. */
  readonly rule: MatchedRule | null;
  /** Those that asked beside it. */
  readonly otherRules?: readonly (MatchedRule | null)[];
  /** For a tool that runs commands: what people read of it. */
  readonly command?: string;
  /** Of all its arguments, where any other may do something else: in another folder, it is another command. */
  readonly digest?: string;
  /** Where its paths have to lead. */
  readonly paths?: readonly GrantedPath[];
}

export interface GrantedPath {
  readonly argument: string;
  /** From the root of the machine, symlinks followed. */
  readonly hostPath: string | null;
}

export interface GrantRevoked {
  readonly type: "grant.revoked";
  readonly grantId: string;
  readonly signature?: Signature;
}

/**
 * A receipt of this log is not proven to be of this user's bridge, or one is missing: nothing that was allowed before
 * counts any more, and people are asked again.
 */
export interface ApprovalsInvalidated {
  readonly type: "approvals.invalidated";
  /** Where the first such receipt stands; the end of the log if the receipts after it are missing. */
  readonly seq: number;
  readonly signature?: Signature;
}

export type ClientRole = "controller" | "observer";

export interface ClientAttached {
  readonly type: "client.attached";
  readonly clientId: string;
  readonly mode: ClientRole;
  readonly name: string;
  /**
   * Default: a controller may do both, an observer neither. True lets an observer do it while the session has no controller; a
   * stock client may prompt beside a controller too, and decide about its own turns.
   */
  readonly mayPrompt?: boolean;
  readonly mayApprove?: boolean;
  /** A client that does not use the bridge protocol, attached implicitly. */
  readonly isStock?: boolean;
  readonly metadata?: JsonObject;
  /** Of the secret that the name is bound to: who comes under it again has to know that. */
  readonly secretDigest?: string;
  /** Tells its stay from others under the same name: one that comes back by another connection has left the one before. */
  readonly attachmentId?: string;
}

/** A client is still there. */
export interface ClientHeartbeat {
  readonly type: "client.heartbeat";
  readonly clientId: string;
  readonly metadata?: JsonObject;
}

export interface ClientDetached {
  readonly type: "client.detached";
  readonly clientId: string;
  readonly reason: string;
}

export interface ControllerChanged {
  readonly type: "controller.changed";
  readonly from: string | null;
  readonly to: string | null;
}

/** Something only a client's machine can do. The surface that holds the connection does it and answers with a command. */
export interface HostRequested {
  readonly type: "host.requested";
  readonly requestId: string;
  readonly clientId: string;
  readonly kind: string;
  readonly payload: JsonObject;
  readonly deadline: number;
}

export interface HostReplied {
  readonly type: "host.replied";
  readonly requestId: string;
  readonly outcome: "answered" | "failed" | "deadline" | "gone";
  readonly payload?: JsonObject;
}

export interface UsageReported {
  readonly type: "usage.reported";
  readonly usage: Usage;
  readonly latencyMs?: number;
}

export interface HookFired {
  readonly type: "hook.fired";
  readonly name: string;
  readonly stage: string;
  readonly decision?: string;
  readonly reason?: string;
}

export interface ProviderActivity {
  readonly type: "provider.activity";
  readonly kind: ActivityKind;
  readonly toolCallId?: string;
  readonly label?: string;
}

export interface DiagnosticRaised {
  readonly type: "diagnostic.raised";
  readonly diagnostic: Diagnostic;
}

export interface ProviderUnknown {
  readonly type: "provider.unknown";
  readonly what: UnknownEvent["what"];
  readonly name: string;
  readonly raw: unknown;
}
