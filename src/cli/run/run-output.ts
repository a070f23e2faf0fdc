import type { Envelope } from "../../domain/events/envelope.ts";
import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createTurnStream } from "../../domain/provider/turn-stream.ts";
import { createLiveEncoder, type LiveState, type LiveText } from "../../inspect/live-encoder.ts";
import { createOutputEncoder } from "../../inspect/output-encoder.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { wrapLines } from "../shared/terminal/wrap-lines.ts";
import { shortenArguments } from "../shared/terminal/approval-text.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";

export interface OutputFlags {
  readonly format: "text" | "open-responses";
  readonly json?: true;
}

export interface RunOutput {
  add(envelope: Envelope): void;
  /** Resolves after everything added so far is written. */
  flush(): Promise<void>;
  finish(): Promise<void>;
}

export interface RunOutputOptions {
  readonly terminal: Terminal;
  /** The width that notes are wrapped to. Undefined: notes are not wrapped. */
  readonly columns: number | undefined;
  /** Called when the reader of the result has closed its end. */
  readonly onOutputClosed: () => void;
}

/** Writes the events of a run as they arrive. */
export function createRunOutput(
  flags: OutputFlags,
  { terminal, columns, onOutputClosed }: RunOutputOptions,
): RunOutput {
  const turn = createTurnStream();
  const turnState = turn.initial();
  let encoding: ReturnType<typeof startEncoder> | undefined;
  let tail: Promise<void> = Promise.resolve();

  const writePiece = async ({ target, text }: LiveText): Promise<void> => {
    if (target === "notes") terminal.note(text);
    else if (!(await terminal.write(text))) onOutputClosed();
  };
  const write = (piece: LiveText): void => {
    tail = tail.then(() => writePiece(piece));
    // The caller that awaits `tail` handles the rejection, maybe later.
    tail.catch(() => undefined);
  };
  return {
    add(envelope) {
      if (flags.json === true) {
        return write({ target: "result", text: `${JSON.stringify(envelope)}\n` });
      }
      encoding ??= startEncoder(flags, { terminal, columns, scope: envelope.sessionId });
      const { encoder, state } = encoding;
      turn.step(turnState, envelope.event, (event) => encoder.step(state, event, write));
    },
    flush: () => tail,
    finish() {
      if (encoding !== undefined) {
        const { encoder, state } = encoding;
        turn.finish(turnState, (event) => encoder.step(state, event, write));
        encoder.finish(state, write);
      }
      return tail;
    },
  };
}

function startEncoder(
  { format }: OutputFlags,
  { terminal, columns, scope }: Pick<RunOutputOptions, "terminal" | "columns"> & { scope: string },
) {
  const encoder: Codec<unknown, ProviderEvent, LiveText> =
    format === "text" ? createTextEncoder(terminal, columns) : createResponsesEncoder(scope);
  return { encoder, state: encoder.initial() };
}

function createTextEncoder(
  terminal: Terminal,
  columns: number | undefined,
): Codec<LiveState, ProviderEvent, LiveText> {
  const style = terminal.hasColours ? createColorStyle() : PLAIN_STYLE;
  const live = createLiveEncoder({ style, isTerminal: terminal.isInteractive });
  return {
    ...live,
    step(state: LiveState, event, emit) {
      // A tool result is printed below its tool call, without a heading for its sender.
      if (event.type === "tool.result") state.trace.heading = event.message;
      live.step(state, shortenForScreen(event), (piece) => {
        emit(piece.target === "notes" ? { ...piece, text: wrapLines(piece.text, columns) } : piece);
      });
    },
  };
}

/** Shortens arguments for people following the run. An approver sees all arguments in full. */
function shortenForScreen(event: ProviderEvent): ProviderEvent {
  if (event.type !== "tool.end" || event.toolCall.input === null) return event;
  const { toolCall } = event;
  return {
    ...event,
    toolCall: { ...toolCall, input: shortenArguments(toolCall.input, MAX_ARGUMENT_LENGTH) },
  };
}

const MAX_ARGUMENT_LENGTH = 300;

function createResponsesEncoder(scope: string): Codec<unknown, ProviderEvent, LiveText> {
  const inner = createOutputEncoder("open-responses", { style: PLAIN_STYLE, scope });
  return {
    initial: () => inner.initial(),
    step: (state, event, emit) =>
      inner.step(state, event, (text) => emit({ target: "result", text })),
    finish: (state, emit) => inner.finish(state, (text) => emit({ target: "result", text })),
  };
}
