import type { Brain, Settings, SpokenAnswer } from "../brains/brain.ts";
import type { Message } from "../brains/message.ts";
import { ConnectionReset, type Incoming, type Outgoing, type ServiceError } from "../exchange.ts";
import { damagedBytes, type Faults } from "../faults.ts";
import type { DataPlane } from "./data-plane.ts";
import type { Dialect } from "./dialect.ts";
import { outlet, type Outlet } from "./outlet.ts";
import type { OpenTurn, Session } from "./session.ts";
import { speak, type Ending } from "./speak.ts";
import { remembered } from "./transcript.ts";

export interface TurnRequest {
  readonly request: Incoming;
  readonly session: Session;
  readonly brain: Brain;
  readonly settings: Settings;
  /** What the client sent, to be kept in front of what is said. */
  readonly sent: readonly Message[];
  /** Whether the session keeps a message whose calls are left to the client. */
  readonly keepsOpenCalls: boolean;
  dialect(faults: Faults): Dialect;
  /** The answer in place of a stream. May throw. */
  refused(error: ServiceError): Outgoing;
}

/** Runs one turn. The answer is there at once; the turn goes on behind it, with its client or without. */
export async function runTurn(plane: DataPlane, turn: TurnRequest): Promise<Outgoing> {
  const { session, brain, settings, sent } = turn;
  const { messages: before, note } = session;
  const cut = new AbortController();
  const end = (ending: Ending): void => cut.abort(ending);
  const open = await session.ask(sent, end);
  const messages = [...before, ...sent];
  const asked = { messages, settings, turn: open.turn, note, signal: cut.signal };
  const answering = brain.answer(asked).catch(async (error: unknown): Promise<SpokenAnswer> => {
    if (cut.signal.aborted) return { type: "steps", steps: [] };
    await open.forgotten(note);
    throw error;
  });
  const answer = await Promise.race([answering, lifetimeOf(cut.signal)]);
  switch (answer.type) {
    case "steps":
      return stream(plane, turn, { answer, open, cut, note });
    case "ready":
      await open.answered([], answer.note ?? note);
      return answer.outgoing;
    case "refused":
      // What is refused was never asked: whoever tries again must not find it in the session.
      await open.forgotten(answer.note ?? note);
      return turn.refused(answer.error);
    default:
      return answer satisfies never;
  }
}

/** Rejects when the session's lifetime is over: nobody is left then who could answer. */
function lifetimeOf(cut: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    onExpiry(cut, () => reject(new ConnectionReset("The lifetime of the session is over")));
  });
}

function onExpiry(cut: AbortSignal, act: () => void): void {
  const look = (): void => {
    if (cut.reason === ("expired" satisfies Ending)) act();
  };
  if (cut.aborted) look();
  else cut.addEventListener("abort", look, { once: true });
}

interface Running {
  readonly answer: SpokenAnswer;
  readonly open: OpenTurn;
  readonly cut: AbortController;
  readonly note: Session["note"];
}

function stream(plane: DataPlane, turn: TurnRequest, running: Running): Outgoing {
  const { clock, switches } = plane;
  const { answer, cut } = running;
  const faults = answer.faults ?? {};
  const dialect = turn.dialect(faults);
  const way = outlet(turn.request.gone, cut.signal);
  const leave = (): void => {
    if (switches.onDisconnect.startsWith("abort")) cut.abort("left" satisfies Ending);
  };
  way.left.addEventListener("abort", leave);
  if (way.left.aborted) leave();
  // At once, and not when the brain has noticed.
  onExpiry(cut.signal, () => way.reset());
  const limit = turn.settings.limits.timeoutSeconds * 1000;
  const stopTimer = clock.after(limit, () => cut.abort("timeout" satisfies Ending));
  // A turn that the session cannot keep must not look like one that it kept.
  void finish(plane, turn, { ...running, dialect, way })
    .catch((error: unknown) => way.reset(error))
    .finally(stopTimer);
  return {
    status: 200,
    headers: { "content-type": faults.contentType ?? dialect.contentType },
    body: damagedBytes(way.body, faults, clock),
  };
}

/** The session holds the turn before the client sees its end. */
async function finish(
  { clock, switches }: DataPlane,
  { settings, keepsOpenCalls }: TurnRequest,
  running: Running & { readonly dialect: Dialect; readonly way: Outlet },
): Promise<void> {
  const { answer, dialect, way, cut, open } = running;
  const { limits } = settings;
  const { signal } = cut;
  const spoken = await speak({ answer, dialect, outlet: way, limits, switches, clock, signal });
  const { onDisconnect } = switches;
  if (way.left.aborted && onDisconnect.endsWith("forget"))
    await open.forgotten(answer.note ?? running.note);
  else {
    const keepsAnswer = !(way.left.aborted && onDisconnect === "abort+keep-user");
    const kept = keepsAnswer ? remembered(spoken.said, keepsOpenCalls) : [];
    await open.answered(kept, answer.note ?? running.note);
  }
  if (spoken.reset) way.reset();
  else if (!spoken.silent) way.end();
}
