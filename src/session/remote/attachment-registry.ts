import type {
  ClientAttached,
  ClientDetached,
  ClientRole,
} from "../../domain/events/client-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ClientTools } from "../../domain/client-tools.ts";
import { BRIDGE_RESTARTED } from "../../domain/live-client.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import type { Sender } from "../sessions.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

export interface Attachment {
  readonly sessionId: string;
  /** With the client's latest role, and never with `takeOver`. */
  readonly command: AttachCommand;
  readonly sender: Sender;
  readonly clientTools?: ClientTools;
}

interface AttachmentState {
  readonly sessionId: string;
  readonly command: AttachCommand;
  readonly sender: Sender;
  role: ClientRole;
  isAccepted: boolean;
  /** Whether the log was read up to this attachment. Earlier events about the client id concern other attachments. */
  isInLog: boolean;
  clientTools?: ClientTools;
}

/**
 * Clients of this process attached to the owner's sessions. Needed to attach them to the next owner, which does not
 * know them.
 */
export class AttachmentRegistry {
  readonly #stays = new Map<string, AttachmentState>();

  listAccepted(): readonly Attachment[] {
    return [...this.#stays.values()]
      .filter(({ isAccepted }) => isAccepted)
      .map(({ sessionId, command, sender, role, clientTools }) => ({
        sessionId,
        command: { ...command, mode: role },
        sender,
        ...omitUndefined({ clientTools }),
      }));
  }

  /**
   * Registers an attach in progress: the log may report it before the reply arrives. Call the returned function with
   * the result.
   */
  startAttach(
    sessionId: string,
    request: AttachCommand,
    from: Sender,
  ): (isAccepted: boolean) => void {
    const key = createClientKey(sessionId, request.clientId);
    const previous = this.#stays.get(key);
    const { takeOver: _, ...command } = request;
    const { mode } = command;
    const stay: AttachmentState = {
      ...previous,
      sessionId,
      command,
      sender: from,
      role: mode,
      isAccepted: false,
      isInLog: false,
    };
    this.#stays.set(key, stay);
    return (isAccepted) => {
      stay.isAccepted = isAccepted;
      if (isAccepted || this.#stays.get(key) !== stay) return;
      if (previous === undefined) this.#stays.delete(key);
      else this.#stays.set(key, previous);
    };
  }

  remove(sessionId: string, clientId: string): void {
    this.#stays.delete(createClientKey(sessionId, clientId));
  }

  recordClientTools(sessionId: string, clientId: string, equipment: ClientTools): void {
    const stay = this.#stays.get(createClientKey(sessionId, clientId));
    if (stay !== undefined) stay.clientTools = equipment;
  }

  /** Applies an event of a session's log: other clients may take over, or detach a client. */
  applyEvent(sessionId: string, event: SessionEvent): void {
    if (event.type === "client.attached") this.#came(sessionId, event);
    if (event.type === "client.detached") this.#went(sessionId, event);
    if (event.type !== "controller.changed") return;
    this.#turned(sessionId, event.from, "observer");
    this.#turned(sessionId, event.to, "controller");
  }

  #came(sessionId: string, { clientId, attachmentId, mode }: ClientAttached): void {
    const stay = this.#stays.get(createClientKey(sessionId, clientId));
    if (stay === undefined) return;
    const isSameAttachment =
      attachmentId !== undefined && attachmentId === stay.command.attachmentId;
    if (isSameAttachment) {
      stay.isInLog = true;
      stay.role = mode;
    }
    // The client has attached through another process since.
    else if (stay.isInLog) this.remove(sessionId, clientId);
  }

  #went(sessionId: string, { clientId, reason }: ClientDetached): void {
    const stay = this.#stays.get(createClientKey(sessionId, clientId));
    if (stay?.isInLog !== true) return;
    if (reason !== BRIDGE_RESTARTED) return this.remove(sessionId, clientId);
    // The client will be attached to the next owner again, in the same role.
    stay.isInLog = false;
  }

  #turned(sessionId: string, clientId: string | null, mode: ClientRole): void {
    const stay =
      clientId === null ? undefined : this.#stays.get(createClientKey(sessionId, clientId));
    if (stay?.isInLog === true) stay.role = mode;
  }
}

function createClientKey(sessionId: string, clientId: string): string {
  return `${sessionId}/${clientId}`;
}
