import type { Failure } from "../../domain/errors.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { isObject } from "../../data/json.ts";
import type { RequestMethod } from "../session-methods.ts";
import type { Sessions } from "../sessions.ts";
import type { EventBatch } from "../../store/log-store.ts";
import type { SessionChanges } from "../../store/session-index.ts";

/**
 * Messages between a joined process and the owner: calls of `Sessions` methods, one JSON value per line. Both sides are
 * the same version of the same program, and the token proves the same user, so contents are not validated.
 */
export type ClientMessage =
  | { readonly type: "hello"; readonly token: string; readonly version: string }
  | CallMessage
  | {
      readonly type: "subscribe";
      readonly id: number;
      readonly sessionId: string;
      readonly cursor: Cursor | null;
    }
  | { readonly type: "watch"; readonly id: number }
  /** The reader processed an item of a stream: the owner may send the next. */
  | { readonly type: "taken"; readonly id: number }
  | { readonly type: "unsubscribe"; readonly id: number };

/** A message which starts a stream. */
export type StreamMessage = Extract<ClientMessage, { readonly type: "subscribe" | "watch" }>;
/** An item of a stream, as the owner sends it. */
export type StreamItem = EventBatch | SessionChanges;

export type OwnerMessage =
  | { readonly type: "welcome"; readonly agents: readonly string[] }
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "error"; readonly id: number; readonly failure: Failure }
  | { readonly type: "item"; readonly id: number; readonly item: StreamItem };

/** A method call with its parameters. */
export type CallMessage<Called extends RequestMethod = RequestMethod> = {
  readonly [Name in Called]: {
    readonly type: "call";
    readonly id: number;
    readonly method: Name;
    readonly params: Parameters<Sessions[Name]>;
  };
}[Called];

export function isClientMessage(value: unknown): value is ClientMessage {
  return (
    isObject(value) &&
    typeof value.type === "string" &&
    Object.hasOwn(CLIENT_MESSAGE_TYPES, value.type)
  );
}

export function isOwnerMessage(value: unknown): value is OwnerMessage {
  return (
    isObject(value) &&
    typeof value.type === "string" &&
    Object.hasOwn(OWNER_MESSAGE_TYPES, value.type)
  );
}

const CLIENT_MESSAGE_TYPES: { readonly [Type in ClientMessage["type"]]: true } = {
  hello: true,
  call: true,
  subscribe: true,
  watch: true,
  taken: true,
  unsubscribe: true,
};

const OWNER_MESSAGE_TYPES: { readonly [Type in OwnerMessage["type"]]: true } = {
  welcome: true,
  refused: true,
  result: true,
  error: true,
  item: true,
};
