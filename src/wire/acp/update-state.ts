import type { AgentFacts, ApprovalRequested } from "../../domain/agent-event.ts";
import { NOBODY, type ClientRegistry } from "../../domain/live-client.ts";
import type { Emit } from "../../domain/codec.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { RpcOutcome } from "../jsonrpc/rpc-message.ts";
import { STOCK_CLIENT, type ClientProfile } from "./client-profile.ts";
import { fittedObject, LINE_BYTES, LINE_MARGIN } from "./fitted.ts";
import type { AskedPlace, PermissionRequest } from "./permission-request.ts";
import type { SessionUpdate, ToolContent } from "./session-update.ts";
import type { EmittedName, VendorUpdate } from "./vendor-updates.ts";
import type { VisibleText } from "./visible-text.ts";

/** What a session's events come to for one client. */
export type AcpOutput =
  | { readonly type: "update"; readonly update: SessionUpdate }
  /** An update of the bridge's own, for a host that wants it as `_harn/agentEvent`. */
  | { readonly type: "event"; readonly update: VendorUpdate }
  /** A permission to be asked for. */
  | ({ readonly type: "ask" } & Asked)
  /** That permission is decided, whoever did it. */
  | { readonly type: "decided"; readonly approvalId: string }
  /** A prompt has its turn. */
  | { readonly type: "begun"; readonly promptId: string; readonly turnId: string }
  /** The answer to a prompt, behind every update of its turn. */
  | { readonly type: "answer"; readonly promptId: string; readonly outcome: RpcOutcome }
  /** What was there before is told; from here on it is live. */
  | { readonly type: "caught-up" };

export interface Asked {
  readonly approval: ApprovalRequested;
  readonly request: PermissionRequest;
  /** The turn that waits for it. */
  readonly turnId: string | null;
}

/** A question as the log has it. Its request is made when it is sent: a client can turn out to know the bridge. */
export interface OpenQuestion {
  readonly approval: ApprovalRequested;
  readonly place: AskedPlace;
}

export interface UpdateOptions {
  readonly sessionId: string;
  /** The client that is told; its own prompts are not echoed to it. */
  readonly clientId: string;
  /** Whether the client itself attached by that id: from there on it has the name that it came under. */
  readonly isOwnStay?: (attachmentId: string) => boolean;
  /** The last event that was there before the client came. */
  readonly upTo: number;
  /** A client that takes up a session again already has what was said in it. */
  readonly history: "shown" | "hidden";
  /** A plain client of ACP where nobody says. Looked at for each event: a client can turn out to know the bridge. */
  readonly profile?: () => ClientProfile;
  /** How many bytes a line may have. */
  readonly lineBytes?: number;
}

export interface UpdateState {
  readonly options: UpdateOptions;
  /** What the client is called at this place in the log. */
  clientId: string;
  readonly profile: () => ClientProfile;
  readonly lineBytes: number;
  isLive: boolean;
  /** By `messageId` and number, in the order of opening. */
  readonly blocks: Map<string, OpenBlock>;
  /** What can be seen of the messages that are coming, by id; only where the client wants to know. */
  readonly visible: Map<string, VisibleText>;
  /** Tool calls that have not ended. */
  readonly calls: Map<string, OpenCall>;
  /** Those of this turn that have: nothing more is told of them. */
  readonly endedCalls: Set<string>;
  live: ClientRegistry;
  /** Questions that are open, by their id. */
  readonly asked: Map<string, OpenQuestion>;
  /** Those of them that this client was sent. */
  readonly sentQuestions: Set<string>;
  readonly ownPrompts: Set<string>;
  /** Who sent the prompts that have not ended. */
  readonly prompters: Map<string, string>;
  /** Prompts that have no turn yet, and those that another turn ended before. */
  readonly queue: Set<string>;
  readonly waited: Set<string>;
  isTitled: boolean;
  /** As it was last bound. */
  agent: AgentFacts | undefined;
  mode: SessionMode;
  /** The session's own, if it has one. */
  workingDirectory: string | undefined;
  turn: { readonly turnId: string; readonly promptId: string } | undefined;
  /** The last turn that ended: what comes for it now is too late. */
  endedTurn: string | undefined;
}

export interface OpenBlock {
  readonly kind: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  /** Said before the client came, and not sent while the block may still end within that. */
  held: string;
  /** How much of it the client has. */
  sent: number;
}

export interface OpenCall {
  name: string | undefined;
  /** When the agent asked for it, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the client has its `tool_call`. */
  isShown: boolean;
  /** Whether the client shows its output in a terminal, under the call's id. */
  readonly hasTerminal: boolean;
  /** The changes that it is about, which no later word about the call may wipe away. */
  diffs: readonly ToolContent[];
  /** Its arguments as far as they were streamed, and how much of that the client was told. */
  input: string;
  told: number;
}

export function initialUpdateState(options: UpdateOptions): UpdateState {
  return {
    options,
    clientId: options.clientId,
    profile: options.profile ?? (() => STOCK_CLIENT),
    lineBytes: options.lineBytes ?? LINE_BYTES,
    isLive: false,
    blocks: new Map(),
    visible: new Map(),
    calls: new Map(),
    endedCalls: new Set(),
    live: NOBODY,
    asked: new Map(),
    sentQuestions: new Set(),
    ownPrompts: new Set(),
    prompters: new Map(),
    queue: new Set(),
    waited: new Set(),
    isTitled: false,
    agent: undefined,
    mode: "default",
    workingDirectory: undefined,
    turn: undefined,
    endedTurn: undefined,
  };
}

/** The agent with the mutation scope that the session's mode leaves it: a host sees from it which writes escape. */
export function narrowedAgent({ agent, mode }: UpdateState): AgentFacts | undefined {
  if (agent?.mutationScope === undefined || mode !== "read-only") return agent;
  return { ...agent, mutationScope: "read_only" };
}

/** Where the paths of tools begin. */
export function workspaceOf({ workingDirectory, agent }: UpdateState): string | undefined {
  return workingDirectory ?? agent?.workspace;
}

/** Whether what happens now is told, or is of a time that the client knows. */
export function isTold({ isLive, options }: UpdateState): boolean {
  return isLive || options.history === "shown";
}

export function tell(state: UpdateState, update: SessionUpdate, emit: Emit<AcpOutput>): void {
  if (isTold(state)) emit({ type: "update", update });
}

/** Tells something that ACP has no word for, to whoever asked for such things. */
export function tellVendor(
  state: UpdateState,
  whole: VendorUpdate<EmittedName>,
  emit: Emit<AcpOutput>,
): void {
  const harn = fittedObject(whole["_meta"].harn, state.lineBytes - LINE_MARGIN);
  const update = { ...whole, _meta: { harn } };
  const { isBridgeHost, takesEvents } = state.profile();
  if (!isBridgeHost) return;
  if (!takesEvents) tell(state, update, emit);
  else if (isTold(state)) emit({ type: "event", update });
}
