import type { AgentProfile } from "../wire/acp/client/agent-profile.ts";
import {
  attachRequest,
  takeUpRequest,
  type Attachment,
  type SessionPlace,
} from "../wire/acp/client/agent-requests.ts";
import { readOpened } from "../wire/acp/client/agent-results.ts";
import type { ToldUpdate } from "../wire/acp/client/read-update.ts";
import type { Control } from "./client.ts";
import type { Connection } from "./connection.ts";
import type { HeldUpdates } from "./held-updates.ts";
import { isCode } from "./is-code.ts";
import type { Report } from "./report.ts";
import { toldWhole } from "./told-whole.ts";

export interface TakeUpOptions {
  /** `load` tells all that was said once more; it is used also where the agent knows no `resume`. */
  readonly how: "resume" | "load";
  /** Whether the program can be told all once more where nothing else is left. */
  readonly canBeginAnew: boolean;
  /** Called before a session is told from its beginning, and after it. */
  readonly history: (sessionId: string, state: "begins" | "ends") => void;
  /** The client controls a session, or does not any more. */
  readonly control: (sessionId: string, control: Control) => void;
  readonly held: HeldUpdates;
  /** Takes updates that were held. */
  readonly pass: (told: ToldUpdate) => void;
  readonly report: Report;
}

/** What a client has of a session. */
export interface KnownSession {
  readonly sessionId: string;
  place: SessionPlace | undefined;
  attachment: Attachment | undefined;
  /** The last that it was told, where the agent says such. */
  cursor: string | undefined;
  /** It was detached, and is not to be told more. */
  isLeft: boolean;
}

export interface TakeUpSession {
  /** On a new connection. */
  again(connection: Connection, agent: AgentProfile, known: KnownSession): Promise<void>;
  /**
   * Attaches, after which a bridge tells only what comes; then goes on from what was told before. `missed` is called where that
   * is refused.
   */
  inPlace<Value>(
    connection: Connection,
    agent: AgentProfile,
    how: Attaching<Value>,
  ): Promise<Value>;
}

export interface Attaching<Value> {
  readonly known: KnownSession;
  readonly attach: (connection: Connection) => Promise<Value>;
  readonly missed: (error: unknown) => void;
}

export function takeUpSession(options: TakeUpOptions): TakeUpSession {
  const { how, canBeginAnew, history, control, held, pass, report } = options;

  async function enter(
    connection: Connection,
    { known, place, loads }: { known: KnownSession; place: SessionPlace; loads: boolean },
  ): Promise<void> {
    const { sessionId } = known;
    const asked = takeUpRequest(loads ? "load" : "resume", sessionId, place);
    const request = (answered?: () => void) =>
      connection.request(asked, {
        answered(answer) {
          const opened = answer.ok ? readOpened(answer.result, sessionId) : undefined;
          if (opened?.ok === true) known.cursor = opened.value.cursor ?? known.cursor;
          answered?.();
        },
      });
    await (loads ? toldWhole((state) => history(sessionId, state), request) : request());
  }

  /** Never by taking over: while the client was away, control may have been given to somebody else. */
  async function attachAgain(connection: Connection, known: KnownSession): Promise<void> {
    if (known.attachment === undefined) return;
    const { sessionId } = known;
    const wanted = { ...known.attachment, takeOver: false };
    try {
      await connection.request(attachRequest(sessionId, wanted));
    } catch (error) {
      if (!isCode(error, "conflict") || wanted.mode === "observer") throw error;
      report("Another client controls the session now", { sessionId });
      known.attachment = { ...wanted, mode: "observer" };
      await connection.request(attachRequest(sessionId, known.attachment));
      control(sessionId, { mode: "observer", controller: null });
    }
  }

  /** From a place, or where the agent has that no longer, from where it can. */
  async function goOn(
    connection: Connection,
    agent: AgentProfile,
    { known, from }: { known: KnownSession; from: SessionPlace & { readonly cursor: string } },
  ): Promise<void> {
    const { sessionId } = known;
    const { cursor: _, ...place } = from;
    try {
      await connection.request(takeUpRequest("resume", sessionId, from));
    } catch (error) {
      if (!isRefusedPlace(error)) throw error;
      const loads = canBeginAnew && agent.canLoad;
      if (!loads) report("Something of what the session said may be missing", { sessionId, error });
      for (const told of held.letGo(sessionId)) pass(told);
      known.cursor = undefined;
      await enter(connection, { known, place, loads });
    }
  }

  async function inPlace<Value>(
    connection: Connection,
    agent: AgentProfile,
    { known, attach, missed }: Attaching<Value>,
  ): Promise<Value> {
    const { sessionId, place, cursor } = known;
    if (place === undefined || cursor === undefined || !agent.canResume) return attach(connection);
    held.hold(sessionId);
    try {
      const value = await attach(connection);
      await goOn(connection, agent, { known, from: { ...place, cursor } }).catch((error) => {
        if (isCode(error, "connection_lost")) throw error;
        missed(error);
      });
      for (const told of held.release(sessionId)) pass(told);
      return value;
    } catch (error) {
      const kept = held.release(sessionId);
      // Of what was lost with the connection, the next one tells it again.
      if (!isCode(error, "connection_lost")) for (const told of kept) pass(told);
      throw error;
    }
  }

  async function again(
    connection: Connection,
    agent: AgentProfile,
    known: KnownSession,
  ): Promise<void> {
    const { sessionId, place, cursor } = known;
    const loads = agent.canLoad && (how === "load" || !agent.canResume);
    if (place !== undefined && !loads && !agent.canResume) {
      report("The agent takes up no session; what comes of this one is not heard", { sessionId });
    }
    const goesOn = cursor !== undefined && agent.canResume && !loads;
    if (place !== undefined && !goesOn && (loads || agent.canResume)) {
      await enter(connection, { known, place, loads });
    }
    if (!goesOn && known.attachment === undefined) return;
    const attach = (): Promise<void> => attachAgain(connection, known);
    const missed = (error: unknown): never => {
      throw error;
    };
    await inPlace(connection, agent, { known, attach, missed });
  }

  return { again, inPlace };
}

/** Also one that an agent of another version cannot read. */
function isRefusedPlace(error: unknown): boolean {
  return (["cursor_gone", "cursor_ahead", "validation_failed"] as const).some((code) =>
    isCode(error, code),
  );
}
