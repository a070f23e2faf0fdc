/** An identity with rights: a person, a program with an API key, or the user of this machine. */
export interface Principal {
  readonly id: string;
  readonly rights: readonly Right[];
}

/** Separate rights: `prompt` submits prompts, `approve` decides approvals, `control` changes the session. */
export type Right = "prompt" | "approve" | "control";

/** The cause of an event. `clientId` names the connection through which the command arrived. */
export interface Actor {
  readonly kind: "user" | "agent" | "session";
  readonly principal?: string;
  readonly clientId?: string;
}
