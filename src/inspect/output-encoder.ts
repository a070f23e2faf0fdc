import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { addToTurn, initialTurn, type TurnState } from "../domain/turn-state.ts";
import { snapshotTurn } from "../domain/turn.ts";
import { responseEncoder } from "../wire/responses/response-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import { prettyJson } from "./pretty-json.ts";
import type { Style } from "./style.ts";
import { traceEncoder } from "./trace.ts";

export interface OutputSettings {
  readonly style: Style;
  /** Names the turn among all others, for the ids of what is made of it. */
  readonly scope: string;
}

/** Events in, output text out. `text` and `events` write as they read; the others at the end. */
export function outputEncoder(
  format: OutputFormat,
  { style, scope }: OutputSettings,
): Codec<unknown, ProviderEvent, string> {
  switch (format) {
    case "text":
      return traceEncoder(style);
    case "json":
      return wholeTurn;
    case "events":
      return eventLines;
    case "open-responses":
      return openResponses(scope);
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

function openResponses(scope: string): Codec<TurnState, ProviderEvent, string> {
  const responses = responseEncoder({ scope });
  return {
    initial: () => responses.initial(),
    step: (state, event) => responses.step(state, event, () => {}),
    finish: (state, emit) =>
      responses.finish(state, (response) => emit(`${prettyJson(response)}\n`)),
  };
}
