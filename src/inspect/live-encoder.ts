import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent, Role } from "../domain/provider/provider-event.ts";
import { escapeControls, type Style } from "./trace-style.ts";
import { createTraceEncoder, type TraceState } from "./trace-encoder.ts";

/** `result` is the assistant's text; `notes` are all other lines. */
export interface LiveText {
  readonly target: "result" | "notes";
  readonly text: string;
}

export interface LiveState {
  readonly trace: TraceState;
  readonly roles: Map<number, Role>;
  /** The block of the last written text, and whether its line is still open. */
  block: number | null;
  isLineOpen: boolean;
}

export interface LiveOptions {
  readonly style: Style;
  /** Whether the output is a terminal. Control characters are then escaped. */
  readonly isTerminal: boolean;
}

/** Writes a turn while it streams: the assistant's text as the result; tool calls, thoughts and the end as notes. */
export function createLiveEncoder({
  style,
  isTerminal,
}: LiveOptions): Codec<LiveState, ProviderEvent, LiveText> {
  const trace = createTraceEncoder(style);
  return {
    initial: () => ({ trace: trace.initial(), roles: new Map(), block: null, isLineOpen: false }),
    step(state, event, emit) {
      if (event.type === "message.start") {
        state.roles.set(event.message, event.role);
        // The reader knows who speaks, so a message of the assistant without text has no heading either.
        if (event.role === "assistant") state.trace.heading = event.message;
      }
      if (event.type === "text.end" && state.block === event.block) return;
      if (event.type === "text.delta" && state.roles.get(event.message) === "assistant") {
        const text = isTerminal ? escapeControls(event.text) : event.text;
        const isNew = state.block !== event.block && state.block !== null;
        const gap = isNew ? (state.isLineOpen ? "\n\n" : "\n") : "";
        state.block = event.block;
        // The text serves as the heading of its message, so no heading is printed for it.
        state.trace.heading = event.message;
        state.isLineOpen = !text.endsWith("\n");
        return emit({ target: "result", text: gap + text });
      }
      trace.step(state.trace, event, (text) => {
        if (state.isLineOpen) emit({ target: "result", text: "\n" });
        state.isLineOpen = false;
        emit({ target: "notes", text });
      });
    },
    finish(state, emit) {
      trace.finish(state.trace, (text) => emit({ target: "notes", text }));
    },
  };
}
