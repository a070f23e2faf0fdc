import type { AgentFacts, ApprovalRequested } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { RpcOutcome } from "../jsonrpc/rpc-message.ts";
import type { PermissionRequest } from "./permission-request.ts";
import type { SessionUpdate } from "./session-update.ts";

/** What a session's events come to for one client. */
export type AcpOutput =
  | { readonly type: "update"; readonly update: SessionUpdate }
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

export interface UpdateOptions {
  readonly sessionId: string;
  /** The client that is told; its own prompts are not echoed to it. */
  readonly clientId: string;
  /** The last event that was there before the client came. */
  readonly upTo: number;
  /** A client that takes up a session again already has what was said in it. */
  readonly history: "shown" | "hidden";
}

export interface UpdateState {
  readonly options: UpdateOptions;
  isLive: boolean;
  /** By `messageId` and number, in the order of opening. */
  readonly blocks: Map<string, OpenBlock>;
  /** Tool calls that were shown and have not ended. */
  readonly calls: Set<string>;
  /** The tools of those calls. */
  readonly toolNames: Map<string, string>;
  /** Questions from before, of which some are answered further on. */
  readonly asked: Map<string, Asked>;
  readonly ownPrompts: Set<string>;
  /** As it was last bound. */
  agent: AgentFacts | undefined;
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

export function initialUpdateState(options: UpdateOptions): UpdateState {
  return {
    options,
    isLive: false,
    blocks: new Map(),
    calls: new Set(),
    toolNames: new Map(),
    asked: new Map(),
    ownPrompts: new Set(),
    agent: undefined,
    workingDirectory: undefined,
    turn: undefined,
    endedTurn: undefined,
  };
}

/** Where the paths of tools begin. */
export function workspaceOf({ workingDirectory, agent }: UpdateState): string | undefined {
  return workingDirectory ?? agent?.workspace;
}

/** Sends an update, unless it is of a time that the client knows. */
export function tell(state: UpdateState, update: SessionUpdate, emit: Emit<AcpOutput>): void {
  if (state.isLive || state.options.history === "shown") emit({ type: "update", update });
}
