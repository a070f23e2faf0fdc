import type { Right } from "../../domain/actor.ts";
import type { LiveClient } from "../../domain/live-client.ts";
import type { SessionView, TurnView } from "../state/session-view.ts";

/**
 * - `send`: a prompt, which starts a turn.
 * - `steer`: a message for the running turn, at its next injection point.
 * - `queue`: a message which starts the turn after the running turn.
 * - `remind`: context for the agent which is not a message.
 */
export const SEND_MODES = ["send", "steer", "queue", "remind"] as const;
export type SendMode = (typeof SEND_MODES)[number];

export const SEND_MODE_TEXTS: {
  readonly [Mode in SendMode]: {
    readonly name: string;
    readonly description: string;
    readonly placeholder: string;
  };
} = {
  send: {
    name: "Send",
    description: "Starts a turn",
    placeholder: "Message the agent",
  },
  steer: {
    name: "Steer",
    description: "Reaches the agent during this turn",
    placeholder: "Steer the running turn",
  },
  queue: {
    name: "Queue",
    description: "Starts the turn after this one",
    placeholder: "Message for the next turn",
  },
  remind: {
    name: "Remind",
    description: "Context for the agent, not a message",
    placeholder: "Remind the agent of something",
  },
};

/** The modes which apply now. The first is the default. */
export function listSendModes(isRunning: boolean): readonly SendMode[] {
  return isRunning ? ["steer", "queue", "remind"] : ["send", "remind"];
}

/** The chosen mode if available, else the default. */
export function resolveSendMode(chosen: SendMode | null, isRunning: boolean): SendMode {
  const modes = listSendModes(isRunning);
  const [first = "send"] = modes;
  return chosen !== null && modes.includes(chosen) ? chosen : first;
}

export function findRunningTurn({ turns }: Pick<SessionView, "turns">): TurnView | undefined {
  const last = turns.at(-1);
  return last !== undefined && last.end === null ? last : undefined;
}

/** This page in the session. */
export interface Participant {
  /** Null until the page is connected. */
  readonly principal: string | null;
  readonly rights: readonly Right[];
  readonly isConnected: boolean;
  /** The id of this page among the clients of the session. Null while the page is not attached. */
  readonly clientId: string | null;
}

/** The reason why an action is disabled. */
export interface Refusal {
  readonly text: string;
  /** Whether taking control of the session would help. */
  readonly needsControl: boolean;
}

/** Returns why this page cannot send messages. Undefined if sending is possible. */
export function findSendRefusal(
  { clients, controller }: Pick<SessionView, "clients" | "controller">,
  { rights, isConnected, clientId }: Participant,
): Refusal | undefined {
  if (!rights.includes("prompt")) return refuse("Your key does not have the right to prompt");
  const own = clients.find((client) => client.clientId === clientId);
  if (own !== undefined && controller !== null && controller !== clientId && !own.mayPrompt) {
    const name = nameController(clients, controller);
    return {
      text: `${name} controls this session; you are observing`,
      needsControl: true,
    };
  }
  if (!isConnected) return refuse("Disconnected. Your text is kept; sending works again soon");
  return undefined;
}

function refuse(text: string): Refusal {
  return { text, needsControl: false };
}

function nameController(clients: readonly LiveClient[], controller: string): string {
  return clients.find(({ clientId }) => clientId === controller)?.name ?? "Another client";
}

/** Returns why this page cannot use a control that needs a right. Undefined if the control is enabled. */
export function findRightRefusal(
  right: Right,
  { rights, isConnected }: Participant,
): string | undefined {
  if (!rights.includes(right)) return `Your key does not have the right to ${right}`;
  return isConnected ? undefined : "The portal is disconnected";
}
