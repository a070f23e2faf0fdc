import type { Brain, InvocationSettings, StepsResponse } from "../../brains/brain.ts";
import type { Message } from "../../brains/session-message.ts";
import {
  ConnectionReset,
  type EmulatorRequest,
  type EmulatorResponse,
  type ServiceError,
} from "../../service/service-types.ts";
import { damageBytes, type Faults } from "../../faults.ts";
import type { DataPlane } from "../data-plane.ts";
import type { Dialect } from "./dialect.ts";
import { createClientStream, type ClientStream } from "./client-stream.ts";
import type { OpenTurn, ServiceSession } from "../session/service-session.ts";
import { runBrain, type TurnInterruption } from "./run-brain.ts";
import { selectStoredMessages } from "./turn-transcript.ts";

export interface TurnRequest {
  readonly request: EmulatorRequest;
  readonly session: ServiceSession;
  readonly brain: Brain;
  readonly settings: InvocationSettings;
  /** The messages from the client, stored before the response. */
  readonly newMessages: readonly Message[];
  /** True if the session stores a message with open tool calls. */
  readonly keepsOpenCalls: boolean;
  createDialect(faults: Faults): Dialect;
  /** Creates the response for an error instead of a stream. May throw. */
  createRefusal(error: ServiceError): EmulatorResponse;
}

/** Runs a turn. Returns the response at once; the turn continues in the background, with or without its client. */
export async function runTurn(plane: DataPlane, turn: TurnRequest): Promise<EmulatorResponse> {
  const { session, brain, settings, newMessages } = turn;
  const { messages: history, note } = session;
  const interruption = new AbortController();
  const interrupt = (ending: TurnInterruption): void => interruption.abort(ending);
  const openTurn = await session.startTurn(newMessages, interrupt);
  const messages = [...history, ...newMessages];
  const brainRequest = {
    messages,
    settings,
    turn: openTurn.turnNumber,
    note,
    signal: interruption.signal,
  };
  const pendingResponse = brain
    .respond(brainRequest)
    .catch(async (error: unknown): Promise<StepsResponse> => {
      if (interruption.signal.aborted) return { type: "steps", steps: [] };
      await openTurn.discard(note);
      throw error;
    });
  const response = await Promise.race([pendingResponse, rejectOnExpiry(interruption.signal)]);
  switch (response.type) {
    case "steps":
      return streamResponse(plane, turn, { response, openTurn, interruption, note });
    case "ready":
      await openTurn.finish([], response.note ?? note);
      return response.response;
    case "refused":
      // A refused request is discarded: a retry must not find it in the session.
      await openTurn.discard(response.note ?? note);
      return turn.createRefusal(response.error);
    default:
      return response satisfies never;
  }
}

/** Rejects when the session reaches its maximum lifetime, because its machine is gone. */
function rejectOnExpiry(interruptSignal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    onExpiry(interruptSignal, () =>
      reject(new ConnectionReset("The session has reached its maximum lifetime")),
    );
  });
}

function onExpiry(interruptSignal: AbortSignal, act: () => void): void {
  const checkReason = (): void => {
    if (interruptSignal.reason === ("expired" satisfies TurnInterruption)) act();
  };
  if (interruptSignal.aborted) checkReason();
  else interruptSignal.addEventListener("abort", checkReason, { once: true });
}

interface RunningResponse {
  readonly response: StepsResponse;
  readonly openTurn: OpenTurn;
  readonly interruption: AbortController;
  readonly note: ServiceSession["note"];
}

function streamResponse(
  plane: DataPlane,
  turn: TurnRequest,
  running: RunningResponse,
): EmulatorResponse {
  const { clock, switches } = plane;
  const { response, interruption } = running;
  const faults = response.faults ?? {};
  const dialect = turn.createDialect(faults);
  const clientStream = createClientStream(turn.request.disconnectSignal, interruption.signal);
  const handleDisconnect = (): void => {
    if (switches.onDisconnect.startsWith("abort"))
      interruption.abort("left" satisfies TurnInterruption);
  };
  clientStream.disconnectSignal.addEventListener("abort", handleDisconnect);
  if (clientStream.disconnectSignal.aborted) handleDisconnect();
  // Reset at once, without waiting for the brain.
  onExpiry(interruption.signal, () => clientStream.reset());
  const limit = turn.settings.limits.timeoutSeconds * 1000;
  const stopTimer = clock.schedule(limit, () =>
    interruption.abort("timeout" satisfies TurnInterruption),
  );
  // A turn that could not be stored must not look successful.
  void finishTurn(plane, turn, { ...running, dialect, clientStream })
    .catch((error: unknown) => clientStream.reset(error))
    .finally(stopTimer);
  return {
    status: 200,
    headers: { "content-type": faults.contentType ?? dialect.contentType },
    body: damageBytes(clientStream.body, faults, clock),
  };
}

/** Finishes a turn. The session stores the turn before the client sees its end. */
async function finishTurn(
  { clock, switches }: DataPlane,
  { settings, keepsOpenCalls }: TurnRequest,
  running: RunningResponse & { readonly dialect: Dialect; readonly clientStream: ClientStream },
): Promise<void> {
  const { response: answer, dialect, clientStream, interruption: cut, openTurn } = running;
  const { limits } = settings;
  const { signal } = cut;
  const result = await runBrain({
    response: answer,
    dialect,
    clientStream,
    limits,
    switches,
    clock,
    signal,
  });
  const { onDisconnect } = switches;
  if (clientStream.disconnectSignal.aborted && onDisconnect.endsWith("forget"))
    await openTurn.discard(answer.note ?? running.note);
  else {
    const keepsResponse = !(
      clientStream.disconnectSignal.aborted && onDisconnect === "abort+keep-user"
    );
    const storedMessages = keepsResponse
      ? selectStoredMessages(result.transcript, keepsOpenCalls)
      : [];
    await openTurn.finish(storedMessages, answer.note ?? running.note);
  }
  if (result.isReset) clientStream.reset();
  else if (!result.isSilent) clientStream.end();
}
