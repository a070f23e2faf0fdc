import type { DaemonSpec } from "../../../domain/daemon.ts";
import type { DaemonStopped } from "../../../domain/events/daemon-events.ts";
import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { NO_CLIENTS, type ClientRegistry } from "../../../domain/live-client.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { SessionLineage } from "../../../domain/workers/session-lineage.ts";
import type { SessionMode } from "../../../domain/session-mode.ts";
import type { Worker } from "../../../domain/workers/worker.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { STOCK_CLIENT, type ClientProfile } from "../decode/client-profile.ts";
import { fitObject, DEFAULT_LINE_BYTES, LINE_MARGIN } from "../fit-json.ts";
import type { ApprovalContext } from "./permissions/encode-permission-request.ts";
import type { EncodedRequest } from "./permissions/encode-question.ts";
import type { AcpSessionUpdate, ToolContent } from "./acp-session-update.ts";
import type { EmittedName, VendorUpdate } from "./vendor-updates.ts";
import type { VisibleText } from "./visible-text.ts";

/** An output of the update encoder for a client. */
export type AcpOutput =
  | { readonly type: "update"; readonly update: AcpSessionUpdate }
  /** A vendor update for a host that opted in to `_harn/agentEvent`. */
  | { readonly type: "event"; readonly update: VendorUpdate }
  /** A permission request or question to send. */
  | ({ readonly type: "ask" } & PermissionOutput)
  /** The permission request was decided, by this client or another. */
  | { readonly type: "decided"; readonly approvalId: string }
  /** The turn of a prompt started. */
  | { readonly type: "begun"; readonly promptId: string; readonly turnId: string }
  /** The response to a prompt. It follows all updates of the turn. */
  | { readonly type: "answer"; readonly promptId: string; readonly outcome: RpcOutcome }
  /** An idle daemon, which waits for activity; or undefined: the daemon is no longer idle. */
  | { readonly type: "daemon"; readonly daemon: DaemonSpec | undefined }
  /** The watchdog of an idle daemon has stopped it. */
  | ({ readonly type: "daemon-stopped" } & Pick<DaemonStopped, "attempts" | "elapsedMs">)
  /** The replay is complete; the following outputs are live. */
  | { readonly type: "caught-up" };

export interface PermissionOutput extends EncodedRequest {
  readonly approval: ApprovalRequested;
  /** The turn that waits for the decision. Null if there is none. */
  readonly turnId: string | null;
}

/**
 * An open approval from the log. Its request is encoded only when it is sent, because the client may become a bridge
 * host in the meantime.
 */
export interface OpenApproval {
  readonly approval: ApprovalRequested;
  readonly context: ApprovalContext;
}

export interface UpdateOptions {
  readonly sessionId: string;
  /** The receiving client. Its own prompts are not echoed. */
  readonly clientId: string;
  /** Returns true if this client made the attachment. From its event on, the state's `clientId` is the attached id. */
  readonly isOwnAttachment?: (attachmentId: string) => boolean;
  /** The sequence number of the last replayed event. Later events are live. */
  readonly upTo: number;
  /** `hidden` for a client that resumes a session and already has its history. */
  readonly history: "shown" | "hidden";
  /** Default: a stock client. Called for each event, because a client may become a bridge host. */
  readonly getProfile?: () => ClientProfile;
  /** Limit of a line in bytes. Default: 48 KiB. */
  readonly lineBytes?: number;
}

export interface UpdateState {
  readonly options: UpdateOptions;
  /** The client's id at this position in the log. */
  clientId: string;
  readonly getProfile: () => ClientProfile;
  readonly lineBytes: number;
  isLive: boolean;
  /** Open blocks by `messageId` and block number, in the order of opening. */
  readonly blocks: Map<string, OpenBlock>;
  /** Visible text of the streaming messages, by message id. Empty for stock clients. */
  readonly visibleTexts: Map<string, VisibleText>;
  /** Unfinished tool calls, by id. */
  readonly toolCalls: Map<string, OpenToolCall>;
  /** Finished tool calls of this turn, which get no more updates. */
  readonly endedToolCalls: Set<string>;
  clients: ClientRegistry;
  /** Open approvals, by id. */
  readonly openApprovals: Map<string, OpenApproval>;
  /** The open approvals sent to this client. */
  readonly sentQuestions: Set<string>;
  readonly clientPrompts: Set<string>;
  /** The senders of the unfinished prompts, by prompt id. */
  readonly submitters: Map<string, string>;
  /** Prompts without a turn; `waitedPrompts` has the prompts that waited for another turn's end. */
  readonly queuedPrompts: Set<string>;
  readonly waitedPrompts: Set<string>;
  hasTitle: boolean;
  /** The agent as last configured. */
  agent: AgentSpec | undefined;
  mode: SessionMode;
  /** The session's working directory. Undefined if the session has none. */
  workingDirectory: string | undefined;
  /** Undefined unless the session belongs to a worker. */
  lineage: SessionLineage | undefined;
  /** Workers of the session which are not closed, by id. */
  readonly workers: Map<string, Worker>;
  turn: { readonly turnId: string; readonly promptId: string } | undefined;
  /** The running turn was started by a daemon itself. Stock clients do not receive its updates live. */
  isBackgroundTurn: boolean;
  /** A turn has ended since the session was opened, and no daemon has stopped since. */
  isIdle: boolean;
  /** The last ended turn. Its late events are skipped. */
  endedTurnId: string | undefined;
}

