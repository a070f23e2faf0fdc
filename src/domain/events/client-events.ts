import type { JsonObject } from "../../data/json.ts";

/** Events of the slice `clients`: attached clients and requests to their machines. */
export type ClientEvent =
  | ClientAttached
  | ClientHeartbeat
  | ClientDetached
  | ControllerChanged
  | HostRequested
  | HostReplied;

export interface ClientAttached {
  readonly type: "client.attached";
  readonly clientId: string;
  readonly mode: ClientRole;
  readonly name: string;
  /**
   * Default: true for a controller, false for an observer. True for an observer applies only in a session without a
   * controller; a stock client may also prompt next to a controller, and decide approvals of its own turns.
   */
  readonly mayPrompt?: boolean;
  readonly mayApprove?: boolean;
  /** True for a client without the bridge protocol, attached implicitly. */
  readonly isStock?: boolean;
  readonly metadata?: JsonObject;
  /** Digest of the secret bound to the client id. A later attach under this id must present the same secret. */
  readonly secretDigest?: string;
  /**
   * Identifies this attachment among those with the same client id. Attaching again over another connection ends the
   * previous attachment.
   */
  readonly attachmentId?: string;
}

export type ClientRole = "controller" | "observer";

/** A client is still connected. */
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

/**
 * A request for an action on a client's machine. The surface with the connection performs it and replies with a
 * command.
 */
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
  readonly outcome: "replied" | "failed" | "deadline" | "gone";
  readonly payload?: JsonObject;
}
