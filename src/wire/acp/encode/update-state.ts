import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { NO_CLIENTS, type ClientRegistry } from "../../../domain/live-client.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { SessionMode } from "../../../domain/session-mode.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { STOCK_CLIENT, type ClientProfile } from "../decode/client-profile.ts";
import { fitObject, DEFAULT_LINE_BYTES, LINE_MARGIN } from "../fit-json.ts";
import type {
  ApprovalContext,
  PermissionRequest,
} from "./permissions/encode-permission-request.ts";
import type { AcpSessionUpdate, ToolContent } from "./acp-session-update.ts";
import type { EmittedName, VendorUpdate } from "./vendor-updates.ts";
import type { VisibleText } from "./visible-text.ts";

/** What a session's events come to for one client. */
export type AcpOutput =
  | { readonly type: "update"; readonly update: AcpSessionUpdate }
  /** An update of the bridge's own, for a host that wants it as `_harn/agentEvent`. */
  | { readonly type: "event"; readonly update: VendorUpdate }
  /** A permission to be asked for. */
  | ({ readonly type: "ask" } & PermissionOutput)
  /** That permission is decided, whoever did it. */
  | { readonly type: "decided"; readonly approvalId: string }
  /** A prompt has its turn. */
  | { readonly type: "begun"; readonly promptId: string; readonly turnId: string }
  /** The answer to a prompt, behind every update of its turn. */
  | { readonly type: "answer"; readonly promptId: string; readonly outcome: RpcOutcome }
  /** What was there before is told; from here on it is live. */
  | { readonly type: "caught-up" };

export interface PermissionOutput {
  readonly approval: ApprovalRequested;
  readonly request: PermissionRequest;
  /** The turn that waits for it. */
  readonly turnId: string | null;
}

/** A question as the log has it. Its request is made when it is sent: a client can turn out to know the bridge. */
export interface OpenApproval {
  readonly approval: ApprovalRequested;
  readonly context: ApprovalContext;
}

export interface UpdateOptions {
  readonly sessionId: string;
  /** The client that is told; its own prompts are not echoed to it. */
  readonly clientId: string;
  /** Whether the client itself attached by that id: from there on it has the name that it came under. */
  readonly isOwnAttachment?: (attachmentId: string) => boolean;
  /** The last event that was there before the client came. */
  readonly upTo: number;
  /** A client that takes up a session again already has what was said in it. */
  readonly history: "shown" | "hidden";
  /** A plain client of ACP where nobody says. Looked at for each event: a client can turn out to know the bridge. */
  readonly getProfile?: () => ClientProfile;
  /** How many bytes a line may have. */
  readonly lineBytes?: number;
}

export interface UpdateState {
  readonly options: UpdateOptions;
  /** What the client is called at this place in the log. */
  clientId: string;
  readonly getProfile: () => ClientProfile;
  readonly lineBytes: number;
  isLive: boolean;
  /** By `messageId` and number, in the order of opening. */
  readonly blocks: Map<string, OpenBlock>;
  /** What can be seen of the messages that are coming, by id; only where the client wants to know. */
  readonly visibleTexts: Map<string, VisibleText>;
  /** Tool calls that have not ended. */
  readonly toolCalls: Map<string, OpenToolCall>;
  /** Those of this turn that have: nothing more is told of them. */
  readonly endedToolCalls: Set<string>;
  clients: ClientRegistry;
  /** Questions that are open, by their id. */
  readonly openApprovals: Map<string, OpenApproval>;
  /** Those of them that this client was sent. */
  readonly sentQuestions: Set<string>;
  readonly clientPrompts: Set<string>;
  /** Who sent the prompts that have not ended. */
  readonly submitters: Map<string, string>;
  /** Prompts that have no turn yet, and those that another turn ended before. */
  readonly queuedPrompts: Set<string>;
  readonly waitedPrompts: Set<string>;
  hasTitle: boolean;
  /** As it was last bound. */
  agent: AgentSpec | undefined;
  mode: SessionMode;
  /** The session's own, if it has one. */
  workingDirectory: string | undefined;
  turn: { readonly turnId: string; readonly promptId: string } | undefined;
  /** The last turn that ended: what comes for it now is too late. */
  endedTurnId: string | undefined;
}

export interface OpenBlock {
  readonly kind: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  /** Said before the client came, and not sent while the block may still end within that. */
  pendingText: string;
  /** How much of it the client has. */
  sentLength: number;
}

export interface OpenToolCall {
  name: string | undefined;
  /** When the agent asked for it, in milliseconds since 1970. */
  readonly openedAt: number;
  /** Whether the client has its `tool_call`. */
  isShown: boolean;
  /** Whether the client shows its output in a terminal, under the call's id. */
  readonly hasTerminal: boolean;
  /** The changes that it is about, which no later word about the call may wipe away. */
  diffs: readonly ToolContent[];
  /** Its streamed arguments so far. */
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
    turn: undefined,
    endedTurnId: undefined,
  };
}

/** The agent with the mutation scope that the session's mode leaves it: a host sees from it which writes escape. */
export function narrowAgent({ agent, mode }: UpdateState): AgentSpec | undefined {
  if (agent?.mutationScope === undefined || mode !== "read-only") return agent;
  return { ...agent, mutationScope: "read_only" };
}

/** Where the paths of tools begin. */
export function resolveWorkspace({ workingDirectory, agent }: UpdateState): string | undefined {
  return workingDirectory ?? agent?.workspace;
}

/** Whether what happens now is told, or is of a time that the client knows. */
export function shouldEmit({ isLive, options }: UpdateState): boolean {
  return isLive || options.history === "shown";
}

export function emitUpdate(
  state: UpdateState,
  update: AcpSessionUpdate,
  emit: Emit<AcpOutput>,
): void {
  if (shouldEmit(state)) emit({ type: "update", update });
}

/** Tells something that ACP has no word for, to whoever asked for such things. */
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
