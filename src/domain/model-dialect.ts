import { withDistinctIds } from "./call-names.ts";
import {
  alternatingMessages,
  type ModelBlock,
  type ModelMessage,
  type ModelRequest,
} from "./model-request.ts";

/** How the API of a model encodes a request: a body whose member `messages` holds the conversation. */
export interface ModelDialect<Fields extends object = object, Message extends object = object> {
  /** The body without its conversation. */
  readonly fields: (request: ModelRequest) => Fields;
  /** Encoded messages before the conversation. */
  readonly opening: (request: ModelRequest) => readonly Message[];
  /** Encodes one message. Roles alternate, and ids of calls are distinct. Depends on the message only. */
  readonly encode: (message: ModelMessage) => readonly Message[];
  /** False for blocks that the API does not accept. Depends on the block only. */
  readonly isTaken: (block: ModelBlock) => boolean;
  /** The id of a call in the form that the API accepts. Default: unchanged. */
  readonly shapeId?: (id: string) => string;
}

/** The whole body of a request. */
export function requestBody<Fields extends object, Message extends object>(
  dialect: ModelDialect<Fields, Message>,
  request: ModelRequest,
): Fields & { readonly messages: readonly Message[] } {
  const { fields, opening, encode, isTaken, shapeId } = dialect;
  const messages = withDistinctIds(alternatingMessages(request, isTaken), shapeId);
  return { ...fields(request), messages: [...opening(request), ...messages.flatMap(encode)] };
}
