import type { ModelRequest } from "../../src/domain/model/model-request.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import type { Turn } from "../../src/domain/provider/turn.ts";
import type { Model } from "../../src/models/model.ts";
import { gather, catchRejection, readTurn } from "../support/session/provider-session.ts";

export const HELLO: ModelRequest = {
  messages: [{ role: "user", blocks: [{ type: "text", text: "Hello" }] }],
};

const never = new AbortController().signal;

export function eventsOf(model: Model, request: ModelRequest = HELLO): Promise<ProviderEvent[]> {
  return gather(model.stream(request, never));
}

export function ask(model: Model, request: ModelRequest = HELLO): Promise<Turn> {
  return readTurn(model.stream(request, never));
}

/** The error which a request throws. */
export function refusalOf(model: Model, signal: AbortSignal = never): Promise<unknown> {
  return catchRejection(gather(model.stream(HELLO, signal)));
}
