import type { Envelope } from "../domain/envelope.ts";
import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { turnStream } from "../domain/turn-stream.ts";
import { liveEncoder, type LiveState, type LiveText } from "../inspect/live.ts";
import { outputEncoder } from "../inspect/output-encoder.ts";
import { PLAIN } from "../inspect/style.ts";
import type { Terminal } from "../platform/terminal.ts";
import { folded } from "./folded.ts";
import { shortened } from "./question-text.ts";
import { coloured } from "./style.ts";

export interface OutputFlags {
  readonly format: "text" | "open-responses";
  readonly json?: true;
}

export interface RunOutput {
  add(envelope: Envelope): void;
  /** Resolves when all that was added is written. */
  written(): Promise<void>;
  finish(): Promise<void>;
}

/** Writes a run while it comes. `gone` is called when nobody reads the result any more. */
export function runOutput(flags: OutputFlags, terminal: Terminal, gone: () => void): RunOutput {
  const turn = turnStream();
  const turnState = turn.initial();
  let shown: ReturnType<typeof startEncoder> | undefined;
  let tail: Promise<void> = Promise.resolve();

  const put = async ({ to, text }: LiveText): Promise<void> => {
    if (to === "notes") terminal.note(text);
    else if (!(await terminal.write(text))) gone();
  };
  const write = (piece: LiveText): void => {
    tail = tail.then(() => put(piece));
    // It is thrown by whoever waits for it, which may be later.
    tail.catch(() => undefined);
  };
  return {
    add(envelope) {
      if (flags.json === true) {
        return write({ to: "result", text: `${JSON.stringify(envelope)}\n` });
      }
      shown ??= startEncoder(flags, terminal, envelope.sessionId);
      const { encoder, state } = shown;
      turn.step(turnState, envelope.event, (event) => encoder.step(state, event, write));
    },
    written: () => tail,
    finish() {
      if (shown !== undefined) {
        const { encoder, state } = shown;
        turn.finish(turnState, (event) => encoder.step(state, event, write));
        encoder.finish(state, write);
      }
      return tail;
    },
  };
}

function startEncoder({ format }: OutputFlags, terminal: Terminal, scope: string) {
  const encoder: Codec<unknown, ProviderEvent, LiveText> =
    format === "text" ? forPeople(terminal) : forPrograms(scope);
  return { encoder, state: encoder.initial() };
}

function forPeople(terminal: Terminal): Codec<LiveState, ProviderEvent, LiveText> {
  const style = terminal.colours ? coloured() : PLAIN;
  const live = liveEncoder({ style, toTerminal: terminal.isWatched });
  return {
    ...live,
    step(state: LiveState, event, emit) {
      // A result stands below its call, without a heading that says who brought it.
      if (event.type === "tool.result") state.trace.heading = event.message;
      live.step(state, forScreen(event), (piece) => {
        emit(
          piece.to === "notes"
            ? { ...piece, text: folded(piece.text, process.stderr.columns) }
            : piece,
        );
      });
    },
  };
}

/** Somebody who is asked sees all of it; whoever only watches wants to see the next line, too. */
function forScreen(event: ProviderEvent): ProviderEvent {
  if (event.type !== "tool.end" || event.call.input === null) return event;
  const { call } = event;
  return { ...event, call: { ...call, input: shortened(call.input, MOST_WATCHED) } };
}

const MOST_WATCHED = 300;

function forPrograms(scope: string): Codec<unknown, ProviderEvent, LiveText> {
  const inner = outputEncoder("open-responses", { style: PLAIN, scope });
  return {
    initial: () => inner.initial(),
    step: (state, event, emit) => inner.step(state, event, (text) => emit({ to: "result", text })),
    finish: (state, emit) => inner.finish(state, (text) => emit({ to: "result", text })),
  };
}
