/** Who may do things: a person, a program with a key, or this machine's own user. */
export interface Principal {
  readonly id: string;
  readonly rights: readonly Right[];
}

/** Asking the agent, answering approvals, and steering the session are three rights, not one. */
export type Right = "prompt" | "approve" | "control";

/** Who caused an event. `clientId` names the connection that it came through. */
export interface Actor {
  readonly kind: "user" | "agent" | "session";
  readonly principal?: string;
  readonly clientId?: string;
}
