import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import { addToTurn, createTurnBuilder, type TurnBuilder } from "../domain/provider/turn-builder.ts";
import { snapshotTurn } from "../domain/provider/turn.ts";
import { createResponseEncoder } from "../wire/responses/response-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import { formatPrettyJson } from "./pretty-json.ts";
import type { Style } from "./trace-style.ts";
import { createTraceEncoder } from "./trace-encoder.ts";

export interface OutputSettings {
  readonly style: Style;
  /** Unique prefix for the ids of generated items. */
  readonly scope: string;
}

/** Encodes events as output text. `text` and `events` stream; the other formats write at the end. */
export function createOutputEncoder(
  format: OutputFormat,
  { style, scope }: OutputSettings,
): Codec<unknown, ProviderEvent, string> {
  switch (format) {
    case "text":
      return createTraceEncoder(style);
    case "json":
      return turnEncoder;
    case "events":
      return eventLinesEncoder;
    case "open-responses":
      return createOpenResponsesEncoder(scope);
    default:
      return format satisfies never;
  }
}

const eventLinesEncoder: Codec<null, ProviderEvent, string> = {
  initial: () => null,
  step: (_, event, emit) => emit(`${JSON.stringify(event)}\n`),
  finish: () => {},
};

const turnEncoder: Codec<TurnBuilder, ProviderEvent, string> = {
  initial: createTurnBuilder,
  step: (turn, event) => addToTurn(turn, event),
  finish: (turn, emit) => emit(`${formatPrettyJson(snapshotTurn(turn))}\n`),
};

function createOpenResponsesEncoder(scope: string): Codec<TurnBuilder, ProviderEvent, string> {
  const responses = createResponseEncoder({ scope });
  return {
    initial: () => responses.initial(),
    step: (state, event) => responses.step(state, event, () => {}),
    finish: (state, emit) =>
      responses.finish(state, (response) => emit(`${formatPrettyJson(response)}\n`)),
  };
}
