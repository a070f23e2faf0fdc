import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { addToTurn, initialTurn, type TurnState } from "../domain/turn-state.ts";
import { snapshotTurn } from "../domain/turn.ts";
import { responseEncoder } from "../wire/responses/response-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import { prettyJson } from "./pretty-json.ts";
import type { Style } from "./style.ts";
import { traceEncoder } from "./trace.ts";

/** Events in, output text out. `text` and `events` write as they read; the others at the end. */
export function outputEncoder(
  format: OutputFormat,
  style: Style,
): Codec<unknown, ProviderEvent, string> {
  switch (format) {
    case "text":
      return traceEncoder(style);
    case "json":
      return wholeTurn;
    case "events":
      return eventLines;
    case "open-responses":
      return openResponses;
    default:
      return format satisfies never;
  }
}

const eventLines: Codec<null, ProviderEvent, string> = {
  initial: () => null,
  step: (_, event, emit) => emit(`${JSON.stringify(event)}\n`),
  finish: () => {},
};

const wholeTurn: Codec<TurnState, ProviderEvent, string> = {
  initial: initialTurn,
  step: (turn, event) => addToTurn(turn, event),
  finish: (turn, emit) => emit(`${prettyJson(snapshotTurn(turn))}\n`),
};

/** A capture is one turn and has no id of its own. */
const responses = responseEncoder({ scope: "capture" });

const openResponses: Codec<TurnState, ProviderEvent, string> = {
  initial: () => responses.initial(),
  step: (state, event) => responses.step(state, event, () => {}),
  finish: (state, emit) => responses.finish(state, (response) => emit(`${prettyJson(response)}\n`)),
};
