import type { ModelRequest } from "../../src/domain/model-request.ts";
import type { ProviderEvent } from "../../src/domain/provider-event.ts";
import type { Turn } from "../../src/domain/turn.ts";
import type { Model } from "../../src/models/model.ts";
import { gather, rejection, turnFrom } from "../support/provider-session.ts";

export const HELLO: ModelRequest = {
  messages: [{ role: "user", blocks: [{ type: "text", text: "Hello" }] }],
};

const never = new AbortController().signal;

export function eventsOf(model: Model, request: ModelRequest = HELLO): Promise<ProviderEvent[]> {
  return gather(model.call(request, never));
}

export function ask(model: Model, request: ModelRequest = HELLO): Promise<Turn> {
  return turnFrom(model.call(request, never));
}

/** What a call throws. */
export function refusalOf(model: Model, signal: AbortSignal = never): Promise<unknown> {
  return rejection(gather(model.call(HELLO, signal)));
}
