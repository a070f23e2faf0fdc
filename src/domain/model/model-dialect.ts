import { makeToolCallIdsDistinct } from "./tool-call-names.ts";
import {
  toAlternatingMessages,
  type ModelBlock,
  type ModelMessage,
  type ModelRequest,
} from "./model-request.ts";

/** The request encoding of a model API: a body whose field `messages` holds the conversation. */
export interface ModelDialect<Fields extends object = object, Message extends object = object> {
  /** The body without its conversation. */
  readonly encodeFields: (request: ModelRequest) => Fields;
  /** Encoded messages before the conversation. */
  readonly encodeOpening: (request: ModelRequest) => readonly Message[];
  /**
   * Encodes one message. Roles alternate, and tool call ids are distinct. Must depend on the message only, because
   * encoded messages are cached.
   */
  readonly encodeMessage: (message: ModelMessage) => readonly Message[];
  /** False for blocks the API does not accept. Must depend on the block only. */
  readonly isSupported: (block: ModelBlock) => boolean;
  /** Converts a tool call id to a form accepted by the API. Default: unchanged. */
  readonly shapeId?: (id: string) => string;
}

/** Encodes a complete request body. */
export function createRequestBody<Fields extends object, Message extends object>(
  dialect: ModelDialect<Fields, Message>,
  request: ModelRequest,
): Fields & { readonly messages: readonly Message[] } {
  const { encodeFields, encodeOpening, encodeMessage, isSupported, shapeId } = dialect;
  const messages = makeToolCallIdsDistinct(toAlternatingMessages(request, isSupported), shapeId);
  return {
    ...encodeFields(request),
    messages: [...encodeOpening(request), ...messages.flatMap(encodeMessage)],
  };
}
