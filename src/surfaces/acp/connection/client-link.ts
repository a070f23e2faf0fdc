import type { HostToolList } from "../../../domain/client-tools.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { ShellList } from "../../../domain/tools/shell.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { ClientSender, Sessions } from "../../../session/sessions.ts";
import type { ClientProfile } from "../../../wire/acp/decode/client-profile.ts";
import type { AcpSessionUpdate } from "../../../wire/acp/encode/acp-session-update.ts";
import type { PermissionOutput } from "../../../wire/acp/encode/update-state.ts";
import type { VendorUpdate } from "../../../wire/acp/encode/vendor-updates.ts";
import type { HostRequest } from "../../../wire/acp/host/host-request.ts";
import type { RpcOutcome, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { HandleResponse } from "./client-requests.ts";

/** Notes for the operator; never the protocol's stream. */
export type AcpLog = (message: string, facts?: { readonly [name: string]: unknown }) => void;

/** One client's connection, as the sessions on it see it. */
export interface ClientLink {
  readonly sessions: Sessions;
  readonly sender: ClientSender;
  /** Whether it is this machine's user, who says where sessions work and what is started for them. */
  readonly isLocalUser: boolean;
  /** Whether it is a program of this machine, so that its files are those that sessions work with. */
  readonly isSameMachine: boolean;
  readonly clock: Clock;
  /** Aborted when the client goes: from then on it is put into no session, and told of none. */
  readonly disconnectSignal: AbortSignal;
  readonly log: AcpLog;
  /** What the client calls itself. */
  getName(): string;
  /** What it can take, as far as it has said. */
  getProfile(): ClientProfile;
  /** Whether the client is told with each update where it can go on from. */
  readonly hasCursors: boolean;
  sendUpdate(sessionId: string, update: AcpSessionUpdate, cursor?: string): void;
  /** The same for an update that the client would not know as one. */
  sendEvent(sessionId: string, update: VendorUpdate, cursor?: string): void;
  /** Does something in nobody's order: what comes behind the request at hand does not wait for it. */
  runUnordered(task: () => Promise<void>): void;
  respond(request: RpcRequest, outcome: RpcOutcome): void;
  /** Requests a decision, as soon as the client has few enough open requests. Returns the key for `withdrawRequest`. */
  requestPermission(sessionId: string, permission: PermissionOutput): string;
  /** Sends a request to the client's machine. Returns its key, or undefined if the client has too many open requests. */
  sendRequest(request: HostRequest, onResponse: HandleResponse): string | undefined;
  /** Withdraws a request, or removes one that was answered. A response that comes all the same goes to `onLate`. */
  withdrawRequest(key: string, onLate?: HandleResponse): void;
  /** The tools of the client's machine. */
  getHostTools(): Promise<HostToolList>;
  /** Its shells, where it says. */
  getHostShells(): Promise<ShellList | undefined>;
  /** Whether the client can be told more at once, of this session; `room` resolves when it can. */
  hasCapacity(sessionId?: string): boolean;
  waitForCapacity(sessionId?: string): Promise<void>;
  /** The client is done with a session: what nobody reads about it is forgotten. False where somebody does, or may. */
  dropSession(sessionId: string): boolean;
}

/** How the name of a client begins that has not said one. */
export const GENERATED_NAME_PREFIX = "client_";

/** Throws where the client has gone: what it asked for last is not begun for nobody. */
export function checkConnected({ disconnectSignal }: Pick<ClientLink, "disconnectSignal">): void {
  if (disconnectSignal.aborted) throw new SpanlineError("aborted", "The client has gone");
}
