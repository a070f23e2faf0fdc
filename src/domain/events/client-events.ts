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

export type ClientRole = "controller" | "observer";

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
  readonly outcome: "replied" | "failed" | "deadline" | "gone";
  readonly payload?: JsonObject;
}