export interface OpenBlock {
  readonly kind: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  /** Replayed text that is not sent yet, because the end of the block may follow in the replay. */
  pendingText: string;
  /** Number of characters that the client has received. */
  sentLength: number;
}

export interface OpenToolCall {
  name: string | undefined;
  /** Time of the model's request, in milliseconds since 1970. */
  readonly openedAt: number;
  /** True if the client has received `tool_call`. */
  isShown: boolean;
  /** True if the client displays the output in a terminal view with the tool call's id. */
  readonly hasTerminal: boolean;
  /** The diffs of the tool call. Later updates must repeat them, because each update replaces the content. */
  diffs: readonly ToolContent[];
  /** The streamed arguments received so far. */
  input: string;
  /** Length of `input` when an update was last considered. */
  sentInputLength: number;
  /** Length of the last `rawInputPartial`. */
  sentPartialLength: number;
}

export function createUpdateState(options: UpdateOptions): UpdateState {
  return {
    options,
    clientId: options.clientId,
    getProfile: options.getProfile ?? (() => STOCK_CLIENT),
    lineBytes: options.lineBytes ?? DEFAULT_LINE_BYTES,
    isLive: false,
    blocks: new Map(),
    visibleTexts: new Map(),
    toolCalls: new Map(),
    endedToolCalls: new Set(),
    clients: NO_CLIENTS,
    openApprovals: new Map(),
    sentQuestions: new Set(),
    clientPrompts: new Set(),
    submitters: new Map(),
    queuedPrompts: new Set(),
    waitedPrompts: new Set(),
    hasTitle: false,
    agent: undefined,
    mode: "default",
    workingDirectory: undefined,
    lineage: undefined,
    workers: new Map(),
    turn: undefined,
    isBackgroundTurn: false,
    isIdle: false,
    endedTurnId: undefined,
  };
}

/** Returns the agent with the mutation scope of the session mode. A host uses the scope to detect forbidden writes. */
export function narrowAgent({ agent, mode }: UpdateState): AgentSpec | undefined {
  if (agent?.mutationScope === undefined || mode !== "read-only") return agent;
  return { ...agent, mutationScope: "read_only" };
}

/** Returns the folder against which tool paths are resolved. */
export function resolveWorkspace({ workingDirectory, agent }: UpdateState): string | undefined {
  return workingDirectory ?? agent?.workspace;
}

/**
 * Returns false during a hidden replay, whose updates the client already has, and during a daemon's own turn for a
 * stock client: such clients expect updates only while their prompt runs, and see this turn when they load the session.
 */
export function shouldEmit({
  isLive,
  options,
  isBackgroundTurn,
  getProfile,
}: UpdateState): boolean {
  if (!isLive) return options.history === "shown";
  return !isBackgroundTurn || getProfile().isBridgeHost;
}

export function emitUpdate(
  state: UpdateState,
  update: AcpSessionUpdate,
  emit: Emit<AcpOutput>,
): void {
  if (shouldEmit(state)) emit({ type: "update", update });
}

/** Emits a vendor update to a bridge host, as an update or as an agent event. Stock clients receive none. */
export function emitVendorUpdate(
  state: UpdateState,
  vendorUpdate: VendorUpdate<EmittedName>,
  emit: Emit<AcpOutput>,
): void {
  const harn = fitObject(vendorUpdate["_meta"].harn, state.lineBytes - LINE_MARGIN);
  const update = { ...vendorUpdate, _meta: { harn } };
  const { isBridgeHost, acceptsEvents } = state.getProfile();
  if (!isBridgeHost) return;
  if (!acceptsEvents) emitUpdate(state, update, emit);
  else if (shouldEmit(state)) emit({ type: "event", update });
}
