import type { ClientSkillList, HostToolList } from "../../../domain/client-tools.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { ShellList } from "../../../domain/tools/shell.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { ClientSender, Sessions } from "../../../session/sessions.ts";
import type { ClientProfile } from "../../../wire/acp/decode/client-profile.ts";
import type { AcpSessionUpdate } from "../../../wire/acp/encode/acp-session-update.ts";
import type { PermissionRequest } from "../../../wire/acp/encode/permissions/encode-permission-request.ts";
import type { VendorUpdate } from "../../../wire/acp/encode/vendor-updates.ts";
import type { HostRequest } from "../../../wire/acp/host/host-request.ts";
import type { RpcOutcome, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { HandleResponse } from "./client-requests.ts";

/** Log for the operator. Writes to stderr, never to the protocol's output. */
export type AcpLog = (message: string, facts?: { readonly [name: string]: unknown }) => void;

/** The connection of a client, seen from the sessions of the connection. */
export interface ClientLink {
  readonly sessions: Sessions;
  readonly sender: ClientSender;
  /**
   * Whether the client is this machine's user. Only the local user chooses the folders of a session and the programs
   * started for a session.
   */
  readonly isLocalUser: boolean;
  /** Whether the client runs on this machine, so its files are the files the sessions work with. */
  readonly isSameMachine: boolean;
  readonly clock: Clock;
  /**
   * Aborts when the client disconnects. After the abort the client is not attached to any session and receives no
   * updates.
   */
  readonly disconnectSignal: AbortSignal;
  readonly log: AcpLog;
  /** The client's name from `initialize`. */
  getName(): string;
  /** The capabilities declared by the client. Before `initialize`: the capabilities of a stock client. */
  getProfile(): ClientProfile;
  /** Whether each update carries a cursor from which the client can resume. */
  readonly hasCursors: boolean;
  sendUpdate(sessionId: string, update: AcpSessionUpdate, cursor?: string): void;
  /**
   * Sends a vendor update in its own notification, for clients that would not accept the update as `session/update`.
   */
  sendEvent(sessionId: string, update: VendorUpdate, cursor?: string): void;
  /** Sends a notification outside of `session/update`. `sessionId` selects its stream and its backpressure. */
  sendNotification(sessionId: string, method: string, params: object): void;
  /** Runs a task outside the per-session queue: requests behind the current request do not wait for it. */
  runUnordered(task: () => Promise<void>): void;
  respond(request: RpcRequest, outcome: RpcOutcome): void;
  /**
   * Queues a permission request and sends it when the client has few enough open requests. Returns the key for
   * `withdrawRequest`.
   */
  requestPermission(
    sessionId: string,
    approval: ApprovalRequested,
    request: PermissionRequest,
  ): string;
  /**
   * Sends a request to the client's machine. Returns its key, or undefined if the client has too many open requests.
   */
  sendRequest(request: HostRequest, onResponse: HandleResponse): string | undefined;
  /** Withdraws an open request, or removes an answered request. A late response goes to `onLate`. */
  withdrawRequest(key: string, onLate?: HandleResponse): void;
  /** The tools offered by the client's machine. Empty if the client is not a host. */
  getHostTools(): Promise<HostToolList>;
  /** The shells offered by the client's machine. Undefined if the client does not list shells. */
  getHostShells(): Promise<ShellList | undefined>;
  /** The skills offered by the client's machine. Empty if the client does not list skills. */
  getHostSkills(): Promise<ClientSkillList>;
  /** Increases with every notification of changed skills. The next `getHostSkills` then requests the list again. */
  getSkillsVersion(): number;
  /**
   * Whether more updates of this session can be sent now. Otherwise `waitForCapacity` resolves when sending may
   * continue.
   */
  hasCapacity(sessionId?: string): boolean;
  waitForCapacity(sessionId?: string): Promise<void>;
  /**
   * Discards queued output of a session the client has closed. Returns false if the output is still being read or the
   * session has no stream.
   */
  dropSession(sessionId: string): boolean;
}

/** Prefix of the generated client ids, used until a client attaches under its own id. */
export const GENERATED_NAME_PREFIX = "client_";

/** Throws `aborted` if the client has disconnected, so its last requests do not start work without a reader. */
export function checkConnected({ disconnectSignal }: Pick<ClientLink, "disconnectSignal">): void {
  if (disconnectSignal.aborted) throw new SpanlineError("aborted", "The client has disconnected");
}
