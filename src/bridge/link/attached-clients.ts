import type {
  AgentEvent,
  ClientAttached,
  ClientDetached,
  ClientMode,
} from "../../domain/agent-event.ts";
import type { Equipment } from "../../domain/equipment.ts";
import { BRIDGE_RESTARTED } from "../../domain/live-client.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import type { Sender } from "../../session/sessions.ts";

type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

export interface AttachedClient {
  readonly sessionId: string;
  /** As what it was last, and never by taking over. */
  readonly command: AttachCommand;
  readonly from: Sender;
  readonly equipment?: Equipment;
}

interface Stay {
  readonly sessionId: string;
  readonly command: AttachCommand;
  readonly from: Sender;
  mode: ClientMode;
  isAccepted: boolean;
  /** Whether the log was read up to its beginning. What it says of the client's name before that is about others. */
  hasBegun: boolean;
  equipment?: Equipment;
}

/** The clients of this process that are attached to an owner's sessions, for the next owner, who does not know them. */
export class AttachedClients {
  readonly #stays = new Map<string, Stay>();

  all(): readonly AttachedClient[] {
    return [...this.#stays.values()]
      .filter(({ isAccepted }) => isAccepted)
      .map(({ sessionId, command, from, mode, equipment }) => ({
        sessionId,
        command: { ...command, mode },
        from,
        ...(equipment !== undefined && { equipment }),
      }));
  }

  /** A client asks to be attached; the log may say that it is before the reply does. */
  attaching(sessionId: string, wanted: AttachCommand, from: Sender): (isAccepted: boolean) => void {
    const key = keyOf(sessionId, wanted.clientId);
    const before = this.#stays.get(key);
    const { takeOver: _, ...command } = wanted;
    const { mode } = command;
    const stay: Stay = {
      ...before,
      sessionId,
      command,
      from,
      mode,
      isAccepted: false,
      hasBegun: false,
    };
    this.#stays.set(key, stay);
    return (isAccepted) => {
      stay.isAccepted = isAccepted;
      if (isAccepted || this.#stays.get(key) !== stay) return;
      if (before === undefined) this.#stays.delete(key);
      else this.#stays.set(key, before);
    };
  }

  detached(sessionId: string, clientId: string): void {
    this.#stays.delete(keyOf(sessionId, clientId));
  }

  equipped(sessionId: string, clientId: string, equipment: Equipment): void {
    const stay = this.#stays.get(keyOf(sessionId, clientId));
    if (stay !== undefined) stay.equipment = equipment;
  }

  /** What a session's log says of them: others may take over, or send them away. */
  heard(sessionId: string, event: AgentEvent): void {
    if (event.type === "client.attached") this.#came(sessionId, event);
    if (event.type === "client.detached") this.#went(sessionId, event);
    if (event.type !== "control.passed") return;
    this.#turned(sessionId, event.from, "observer");
    this.#turned(sessionId, event.to, "controller");
  }

  #came(sessionId: string, { clientId, attachmentId, mode }: ClientAttached): void {
    const stay = this.#stays.get(keyOf(sessionId, clientId));
    if (stay === undefined) return;
    const isOwn = attachmentId !== undefined && attachmentId === stay.command.attachmentId;
    if (isOwn) Object.assign(stay, { hasBegun: true, mode });
    // It has come by another process since.
    else if (stay.hasBegun) this.detached(sessionId, clientId);
  }

  #went(sessionId: string, { clientId, reason }: ClientDetached): void {
    const stay = this.#stays.get(keyOf(sessionId, clientId));
    if (stay?.hasBegun !== true) return;
    if (reason !== BRIDGE_RESTARTED) return this.detached(sessionId, clientId);
    // With the next owner it begins again, as what it was.
    stay.hasBegun = false;
  }

  #turned(sessionId: string, clientId: string | null, mode: ClientMode): void {
    const stay = clientId === null ? undefined : this.#stays.get(keyOf(sessionId, clientId));
    if (stay?.hasBegun === true) stay.mode = mode;
  }
}

function keyOf(sessionId: string, clientId: string): string {
  return `${sessionId}/${clientId}`;
}
