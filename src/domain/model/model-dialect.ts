import { makeToolCallIdsDistinct } from "./tool-call-names.ts";
import {
  toAlternatingMessages,
  type ModelBlock,
  type ModelMessage,
  type ModelRequest,
} from "./model-request.ts";

/** How the API of a model encodes a request: a body whose member `messages` holds the conversation. */
export interface ModelDialect<Fields extends object = object, Message extends object = object> {
  /** The body without its conversation. */
  readonly encodeFields: (request: ModelRequest) => Fields;
  /** Encoded messages before the conversation. */
  readonly encodeOpening: (request: ModelRequest) => readonly Message[];
  /** Encodes one message. Roles alternate, and ids of calls are distinct. Depends on the message only. */
  readonly encodeMessage: (message: ModelMessage) => readonly Message[];
  /** False for blocks that the API does not accept. Depends on the block only. */
  readonly isSupported: (block: ModelBlock) => boolean;
  /** The id of a call in the form that the API accepts. Default: unchanged. */
  readonly shapeId?: (id: string) => string;
}

/** The whole body of a request. */
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
