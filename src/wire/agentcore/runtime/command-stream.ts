import type { Codec, Emit } from "../../../domain/codec.ts";
import type { CommandEvent } from "../../../domain/provider/command-event.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { isObject } from "../../../data/json.ts";
import {
  createEventStreamDecoder,
  type EventStreamItem,
  type EventStreamState,
} from "../../framing/eventstream.ts";
import { readStreamMessage } from "../../framing/eventstream-message.ts";
import {
  isEventStream,
  createUnexpectedBodyReader,
  type UnexpectedBodyState,
} from "../response-body.ts";

export interface CommandStreamState {
  readonly frames: EventStreamState;
  /** Reads the body instead of `frames` if the response is not an event stream. Null otherwise. */
  readonly unexpectedBody: UnexpectedBodyState | null;
  exit: Extract<CommandEvent, { type: "exit" }> | null;
  failure: Failure | null;
}

/** Creates a decoder for the body of an InvokeAgentRuntimeCommand response: bytes in, command output out. */
export function createCommandStream(
  contentType: string | null,
): Codec<CommandStreamState, Uint8Array, CommandEvent> {
  const decoder = createEventStreamDecoder();
  const unexpected = createUnexpectedBodyReader(contentType);
  const fail = (state: CommandStreamState) => (error: SpanlineError) => {
    state.failure ??= error.toFailure();
  };
  return {
    initial: () => ({
      frames: decoder.initial(),
      unexpectedBody: isEventStream(contentType) ? null : unexpected.initial(),
      exit: null,
      failure: null,
    }),
    step(state, chunk, emit) {
      if (state.unexpectedBody !== null)
        return unexpected.step(state.unexpectedBody, chunk, fail(state));
      decoder.step(state.frames, chunk, (item) => readItem(state, item, emit));
    },
    finish(state, emit) {
      if (state.unexpectedBody !== null) unexpected.finish(state.unexpectedBody, fail(state));
      else decoder.finish(state.frames, (item) => readItem(state, item, emit));
      emit(createEndEvent(state));
    },
  };
}

function createEndEvent({ failure, exit }: CommandStreamState): CommandEvent {
  if (failure !== null) return { type: "failed", failure };
  if (exit !== null) return exit;
  const message = "The stream ended before the command exited";
  return { type: "failed", failure: { code: "incomplete_turn", message, details: {} } };
}

function readItem(
  state: CommandStreamState,
  item: EventStreamItem,
  emit: Emit<CommandEvent>,
): void {
  if (item.type === "failure") state.failure ??= item.error.toFailure();
  if (item.type !== "frame") return;
  const message = readStreamMessage(item);
  switch (message.type) {
    case "event":
      return readEvent(state, message.name, message.payload, emit);
    case "exception": {
      const { name: type, payload } = message;
      const failure = new SpanlineError("stream_exception", `The command failed with ${type}`, {
        details: { type, payload },
      });
      state.failure ??= failure.toFailure();
      return;
    }
    case "failure":
      state.failure ??= message.failure;
      return;
    case "malformed": {
      const { name, reason } = message;
      const failure = { code: "malformed_event", message: reason, details: { event: name } };
      state.failure ??= failure as Failure;
      return;
    }
    case "fault":
      state.failure ??= message.failure ?? null;
      return;
    default:
      message satisfies never;
  }
}

/** The service wraps each member in a `chunk`; older captures contain the members directly. */
function readEvent(
  state: CommandStreamState,
  name: string,
  payload: unknown,
  emit: Emit<CommandEvent>,
): void {
  const members = name === "chunk" ? payload : { [name]: payload };
  const { contentDelta, contentStop } = isObject(members) ? members : {};
  if (isObject(contentDelta)) {
    const { stdout, stderr } = contentDelta;
    if (typeof stdout === "string" && stdout !== "") emit({ type: "stdout", text: stdout });
    if (typeof stderr === "string" && stderr !== "") emit({ type: "stderr", text: stderr });
  }
  if (isObject(contentStop)) {
    const { exitCode, status } = contentStop;
    const reason = typeof status === "string" ? status : "";
    state.exit = {
      type: "exit",
      exitCode: typeof exitCode === "number" ? exitCode : -1,
      outcome: OUTCOMES.get(reason) ?? "other",
      reason,
    };
  }
}

const OUTCOMES: ReadonlyMap<string, "completed" | "timed-out"> = new Map([
  ["COMPLETED", "completed"],
  ["TIMED_OUT", "timed-out"],
]);
